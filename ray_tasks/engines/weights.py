"""The weights of a model on the machine that runs it: from a folder, from S3, or from a hub at a pinned revision.

Ray Serve LLM can mirror a bucket, but logs a file that did not come and goes on, takes whatever lies in its folder for
complete, and cannot be told a revision. So weights are fetched here: once per machine, into a folder whose name stands
for their content, which gets that name only when all files are there. They lie below the folder of local copies
(DAYBOOK_CACHE_DIR), and are never removed: machines with GPUs do not live long.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ray_tasks.errors import DaybookError, UsageError
from ray_tasks.storage.local_copies import FOLDER_VARIABLE, LocalCopies
from ray_tasks.storage.s3 import S3Store

LISTING: Final = "daybook-weights.json"
"""The list of files with their sizes in bytes, which comes last and is checked before each use."""

MOST_FILES: Final = 10_000
UNUSED: Final = ("*.gguf", "*.onnx", "*.h5", "*.msgpack", "original/*")
"""What hubs keep beside the weights in other formats, often as large again."""

_HUB_NAME = re.compile(r"[\w][\w.-]*(?:/[\w][\w.-]*)?")


class WeightsError(DaybookError):
    """The weights are not there, or could not be fetched whole."""


@dataclass(frozen=True, slots=True)
class WeightFile:
    """A file below the source: its relative path, its size in bytes, and the version (ETag) that was found."""

    name: str
    size: int
    version: str


@dataclass(frozen=True, slots=True)
class Weights:
    """Where weights come from, and the folder on each machine where the model is loaded from.

    `files` pins the content of a bucket; for a hub the revision does that. A folder is used where it is.
    """

    source: str
    revision: str
    folder: Path
    files: tuple[WeightFile, ...] = ()

    @property
    def from_hub(self) -> bool:
        """Whether machines have to reach a hub."""
        return not self.files and not self.in_place

    @property
    def in_place(self) -> bool:
        """Whether the folder is the source itself."""
        return self.source.startswith(("/", "~"))


def find_weights(source: str, revision: str) -> Weights:
    """What a configured source stands for: an absolute folder, ``s3://bucket/prefix``, or a hub's ``owner/name``.

    A bucket is listed, so that all machines fetch what it holds now. Raises UsageError for anything else, and for a hub
    without a revision, and WeightsError for a bucket without a model.
    """
    if source.startswith("s3://"):
        return _find_in_bucket(source, revision)
    if source.startswith(("/", "~")):
        return Weights(source, revision, Path(source).expanduser())
    if not _HUB_NAME.fullmatch(source):
        raise UsageError(f"serve.source: {source}: give an absolute folder, s3://bucket/prefix, or a hub's owner/name")
    if not revision:
        raise UsageError(
            f"{source} on the hub changes without notice: pin it with `revision`, the hash of one of its commits "
            "(or give an absolute folder or s3://bucket/prefix as serve.source)"
        )
    return Weights(source, revision, _folder_of(source, f"{source}\n{revision}"))


def fetch_weights(weights: Weights) -> Path:
    """The folder with the weights, which are fetched if they are not on this machine yet; raises WeightsError.

    Of several processes one fetches while the others wait. One that dies leaves whole files behind, which the next one
    takes over.
    """
    if weights.in_place:
        return _checked_folder(weights.folder)
    try:
        with _turn(weights.folder.with_suffix(".lock")):
            if not _is_whole(weights.folder):
                _fetch(weights)
    except OSError as error:
        raise WeightsError(
            f"cannot keep the weights of {weights.source} in {weights.folder}: {error.strerror}; free some space or "
            f"set {FOLDER_VARIABLE} to another folder"
        ) from error
    return weights.folder


def _find_in_bucket(source: str, revision: str) -> Weights:
    files = tuple(WeightFile(*entry) for entry in S3Store(source).list_versions("", MOST_FILES))
    if not any(file.name == "config.json" for file in files):
        raise WeightsError(f"no config.json in {source}: is it the folder of a model (with its safetensors)?")
    content = "\n".join(f"{file.name} {file.size} {file.version}" for file in sorted(files, key=lambda file: file.name))
    return Weights(source, revision, _folder_of(source, f"{source}\n{content}"), files)


def _folder_of(source: str, content: str) -> Path:
    name = re.sub(r"[^\w-]+", "-", source.rstrip("/").rpartition("/")[2])
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
    return LocalCopies.from_environment().folder / "weights" / f"{name}-{digest}"


def _checked_folder(folder: Path) -> Path:
    if not (folder / "config.json").is_file():
        raise WeightsError(
            f"no config.json in {folder} on {os.uname().nodename}: every machine that runs the model needs this folder"
        )
    return folder


def _is_whole(folder: Path) -> bool:
    """Whether the folder holds all files of its list, in full length."""
    try:
        sizes: dict[str, int] = json.loads((folder / LISTING).read_text())
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False


def _fetch(weights: Weights) -> None:
    """Makes the folder anew: all files beside it, then their list, then its name."""
    part = weights.folder.with_suffix(".part")
    part.mkdir(parents=True, exist_ok=True)
    if weights.files:
        _fetch_from_bucket(weights, part)
    else:
        _fetch_from_hub(weights, part)
    sizes = {
        path.relative_to(part).as_posix(): path.stat().st_size
        for path in sorted(part.rglob("*"))
        if path.is_file() and not path.relative_to(part).parts[0].startswith(".")
    }
    (part / LISTING).write_text(json.dumps(sizes, indent=1))
    if weights.folder.exists():
        shutil.rmtree(weights.folder)  # damaged
    part.rename(weights.folder)


def _fetch_from_bucket(weights: Weights, part: Path) -> None:
    missing = [file for file in weights.files if not _has(part / file.name, file.size)]
    _check_space(part, sum(file.size for file in missing), weights.source)
    store = S3Store(weights.source)
    for file in missing:
        path = part / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        # Ranges are written side by side, so an unfinished file can have its full length: it gets its name last.
        unfinished = path.with_name(f".{path.name}.unfinished")
        with unfinished.open("wb") as sink:
            store.download_version(file.name, file.version, file.size, sink)
        unfinished.rename(path)


def _fetch_from_hub(weights: Weights, part: Path) -> None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

    try:
        snapshot_download(weights.source, revision=weights.revision, local_dir=part, ignore_patterns=list(UNUSED))
    except (HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled, ConnectionError) as error:
        raise WeightsError(
            f"cannot fetch {weights.source} at {weights.revision} from the hub ({str(error).splitlines()[0]}); give a "
            "folder or s3://bucket/prefix as serve.source, or let the machines reach the hub (a token: HF_TOKEN)"
        ) from error
    _checked_folder(part)


def _check_space(folder: Path, needed: int, source: str) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise WeightsError(
            f"the weights of {source} need {needed / 1e9:.1f} GB more, and {folder} has {free / 1e9:.1f} GB; free some "
            f"space or set {FOLDER_VARIABLE} to another folder"
        )


def _has(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size


@contextlib.contextmanager
def _turn(lock: Path) -> Iterator[None]:
    """Holds a lock of this machine, which ends with its process."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield

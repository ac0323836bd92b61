"""Copies of a remote store's objects on this machine, so that index files can be memory-mapped.

DAYBOOK_CACHE_DIR names the folder (default: ``daybook`` in the user's cache folder, else in the temporary one) and
DAYBOOK_CACHE_GIB its size (default 20). Where a new copy would exceed the size, those that were asked for longest ago
are removed first, but none that was asked for in the last ten minutes: its caller may not have opened it yet, so the
folder can be larger for that long. A removed file that is still open or mapped stays readable until it is closed.

All processes of a machine share the folder. Each copy is fetched by one of them while the others wait for it, gets its
name by a rename, and is checked against its own sha256 whenever it is asked for: a damaged copy is fetched again.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from ray_tasks.errors import UsageError
from ray_tasks.storage.store import StoreError

FOLDER_VARIABLE: Final = "DAYBOOK_CACHE_DIR"
SIZE_VARIABLE: Final = "DAYBOOK_CACHE_GIB"
DEFAULT_GIB: Final = 20.0
GRACE_S: Final = 600.0
NAME_LENGTH: Final = 40


@dataclass(frozen=True)
class LocalCopies:
    """A bounded folder of copies: ``copies/{sha256 of the identity}/{sha256 of the content}-{name}``."""

    folder: Path
    max_bytes: int
    grace_s: float = GRACE_S

    @classmethod
    def from_environment(cls) -> LocalCopies:
        """The folder and size that the environment asks for; raises UsageError for a size that is not a number."""
        text = os.environ.get(SIZE_VARIABLE, "") or str(DEFAULT_GIB)
        try:
            gib = float(text)
        except ValueError as error:
            raise UsageError(f"{SIZE_VARIABLE}={text}: expected a number of GiB") from error
        return cls(_default_folder(), int(gib * (1 << 30)))

    def path_of(self, identity: str, name: str, size: int, download: Callable[[BinaryIO], None]) -> Path:
        """The copy of the object that `identity` (server, bucket, key, version) names, fetched if it is not here.

        `size` is the object's, in bytes; `name` is for people who look into the folder. Raises StoreError where the
        copy cannot be kept or has another size, and what `download` raises.
        """
        home = self.folder / "copies" / hashlib.sha256(identity.encode()).hexdigest()
        try:
            with self._turn(home.name[:2]):
                path = _intact(home)
                if path is None:
                    self._make_room(size)
                    path = _fetch(home, name.rpartition("/")[2][-NAME_LENGTH:], size, download)
                os.utime(home)
                return path
        except OSError as error:
            raise StoreError(
                f"cannot keep a local copy of {name} in {self.folder}: {error.strerror}; free some space or set "
                f"{FOLDER_VARIABLE} to another folder"
            ) from error

    def _make_room(self, size: int) -> None:
        """Removes the copies used longest ago until `size` more bytes fit, as far as the grace allows."""
        with self._turn("room"):
            homes = sorted((_used(home), home) for home in (self.folder / "copies").iterdir())
            total = size + sum(_bytes(home) for _, home in homes)
            for used, home in homes:
                if total <= self.max_bytes or used > time.time() - self.grace_s:
                    return
                total -= self._evict(home, used)

    def _evict(self, home: Path, used: float) -> int:
        """Removes a copy unless somebody is just using it; the bytes that were freed."""
        with self._turn(home.name[:2], wait=False) as mine:
            if not mine or _used(home) != used:
                return 0
            size = _bytes(home)
            shutil.rmtree(home)
            return size

    @contextlib.contextmanager
    def _turn(self, name: str, *, wait: bool = True) -> Iterator[bool]:
        """Holds a lock of the folder; yields False where it is taken and `wait` is False."""
        for folder in ("locks", "copies"):
            (self.folder / folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self.folder / "locks" / name).open("w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True


def _default_folder() -> Path:
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named).expanduser()
    with contextlib.suppress(RuntimeError):  # Path.home: no home folder is known
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        if os.access(next(parent for parent in (base, *base.parents) if parent.exists()), os.W_OK):
            return base / "daybook"
    return Path(tempfile.gettempdir()) / f"daybook-{os.getuid()}"


def _intact(home: Path) -> Path | None:
    """The copy in a folder if its content has the sha256 in its name; a damaged or half-written one is removed."""
    if not home.is_dir():
        return None
    for path in home.iterdir():
        if _sha256(path) == path.name.partition("-")[0]:
            return path
    shutil.rmtree(home)
    return None


def _fetch(home: Path, name: str, size: int, download: Callable[[BinaryIO], None]) -> Path:
    home.mkdir(exist_ok=True)
    part = home / "part"
    try:
        with part.open("wb") as sink:
            download(sink)
        if part.stat().st_size != size:
            raise StoreError(f"{name} came with {part.stat().st_size} bytes instead of {size}; run the command again")
        part.chmod(0o400)
        return part.rename(home / f"{_sha256(part)}-{name}")
    except BaseException:
        shutil.rmtree(home)
        raise


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _used(home: Path) -> float:
    """When a copy was last asked for (seconds since 1970); 0 where it is gone."""
    try:
        return home.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _bytes(home: Path) -> int:
    try:
        return sum(path.stat().st_size for path in home.iterdir())
    except FileNotFoundError:
        return 0

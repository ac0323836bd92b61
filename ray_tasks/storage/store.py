"""The object store: a flat space of keys with whole-object reads and writes, and one conditional write.

Everything durable goes through this interface, so that a local folder and an S3 bucket are interchangeable.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from ray_tasks.errors import DaybookError, UsageError

_PART = r"[\w+=@:-][\w.+=@:-]*"
_KEY = re.compile(rf"{_PART}(?:/{_PART})*")
_TEMPORARY = ".write-"


class StoreError(DaybookError):
    """A read or write that did not happen; the message names the object."""


class MissingObjectError(StoreError):
    """There is no object under this key."""


class ConflictError(StoreError):
    """A conditional write found another version than the one expected: somebody else was first."""


class ObjectStore(Protocol):
    """Keys such as ``cache/extract/1f…/data.parquet`` to bytes. A write is atomic: readers see all of it or nothing."""

    @property
    def url(self) -> str:
        """What names this store on a command line, and in messages."""
        ...

    def read(self, key: str) -> bytes:
        """The object; raises MissingObjectError."""
        ...

    def write(self, key: str, data: bytes) -> None:
        """Writes or replaces an object."""
        ...

    def exists(self, key: str) -> bool:
        """Whether there is an object under this key."""
        ...

    def version(self, key: str) -> str | None:
        """An opaque token that changes with the content (an ETag), or None where there is no object."""
        ...

    def write_if_version(self, key: str, data: bytes, expected: str | None) -> str:
        """Writes only if version(key) is still `expected` (None: only if absent) and returns the new version.

        Raises ConflictError otherwise. This is S3's If-Match / If-None-Match.
        """
        ...

    def delete(self, key: str) -> None:
        """Removes an object; absent ones are no error."""
        ...

    def list_keys(self, prefix: str) -> Iterator[str]:
        """All keys below a prefix, sorted. For housekeeping only: readers follow manifests."""
        ...

    def local_path(self, key: str) -> Path:
        """A file on this machine that holds the object, for memory-mapping; raises MissingObjectError."""
        ...

    def remove_abandoned(self, age_s: float) -> int:
        """Removes what writers that were killed at least `age_s` seconds ago left half-written; how many pieces."""
        ...


def is_key(text: str) -> bool:
    """Whether this can be a key: no part is empty or begins with a dot, so that none leads out of the store."""
    return _KEY.fullmatch(text) is not None


def check_key(key: str) -> str:
    """The key itself; raises UsageError for one that could leave the store or that no store takes."""
    if not is_key(key):
        raise UsageError(f"not a valid object key: {key!r}")
    return key


class LocalStore:
    """A folder as an object store. Writes go to a temporary file and are renamed into place.

    Files and folders whose names begin with a dot are the store's own (locks, half-written files) and are no objects.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().resolve()
        self.url = str(self.root)
        if self.root.exists() and not self.root.is_dir():
            raise UsageError(f"cannot use {self.root} as a root: it is a file")

    def _path(self, key: str) -> Path:
        return self.root / check_key(key)

    def read(self, key: str) -> bytes:
        """See ObjectStore.read."""
        try:
            return self._path(key).read_bytes()
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
            raise MissingObjectError(f"there is no {key} in {self.url}") from error
        except OSError as error:
            raise StoreError(f"cannot read {key} in {self.url}: {error.strerror}") from error

    def write(self, key: str, data: bytes) -> None:
        """See ObjectStore.write."""
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=_TEMPORARY, delete=False) as handle:
                temporary = Path(handle.name)
                try:
                    handle.write(data)
                    handle.flush()
                    os.fsync(handle.fileno())
                    temporary.replace(path)
                except BaseException:
                    temporary.unlink(missing_ok=True)
                    raise
        except OSError as error:
            raise StoreError(f"cannot write {key} in {self.url}: {error.strerror}") from error

    def exists(self, key: str) -> bool:
        """See ObjectStore.exists."""
        return self._path(key).is_file()

    def version(self, key: str) -> str | None:
        """See ObjectStore.version."""
        try:
            return hashlib.sha256(self.read(key)).hexdigest()
        except MissingObjectError:
            return None

    def write_if_version(self, key: str, data: bytes, expected: str | None) -> str:
        """See ObjectStore.write_if_version; processes on this machine take turns through a lock file."""
        with self._lock(key):
            found = self.version(key)
            if found != expected:
                raise ConflictError(f"{key} in {self.url} was changed by somebody else")
            self.write(key, data)
            return hashlib.sha256(data).hexdigest()

    def delete(self, key: str) -> None:
        """See ObjectStore.delete."""
        try:
            self._path(key).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"cannot delete {key} in {self.url}: {error.strerror}") from error

    def list_keys(self, prefix: str) -> Iterator[str]:
        """See ObjectStore.list_keys."""
        base = self._path(prefix.rstrip("/")) if prefix else self.root
        names = (path.relative_to(self.root).as_posix() for path in base.rglob("*") if path.is_file())
        yield from sorted(name for name in names if is_key(name))

    def local_path(self, key: str) -> Path:
        """See ObjectStore.local_path."""
        path = self._path(key)
        if not path.is_file():
            raise MissingObjectError(f"there is no {key} in {self.url}")
        return path

    def remove_abandoned(self, age_s: float) -> int:
        """See ObjectStore.remove_abandoned; temporary files."""
        limit = time.time() - age_s
        removed = 0
        for path in self.root.rglob(f"{_TEMPORARY}*"):
            with contextlib.suppress(FileNotFoundError):  # its writer has just finished
                if path.stat().st_mtime <= limit:
                    path.unlink()
                    removed += 1
        return removed

    @contextlib.contextmanager
    def _lock(self, key: str) -> Iterator[None]:
        """Holds the lock of a key. There are 256 for all keys: a lock file can never be removed safely."""
        path = self.root / ".locks" / hashlib.sha256(check_key(key).encode()).hexdigest()[:2]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = path.open("w")
        except OSError as error:
            raise StoreError(f"cannot write {key} in {self.url}: {error.strerror}") from error
        with handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield


def open_store(url: str | Path) -> ObjectStore:
    """The store at a folder path or ``s3://bucket/prefix``; raises UsageError for any other scheme."""
    text = str(url)
    scheme, found, _ = text.partition("://")
    if found and scheme == "s3":
        from ray_tasks.storage.s3 import S3Store

        return S3Store(text)
    if found and scheme != "file":
        raise UsageError(f"--root {text}: a root is a local folder or s3://bucket/prefix, not {scheme}://")
    return LocalStore(Path(text.removeprefix("file://")))

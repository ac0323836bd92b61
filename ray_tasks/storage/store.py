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
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from ray_tasks.errors import DaybookError, UsageError

_KEY = re.compile(r"[\w.+=@:-]+(?:/[\w.+=@:-]+)*")


class StoreError(DaybookError):
    """A read or write that did not happen; the message names the object."""


class MissingObjectError(StoreError):
    """There is no object under this key."""


class ConflictError(StoreError):
    """A conditional write found another version than the one expected: somebody else was first."""


class ObjectStore(Protocol):
    """Keys such as ``cache/extract/1f…/data.parquet`` to bytes. A write is atomic: readers see all of it or nothing."""

    url: str

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


def check_key(key: str) -> str:
    """The key itself; raises UsageError for one that could leave the store or that no store takes."""
    if not _KEY.fullmatch(key) or any(part in {".", ".."} for part in key.split("/")):
        raise UsageError(f"not a valid object key: {key!r}")
    return key


class LocalStore:
    """A folder as an object store. Writes go to a temporary file and are renamed into place."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().resolve()
        self.url = str(self.root)
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot use {self.root} as a root: {error.strerror}") from error

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
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".write-", delete=False) as handle:
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
        self._path(key).unlink(missing_ok=True)

    def list_keys(self, prefix: str) -> Iterator[str]:
        """See ObjectStore.list_keys."""
        base = self._path(prefix.rstrip("/")) if prefix else self.root
        files = (path for path in base.rglob("*") if path.is_file() and not path.name.startswith("."))
        yield from sorted(path.relative_to(self.root).as_posix() for path in files)

    def local_path(self, key: str) -> Path:
        """See ObjectStore.local_path."""
        path = self._path(key)
        if not path.is_file():
            raise MissingObjectError(f"there is no {key} in {self.url}")
        return path

    @contextlib.contextmanager
    def _lock(self, key: str) -> Iterator[None]:
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        with (path.parent / f".lock-{path.name}").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield


def open_store(url: str | Path) -> ObjectStore:
    """The store at a folder path; raises UsageError for a scheme that is not supported."""
    text = str(url)
    scheme, found, _ = text.partition("://")
    if found and scheme != "file":
        raise UsageError(f"--root {text}: only local folders are supported, not {scheme}://")
    return LocalStore(Path(text.removeprefix("file://")))

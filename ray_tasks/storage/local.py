"""A folder as an object store."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader, BufferedWriter
from pathlib import Path
from typing import Final

from ray_tasks.errors import UsageError
from ray_tasks.storage.interface import ConflictError, MissingObjectError, StoredObject, StoreError, check_key, is_key
from ray_tasks.storage.local_files import create_file, flush_folder, remedy_for

_TEMPORARY: Final = ".write-"
_CONTENT_KEY: Final = re.compile(r"[0-9a-f]{32}")
"""Names of the folders that a collection empties. Others may be a person's own, and stay."""

_COPY_BYTES: Final = 1 << 20
_ABSENT: Final = (FileNotFoundError, IsADirectoryError, NotADirectoryError)


class LocalStore:
    """A folder as an object store. Writes go to a temporary file and are renamed into place.

    Files and folders whose names begin with a dot are the store's own (locks, half-written files) and are no objects.
    """

    parallel = 4

    def __init__(self, root: Path) -> None:
        try:
            self.root = root.expanduser().resolve()
            is_file = self.root.exists() and not self.root.is_dir()
        except (OSError, ValueError, RuntimeError) as error:  # a loop of links, a name with a null byte, ~nobody
            raise UsageError(f"cannot use {str(root)!r} as a root: {error}") from error
        if is_file:
            raise UsageError(f"cannot use {self.root} as a root: it is a file")
        self.url = str(self.root)

    def read(self, key: str) -> bytes:
        """See ObjectStore.read."""
        with self._open(key) as stream, self._explained("read", key):
            return stream.read()

    def read_versioned(self, key: str) -> tuple[bytes, str]:
        """See ObjectStore.read_versioned."""
        data = self.read(key)
        return data, hashlib.sha256(data).hexdigest()

    def write(self, key: str, data: bytes, *, durable: bool = True) -> str:
        """See ObjectStore.write."""
        self._put(key, lambda sink: sink.write(data), durable)
        return hashlib.sha256(data).hexdigest()

    def write_file(self, key: str, path: Path, *, durable: bool = True) -> str:
        """See ObjectStore.write_file."""
        digest = hashlib.sha256()

        def copy(sink: BufferedWriter) -> None:
            with path.open("rb") as source:
                while chunk := source.read(_COPY_BYTES):
                    digest.update(chunk)
                    sink.write(chunk)

        self._put(key, copy, durable)
        return digest.hexdigest()

    def make_durable(self, keys: Iterable[str]) -> None:
        """See ObjectStore.make_durable; flushes the files, then the folders that hold their names."""
        folders: set[Path] = set()
        for key in keys:
            with contextlib.suppress(MissingObjectError), self._open(key) as stream, self._explained("write", key):
                os.fsync(stream.fileno())
                folder = self._path(key).parent
                folders.update(parent for parent in (folder, *folder.parents) if parent.is_relative_to(self.root))
        for folder in sorted(folders, reverse=True):
            with self._explained("write", str(folder)):
                flush_folder(folder)

    def exists(self, key: str) -> bool:
        """See ObjectStore.exists."""
        return self._path(key).is_file()

    def holds(self, key: str, sha256: str, size: int, version: str = "") -> bool:
        """See ObjectStore.holds; always reads the file."""
        del version  # what a disk holds by now is proved by nothing less
        try:
            with self._open(key) as stream, self._explained("read", key):
                if os.fstat(stream.fileno()).st_size != size:
                    return False
                if size <= _COPY_BYTES:
                    return hashlib.sha256(stream.read()).hexdigest() == sha256
                return hashlib.file_digest(stream, "sha256").hexdigest() == sha256
        except MissingObjectError:
            return False

    def version(self, key: str) -> str | None:
        """See ObjectStore.version."""
        try:
            return self.read_versioned(key)[1]
        except MissingObjectError:
            return None

    def write_if_version(self, key: str, data: bytes, expected: str | None) -> str:
        """See ObjectStore.write_if_version; processes on this machine take turns through a lock file."""
        with self._lock(key):
            if self.version(key) != expected:
                raise ConflictError(f"{key} in {self.url} was changed by somebody else")
            return self.write(key, data)

    def delete(self, key: str) -> None:
        """See ObjectStore.delete."""
        with self._explained("delete", key), contextlib.suppress(NotADirectoryError):
            self._path(key).unlink(missing_ok=True)

    def list_keys(self, prefix: str) -> Iterator[str]:
        """See ObjectStore.list_keys."""
        top = self._path(prefix.rstrip("/")) if prefix else self.root
        start = len(str(self.root).rstrip("/")) + 1
        names = (f"{folder}/{name}"[start:] for folder, files in self._walk(top) for name in files)
        yield from sorted(name for name in names if is_key(name))

    def list_objects(self, prefix: str) -> Iterator[StoredObject]:
        """See ObjectStore.list_objects."""
        top = self._path(prefix.rstrip("/")) if prefix else self.root
        start = len(str(self.root).rstrip("/")) + 1
        for folder, files in self._walk(top):
            for name in sorted(files):
                key = f"{folder}/{name}"[start:]
                if is_key(key):
                    with self._explained("look up", key), contextlib.suppress(FileNotFoundError):
                        facts = Path(folder, name).stat()
                        yield StoredObject(key, facts.st_size, facts.st_mtime)

    def list_versions(self, prefix: str, most: int) -> Iterator[tuple[str, int, str]]:
        """See ObjectStore.list_versions."""
        del prefix, most
        return iter(())

    def local_path(self, key: str) -> Path:
        """See ObjectStore.local_path."""
        path = self._path(key)
        if not path.is_file():
            raise MissingObjectError(f"there is no {key} in {self.url}")
        return path

    def remove_abandoned(self, age_s: float) -> int:
        """See ObjectStore.remove_abandoned; temporary files. Emptied folders of shards go too, uncounted."""
        limit = time.time() - age_s
        removed = 0
        for folder, files in self._walk(self.root):
            for name in files:
                if name.startswith(_TEMPORARY):
                    removed += self._remove_if_older(Path(folder, name), limit, Path.unlink)
            if _CONTENT_KEY.fullmatch(Path(folder).name):
                self._remove_if_older(Path(folder), limit, Path.rmdir)
        return removed

    def _remove_if_older(self, path: Path, limit: float, remove: Callable[[Path], None]) -> bool:
        """Removes what was last changed at or before `limit` (s since 1970), unless it is in use; whether it did."""
        with self._explained("remove", str(path)):
            try:
                if path.stat().st_mtime > limit:
                    return False
                remove(path)
            except OSError as error:
                if error.errno not in {errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST, errno.EBUSY}:
                    raise
                return False
        return True

    def _path(self, key: str) -> Path:
        return self.root / check_key(key)

    def _walk(self, top: Path) -> Iterator[tuple[str, list[str]]]:
        """Folders from the deepest up, with the names of their files; what vanishes meanwhile is left out."""

        def report(error: OSError) -> None:
            if not isinstance(error, _ABSENT):
                raise StoreError(f"cannot list {error.filename}: {error.strerror}{remedy_for(error)}") from error

        for folder, _, files in os.walk(top, topdown=False, onerror=report):
            yield folder, files

    @contextlib.contextmanager
    def _explained(self, verb: str, key: str) -> Iterator[None]:
        """Turns the system's errors into StoreErrors that name the object and a remedy."""
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"cannot {verb} {key} in {self.url}: {error.strerror or error}{remedy_for(error)}"
            ) from error

    def _open(self, key: str) -> BufferedReader:
        with self._explained("read", key):
            try:
                return self._path(key).open("rb")
            except _ABSENT as error:
                raise MissingObjectError(f"there is no {key} in {self.url}") from error

    def _put(self, key: str, fill: Callable[[BufferedWriter], object], durable: bool) -> None:
        """Fills a temporary file beside the object and renames it into place."""
        path = self._path(key)
        with self._explained("write", key), create_file(path.with_name(f"{_TEMPORARY}{uuid.uuid4().hex}")) as sink:
            temporary = Path(sink.name)
            try:
                fill(sink)
                sink.flush()
                if durable:
                    os.fsync(sink.fileno())
                temporary.replace(path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            if durable:
                flush_folder(path.parent)

    @contextlib.contextmanager
    def _lock(self, key: str) -> Iterator[None]:
        """Holds the lock of a key. There are 256 for all keys: a lock file can never be removed safely."""
        path = self.root / ".locks" / hashlib.sha256(check_key(key).encode()).hexdigest()[:2]
        with self._explained("lock", key):
            path.parent.mkdir(parents=True, exist_ok=True)
            # Open for reading: another user of a shared folder may lock a file that only its maker may write.
            handle = os.open(path, os.O_RDONLY | os.O_CREAT, 0o666)
        try:
            with self._explained("lock", key):
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

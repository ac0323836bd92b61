"""What every object store does: a flat space of keys with whole-object reads and writes, and one conditional write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ray_tasks.errors import DaybookError, UsageError

_PART = r"[\w+=@:-][\w.+=@:-]*"
_KEY = re.compile(rf"{_PART}(?:/{_PART})*")


class StoreError(DaybookError):
    """A read or write that did not happen; the message names the object."""


class MissingObjectError(StoreError):
    """There is no object under this key."""


class ConflictError(StoreError):
    """A conditional write found another version than the one expected: somebody else was first."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object as a listing shows it: its size in bytes and when it was written (seconds since 1970)."""

    key: str
    size: int
    modified: float


class ObjectStore(Protocol):
    """Keys such as ``cache/extract/1f…/data.parquet`` to bytes. A write is atomic: readers see all of it or nothing.

    A version is an opaque token that changes with the content: an ETag on S3, the sha256 in a folder.
    """

    @property
    def url(self) -> str:
        """What names this store on a command line, and in messages."""
        ...

    @property
    def parallel(self) -> int:
        """How many requests at a time are worth their threads."""
        ...

    def read(self, key: str) -> bytes:
        """The object; raises MissingObjectError."""
        ...

    def read_versioned(self, key: str) -> tuple[bytes, str]:
        """The object and the version that these very bytes have; raises MissingObjectError."""
        ...

    def write(self, key: str, data: bytes, *, durable: bool = True) -> str:
        """Writes or replaces an object and returns its version.

        What is not `durable` may be gone after a power cut, but not after the death of a process.
        """
        ...

    def write_file(self, key: str, path: Path, *, durable: bool = True) -> str:
        """Like `write`, with the content of a file on this machine, of which a part at a time is in memory."""
        ...

    def make_durable(self, keys: Iterable[str]) -> None:
        """Sees to it that these objects outlast a power cut; absent ones are no error."""
        ...

    def exists(self, key: str) -> bool:
        """Whether there is an object under this key."""
        ...

    def holds(self, key: str, sha256: str, size: int, version: str = "") -> bool:
        """Whether the object is there and has this content (`size` in bytes), by the cheapest proof the store has.

        `version` is what the write returned, if that is known. No more than a part of the object is in memory.
        """
        ...

    def version(self, key: str) -> str | None:
        """The object's version, or None where there is no object."""
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

    def list_objects(self, prefix: str) -> Iterator[StoredObject]:
        """All objects below a prefix, those of one folder together, with no more than a folder or page in memory."""
        ...

    def list_versions(self, prefix: str, most: int) -> Iterator[tuple[str, int, str]]:
        """(key, size in bytes, version) of the first `most` objects below a prefix, where a listing tells versions.

        S3 answers for a thousand objects in one request. A folder gives nothing: there only reading proves anything.
        """
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

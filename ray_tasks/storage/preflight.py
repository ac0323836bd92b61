"""Checks of a store before a long run and before a publication: what would fail after hours fails in seconds."""

from __future__ import annotations

from uuid import uuid4

from ray_tasks.storage.s3 import S3Store
from ray_tasks.storage.store import ConflictError, ObjectStore, StoreError

FOLDER = "preflight"
"""Where the probes live for the moment that they exist; each under a name of its own."""


class UnsafeStoreError(StoreError):
    """The store does not keep two writers apart, so nothing may be published on it."""

    exit_code = 2


def preflight(store: ObjectStore) -> None:
    """Writes, reads, lists, conditionally writes and deletes small objects, with short time-outs.

    Raises StoreError (StoreAccessError for credentials, bucket and permissions) with cause and remedy within seconds,
    UnsafeStoreError where conditional writes do not work.
    """
    hasty = store.hasty() if isinstance(store, S3Store) else store
    key = probe_key()
    content = key.encode()
    hasty.write(key, content)
    try:
        if hasty.read(key) != content or key not in hasty.list_keys(FOLDER):
            raise StoreError(f"{store.url} does not give back what was just written to it; use a consistent store")
        require_conditional_writes(hasty)
    finally:
        hasty.delete(key)


def require_conditional_writes(store: ObjectStore) -> None:
    """Raises UnsafeStoreError where the probe finds a fault."""
    fault = conditional_write_fault(store)
    if fault:
        raise UnsafeStoreError(
            f"{store.url} {fault}: two runs could both believe that they had published. Use a store with conditional "
            "writes, such as Amazon S3, or a local folder; nothing was published"
        )


def conditional_write_fault(store: ObjectStore) -> str | None:
    """What is wrong with a store's conditional writes, found by trying; None where they work.

    S3-like servers are known that ignore the conditions (and answer 200) and that refuse every conditional write (412).
    """
    key = probe_key()
    try:
        try:
            first = store.write_if_version(key, b"first", None)
        except ConflictError:
            return "refuses a conditional write of a new object (If-None-Match)"
        if _accepts(store, key, b"again", None):
            return "ignores the condition that an object must be new (If-None-Match)"
        if not _accepts(store, key, b"second", first):
            return "refuses a conditional write that names the right version (If-Match)"
        if _accepts(store, key, b"third", first):
            return "ignores the version that a conditional write names (If-Match)"
        return None
    finally:
        store.delete(key)


def _accepts(store: ObjectStore, key: str, data: bytes, expected: str | None) -> bool:
    try:
        store.write_if_version(key, data, expected)
    except ConflictError:
        return False
    return True


def probe_key() -> str:
    """Where one probe goes."""
    return f"{FOLDER}/{uuid4().hex}"

"""The object store of a root: a local folder or an S3 prefix behind one interface.

Everything durable goes through it, so that a local folder and an S3 bucket are interchangeable. What users of a store
need (the interface, its errors) can be imported from here.
"""

from __future__ import annotations

import re
from pathlib import Path

from ray_tasks.errors import UsageError
from ray_tasks.storage.interface import (
    ConflictError,
    MissingObjectError,
    ObjectStore,
    StoreError,
    check_key,
    is_key,
)
from ray_tasks.storage.local import LocalStore

__all__ = [
    "ConflictError",
    "LocalStore",
    "MissingObjectError",
    "ObjectStore",
    "StoreError",
    "check_key",
    "is_key",
    "open_store",
]

_SLIP = re.compile(r"s3[an]?:|s3//", re.IGNORECASE)


def open_store(url: str | Path) -> ObjectStore:
    """The store at a folder path or ``s3://bucket/prefix``; raises UsageError for anything else."""
    text = str(url)
    if not text.strip():
        raise UsageError("--root is empty: name a local folder or s3://bucket/prefix")
    scheme, found, rest = text.partition("://")
    if found and scheme == "s3":
        from ray_tasks.storage.s3 import S3Store

        return S3Store(text)
    if found and scheme == "file":
        return LocalStore(Path(rest))
    # A slip in s3:// would quietly make a folder of that name.
    if found or _SLIP.match(text):
        raise UsageError(f"--root {text}: a root is a local folder or s3://bucket/prefix")
    return LocalStore(Path(text))

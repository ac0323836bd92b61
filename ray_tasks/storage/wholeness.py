"""Whether all that a memory needs is there."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor

from ray_tasks.storage.cache import ShardCache
from ray_tasks.storage.manifest_types import Manifest
from ray_tasks.storage.shards import DoneRecord
from ray_tasks.storage.store import MissingObjectError, ObjectStore


def damaged_files(store: ObjectStore, manifest: Manifest) -> list[str]:
    """The keys of a memory's files that are missing or are not those that its manifest names, sorted.

    The records of the shards that made them tell their sizes and versions, so that S3 need not send them.
    """
    named = {key: sha for entry in manifest.wearers.values() for key, sha in entry.files.values()}
    shards = {shard for key in named if (shard := _shard_of(key))}
    records = ShardCache(store).find_many(sorted(shards), verify=False)

    def is_damaged(key: str) -> bool:
        shard = _shard_of(key)
        return not _is_whole(store, key, named[key], records.get(shard) if shard else None)

    keys = sorted(named)
    with ThreadPoolExecutor(store.parallel) as pool:
        return [key for key, damaged in zip(keys, pool.map(is_damaged, keys), strict=True) if damaged]


def _shard_of(key: str) -> tuple[str, str] | None:
    """Stage and key of the cached shard that a file belongs to; None for a file outside the cache."""
    parts = key.split("/")
    return (parts[1], parts[2]) if len(parts) == 4 and parts[0] == "cache" else None


def _is_whole(store: ObjectStore, key: str, sha: str, record: DoneRecord | None) -> bool:
    name = key.rpartition("/")[2]
    known = record.files.get(name) if record else None
    if record is None or known is None:
        # Without a record only the content itself can tell.
        try:
            with store.local_path(key).open("rb") as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest() == sha
        except MissingObjectError:
            return False
    return known[0] == sha and store.holds(key, sha, known[1], record.versions.get(name, ""))

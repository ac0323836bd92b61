"""Taking away what no kept memory needs: old memories, shards of the cache, records of old runs.

Nothing is taken that a reader or a build could still want:

- while a build is alive on any machine nothing is collected, and a build that begins meanwhile waits (collecting.py);
- the pointer is rewritten, with the same memory, before anything goes: whoever decided on a publication before that,
  a build taken for dead or a rollback, is told that the pointer has moved;
- what is younger than the grace period stays: the next build goes on from the shards of one that was killed;
- where a kept memory's manifest cannot be read, nothing goes, since what it needs is unknown.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Final

from ray_tasks.errors import UsageError
from ray_tasks.storage.cache import ShardCache
from ray_tasks.storage.collecting import Collecting, collecting
from ray_tasks.storage.interface import StoredObject
from ray_tasks.storage.manifests import (
    POINTER,
    Manifest,
    Pointer,
    manifest_key,
    read_manifest,
    read_pointer,
    timestamp,
)
from ray_tasks.storage.retention_runs import collect_runs, require_no_live_run
from ray_tasks.storage.store import ConflictError, MissingObjectError, ObjectStore, StoreError

GRACE_HOURS: Final = 48.0
REPLIES_DAYS: Final = 30.0
FOLDERS_AT_A_TIME: Final = 512
POINTER_TRIES: Final = 5


@dataclass
class Collected:
    """What was taken away (or would be), in folders and bytes, and what was kept."""

    kept_memories: tuple[str, ...] = ()
    removed_memories: list[str] = field(default_factory=list)
    removed_shards: int = 0
    removed_runs: int = 0
    removed_probes: int = 0
    removed_replies: int = 0
    spared_shards: int = 0
    freed_bytes: int = 0


def collect_garbage(
    store: ObjectStore,
    keep: int,
    *,
    grace_s: float = GRACE_HOURS * 3600,
    replies_s: float = REPLIES_DAYS * 24 * 3600,
    dry_run: bool = False,
) -> Collected:
    """Removes all but the `keep` latest published memories, and what only removed ones or dead builds needed.

    The current memory always stays, and so does a memory younger than `grace_s` that was never published. Replies of
    language models that are older than `replies_s` go: they only save calls when shards are made again. Raises
    UsageError where there is nothing to keep, RunningBuildError and CollectionRunningError where somebody is at work,
    StoreError where a kept memory's manifest is missing or damaged; in all these cases nothing has been removed.
    """
    if keep < 1:
        raise UsageError(f"--keep {keep}: at least the current memory is kept")
    if grace_s < 0:
        raise UsageError(f"--grace-hours {grace_s / 3600:g}: not a length of time")
    _published(store)  # before anything is written: a mistyped root is not to be made
    with nullcontext() if dry_run else collecting(store, os.getpid()) as marker:
        require_no_live_run(store)
        now = time.time()
        return _Collector(store, now - grace_s, now - replies_s, marker).collect(keep)


class _Collector:
    """One collection; without a marker it only counts."""

    def __init__(self, store: ObjectStore, limit: float, replies: float, marker: Collecting | None) -> None:
        self._store, self._limit, self._replies, self._marker = store, limit, replies, marker
        self._collected = Collected()

    def collect(self, keep: int) -> Collected:
        """All of it, in the order in which an interruption leaves nothing half-kept."""
        pointer, kept = self._settled(keep)
        memories = {name: list(objects) for name, objects in _by_folder(self._store.list_objects("memories"), depth=2)}
        unpublished = self._young_and_unpublished(pointer, memories)
        needed: set[bytes] = set()
        oldest = ""
        for memory_id in (*kept, *unpublished):
            manifest = read_manifest(self._store, memory_id)
            needed.update(map(_digest, _prefixes(manifest)))
            oldest = min(oldest or manifest.created, manifest.created)
        self._collected.kept_memories = (*kept, *unpublished)
        self._remove_memories(memories)
        self._remove_shards(needed)
        self._remove_probes()
        self._remove_replies()
        runs, size = collect_runs(self._store, set(kept) | set(unpublished), oldest, self._limit, self._remove)
        self._collected.removed_runs, self._collected.freed_bytes = runs, self._collected.freed_bytes + size
        return self._collected

    def _settled(self, keep: int) -> tuple[Pointer, list[str]]:
        """The pointer and the memories to keep, after the pointer was rewritten so that no older decision stands."""
        for _ in range(POINTER_TRIES):
            pointer = _published(self._store)
            kept = self._kept(pointer, keep)
            if self._marker is None:
                return pointer, kept
            try:
                self._rewrite(pointer, kept)
            except ConflictError:
                continue  # published or rolled back just now: decide again
            return pointer, kept
        raise StoreError(f"{POINTER} in {self._store.url} keeps moving; nothing was removed: collect at a quieter time")

    def _kept(self, pointer: Pointer, keep: int) -> list[str]:
        """The current memory and the latest before it that still exist; each is read, so that none is damaged."""
        read_manifest(self._store, pointer.memory_id)
        kept = [pointer.memory_id]
        for memory_id in pointer.history:
            if len(kept) == keep:
                break
            try:
                read_manifest(self._store, memory_id)
            except MissingObjectError:
                continue  # removed by an earlier collection
            kept.append(memory_id)
        return kept

    def _rewrite(self, pointer: Pointer, kept: list[str]) -> None:
        data = json.loads(self._store.read(POINTER))
        data |= {"history": kept[1:], "collected": f"{timestamp()} by process {os.getpid()}"}
        self._store.write_if_version(POINTER, json.dumps(data, indent=1).encode(), pointer.version)

    def _young_and_unpublished(self, pointer: Pointer, memories: dict[str, list[StoredObject]]) -> list[str]:
        """Memories that were made lately and never published: a person may still look at them or publish them."""
        published = {pointer.memory_id, *pointer.history}
        return [
            memory_id
            for folder, objects in sorted(memories.items())
            if (memory_id := folder.split("/")[1]) not in published
            and any(found.key == manifest_key(memory_id) and found.modified > self._limit for found in objects)
        ]

    def _remove_memories(self, memories: dict[str, list[StoredObject]]) -> None:
        for folder, objects in sorted(memories.items()):
            memory_id = folder.split("/")[1]
            if memory_id in self._collected.kept_memories:
                continue
            # The manifest goes first: a reader that comes in between finds a whole memory or none.
            self._remove(sorted(objects, key=lambda found: not found.key.endswith("/manifest.json")))
            self._collected.removed_memories.append(memory_id)
            self._collected.freed_bytes += sum(found.size for found in objects)

    def _remove_shards(self, needed: set[bytes]) -> None:
        """Shards, many at a time on stores where a request takes long; no more than FOLDERS_AT_A_TIME in memory."""
        folders = (list(objects) for _, objects in _by_folder(self._store.list_objects("cache"), depth=3))
        unneeded = (objects for objects in folders if _digest(objects[0].key.rpartition("/")[0]) not in needed)
        with ThreadPoolExecutor(self._store.parallel) as threads:
            while batch := list(islice(unneeded, FOLDERS_AT_A_TIME)):
                old = [objects for objects in batch if max(found.modified for found in objects) <= self._limit]
                self._collected.spared_shards += len(batch) - len(old)
                for _ in threads.map(self._remove, map(_done_first, old)):
                    pass
                self._collected.removed_shards += len(old)
                self._collected.freed_bytes += sum(found.size for objects in old for found in objects)

    def _remove_probes(self) -> None:
        """What preflights left that were killed in the middle."""
        for found in self._store.list_objects("preflight"):
            if found.modified <= self._limit:
                self._remove([found])
                self._collected.removed_probes += 1

    def _remove_replies(self) -> None:
        """Kept replies of language models that have grown old, many at a time."""
        old = (found for found in self._store.list_objects("replies") if found.modified <= self._replies)
        with ThreadPoolExecutor(self._store.parallel) as threads:
            while batch := list(islice(old, FOLDERS_AT_A_TIME)):
                for _ in threads.map(self._remove, ([found] for found in batch)):
                    pass
                self._collected.removed_replies += len(batch)
                self._collected.freed_bytes += sum(found.size for found in batch)

    def _remove(self, objects: Iterable[StoredObject]) -> None:
        if self._marker is None:
            return
        for found in objects:
            self._marker.refresh()
            self._store.delete(found.key)


def _published(store: ObjectStore) -> Pointer:
    pointer = read_pointer(store)
    if pointer is None:
        raise UsageError(f"{store.url} holds no published memory, so there is nothing to keep; remove the root by hand")
    return pointer


def _by_folder(objects: Iterable[StoredObject], depth: int) -> Iterator[tuple[str, Iterator[StoredObject]]]:
    """Objects by the first `depth` parts of their keys; a listing gives those of one folder together."""
    return groupby(objects, key=lambda found: "/".join(found.key.split("/")[:depth]))


def _done_first(objects: list[StoredObject]) -> list[StoredObject]:
    """A shard's files in the order of removal, so that one whose removal is interrupted counts as not done."""
    return sorted(objects, key=lambda found: not found.key.endswith("/done.json"))


def _prefixes(manifest: Manifest) -> Iterator[str]:
    for entry in manifest.wearers.values():
        yield from (key.rpartition("/")[0] for key, *_ in entry.files.values())
        for stage, shards in entry.shards.items():
            yield from (ShardCache.prefix(stage, key) for key in shards.values())


def _digest(prefix: str) -> bytes:
    """Sixteen bytes instead of a folder's name: a manifest names hundreds of thousands."""
    return hashlib.blake2b(prefix.encode(), digest_size=16).digest()

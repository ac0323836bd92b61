"""Taking away what no kept memory needs: old manifests and shards of the cache."""

from __future__ import annotations

import os
import socket
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from ray_tasks.errors import DaybookError, UsageError
from ray_tasks.storage.cache import ShardCache
from ray_tasks.storage.manifests import TIMESTAMP_FORMAT, Manifest, manifest_key, read_manifest, read_pointer
from ray_tasks.storage.store import MissingObjectError, ObjectStore

STALE_AFTER: Final = timedelta(hours=1)
"""A run on another host that has written nothing for so long is taken for dead."""


class RunningBuildError(DaybookError):
    """A build is at work: what it needs is not yet named by any manifest."""


@dataclass(frozen=True)
class Collected:
    """What was taken away, and what was kept."""

    kept_memories: tuple[str, ...]
    removed_memories: tuple[str, ...]
    removed_shards: int


def collect_garbage(store: ObjectStore, keep: int, run: dict[str, Any] | None) -> Collected:
    """Removes all but the `keep` latest published memories, and every cached shard that none of these names.

    The current memory always stays. Manifests go first, then shards: a reader that comes in between finds either a
    whole memory or none. Raises RunningBuildError while the last run (`run`, as in runs/latest.json) is at work.
    """
    if keep < 1:
        raise UsageError(f"--keep {keep}: at least the current memory is kept")
    if run and is_running(run):
        raise RunningBuildError(
            f"a build is running since {run['started']} on {run['host']}; collect when it has ended"
        )
    pointer = read_pointer(store)
    if pointer is None:
        raise UsageError(f"{store.url} holds no published memory, so there is nothing to keep; remove the root by hand")
    kept = (pointer.memory_id, *pointer.history)[:keep]
    manifests = [manifest for memory_id in kept if (manifest := _read_if_there(store, memory_id))]
    needed = {prefix for manifest in manifests for prefix in _prefixes(manifest)}
    stored = {key.split("/")[1] for key in store.list_keys("memories")}
    removed = tuple(sorted(stored - set(kept)))
    for memory_id in removed:
        store.delete(manifest_key(memory_id))
    shards: dict[str, list[str]] = defaultdict(list)
    for key in store.list_keys("cache"):
        prefix = key.rsplit("/", 1)[0]
        if prefix not in needed:
            shards[prefix].append(key)
    for keys in shards.values():
        # done.json goes first, so that an interrupted removal leaves shards that count as not done.
        for key in sorted(keys, key=lambda key: not key.endswith("/done.json")):
            store.delete(key)
    return Collected(kept, removed, len(shards))


def is_running(run: dict[str, Any]) -> bool:
    """Whether the run that this record describes is still at work, as far as can be told from here."""
    if run["state"] != "running":
        return False
    if run["host"] == socket.gethostname():
        return _is_alive(int(run["pid"]))
    updated = datetime.strptime(run["updated"], TIMESTAMP_FORMAT).replace(tzinfo=UTC)
    return datetime.now(UTC) - updated < STALE_AFTER


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _read_if_there(store: ObjectStore, memory_id: str) -> Manifest | None:
    try:
        return read_manifest(store, memory_id)
    except MissingObjectError:  # an older memory that an earlier collection removed
        return None


def _prefixes(manifest: Manifest) -> Iterator[str]:
    for entry in manifest.wearers.values():
        yield from (key.rsplit("/", 1)[0] for key, _ in entry.files.values())
        for stage, shards in entry.shards.items():
            yield from (ShardCache.prefix(stage, key) for key in shards.values())

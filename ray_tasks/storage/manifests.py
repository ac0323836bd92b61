"""Manifests and the pointer to the current one: which memories there are, and which one readers see (DESIGN §4).

A memory's id is the hash of its content, so building the same again names the same memory. Index files live in the
shard cache under their content key and are named, with sha256, by the manifest; readers follow the pointer, then the
manifest, and never list.
"""

from __future__ import annotations

import json
import os
import socket
from datetime import UTC, datetime

from ray_tasks.storage.manifest_files import DamagedManifestError, manifest_key, read_manifest, write_manifest
from ray_tasks.storage.manifest_types import Manifest, WearerEntry
from ray_tasks.storage.pointer import (
    POINTER,
    DamagedPointerError,
    Pointer,
    current_manifest,
    memory_before,
    pointer_to_replace,
    read_pointer,
)
from ray_tasks.storage.preflight import require_conditional_writes
from ray_tasks.storage.store import ConflictError, ObjectStore

__all__ = [
    "POINTER",
    "TIMESTAMP_FORMAT",
    "DamagedManifestError",
    "DamagedPointerError",
    "LostRaceError",
    "Manifest",
    "Pointer",
    "WearerEntry",
    "current_manifest",
    "manifest_key",
    "memory_before",
    "pointer_to_replace",
    "publish",
    "read_manifest",
    "read_pointer",
    "timestamp",
    "write_manifest",
]

HISTORY_LENGTH = 50
TIMESTAMP_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
"""UTC, to the second."""


class LostRaceError(ConflictError):
    """Another publication was first; it stands, and what was to be published is kept."""


def publish(store: ObjectStore, manifest: Manifest, seen: Pointer | None) -> None:
    """Makes a memory the current one with one pointer swap; `seen` is the pointer that the caller's decision rests on.

    All that the manifest names is made durable before. Raises LostRaceError where the pointer has moved since and names
    another memory: a build or a rollback was first, and stands; and UnsafeStoreError on a store whose conditional
    writes do not work.
    """
    require_conditional_writes(store)
    store.make_durable(key for entry in manifest.wearers.values() for key, _ in entry.files.values())
    write_manifest(store, manifest)
    earlier = [seen.memory_id, *seen.history] if seen and seen.memory_id else []
    history = [memory_id for memory_id in dict.fromkeys(earlier) if memory_id != manifest.memory_id]
    pointer = {
        "memory_id": manifest.memory_id,
        "published": timestamp(),
        "by": f"process {os.getpid()} on {socket.gethostname()}",
        "history": history[:HISTORY_LENGTH],
    }
    try:
        store.write_if_version(POINTER, json.dumps(pointer, indent=1).encode(), seen.version if seen else None)
    except ConflictError as error:
        _accept_or_lose(store, manifest.memory_id, seen, error)


def _accept_or_lose(store: ObjectStore, memory_id: str, seen: Pointer | None, conflict: ConflictError) -> None:
    """Returns where the winner published the identical memory; else raises LostRaceError."""
    try:
        winner = read_pointer(store)
    except DamagedPointerError:
        happened = f"somebody has changed {POINTER}, which is damaged now"
    else:
        if winner is None:
            happened = f"somebody has removed {POINTER}"
        elif winner.memory_id == memory_id:
            return
        elif seen and winner.memory_id == seen.memory_id:
            happened = f"{POINTER} was written again, by a collection or by a publication that was rolled back"
        else:
            happened = f"{winner.by} made memory {winner.memory_id} the current one at {winner.published}"
    raise LostRaceError(
        f"memory {memory_id} was not published: {happened}, after this command had begun. Its shards and its manifest "
        f"are kept. To build on what is current now, run the same command again (finished shards are not made again); "
        f"to make {memory_id} the current memory as it is: daybook publish {memory_id} --root {store.url}"
    ) from conflict


def timestamp() -> str:
    """Now, in UTC, to the second."""
    return datetime.now(UTC).strftime(TIMESTAMP_FORMAT)

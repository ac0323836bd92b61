"""Manifests and the pointer to the current one: what a memory is made of, and which memory readers see (DESIGN §4).

A memory's id is the hash of its content, so building the same again names the same memory. Index files live in the
shard cache under their content key and are named, with sha256, by the manifest; readers follow the pointer, then the
manifest, and never list.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ray_tasks.errors import UsageError
from ray_tasks.rows import wearer_name
from ray_tasks.storage.cache import ShardCache
from ray_tasks.storage.preflight import require_conditional_writes
from ray_tasks.storage.shards import DoneRecord, content_key
from ray_tasks.storage.store import ObjectStore, StoreError

POINTER = "current.json"
HISTORY_LENGTH = 50
TIMESTAMP_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
"""UTC, to the second."""


@dataclass(frozen=True)
class WearerEntry:
    """One wearer of a memory.

    files: store key and sha256 by file name. counts: rows by view. day_bounds: first and last recorded ms of each day.
    shards: cache keys by stage and shard, from which the files can be made again without paying for the work twice.
    """

    wearer: str
    name: str
    files: Mapping[str, tuple[str, str]]
    counts: Mapping[str, int]
    day_bounds: Mapping[int, tuple[int, int]]
    shards: Mapping[str, Mapping[str, str]]

    @classmethod
    def from_index(cls, record: DoneRecord, shards: Mapping[str, Mapping[str, str]]) -> WearerEntry:
        """The entry of a wearer from the record of the index stage; the record's shard is the wearer."""
        prefix = ShardCache.prefix(record.stage, record.key)
        return cls(
            record.shard,
            wearer_name(record.shard),
            {name: (f"{prefix}/{name}", sha) for name, (sha, _) in sorted(record.files.items())},
            record.extra["counts"],
            {int(day): (bounds[0], bounds[1]) for day, bounds in record.extra["day_bounds"].items()},
            shards,
        )

    @property
    def hours(self) -> tuple[str, ...]:
        """Hours that hold captions, as ``DAY3/16``."""
        return tuple(shard.split("/", 1)[1] for shard in sorted(self.shards["caption"]))

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return {
            "name": self.name,
            "files": {name: {"key": key, "sha256": sha} for name, (key, sha) in sorted(self.files.items())},
            "counts": dict(self.counts),
            "day_bounds": {str(day): list(bounds) for day, bounds in sorted(self.day_bounds.items())},
            "shards": {stage: dict(sorted(keys.items())) for stage, keys in sorted(self.shards.items())},
        }

    @classmethod
    def from_json(cls, wearer: str, data: Mapping[str, Any]) -> WearerEntry:
        """The inverse of to_json."""
        return cls(
            wearer,
            data["name"],
            {name: (entry["key"], entry["sha256"]) for name, entry in data["files"].items()},
            data["counts"],
            {int(day): (bounds[0], bounds[1]) for day, bounds in data["day_bounds"].items()},
            {stage: dict(keys) for stage, keys in data["shards"].items()},
        )


@dataclass(frozen=True)
class Manifest:
    """A memory: its wearers, the encoder of its vectors (queries must use the same), and how it was made."""

    wearers: Mapping[str, WearerEntry]
    encoder: str
    embedding_model: str
    created: str = ""
    build: Mapping[str, Any] = field(default_factory=dict)

    @property
    def memory_id(self) -> str:
        """The hash of all index files and the encoder: equal content, equal id."""
        files = {wearer: sorted(entry.files.values()) for wearer, entry in self.wearers.items()}
        return content_key(self.encoder, files)[:16]

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return {
            "memory_id": self.memory_id,
            "created": self.created,
            "encoder": self.encoder,
            "embedding_model": self.embedding_model,
            "wearers": {wearer: entry.to_json() for wearer, entry in sorted(self.wearers.items())},
            "build": dict(self.build),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Manifest:
        """The inverse of to_json."""
        wearers = {wearer: WearerEntry.from_json(wearer, entry) for wearer, entry in data["wearers"].items()}
        return cls(wearers, data["encoder"], data["embedding_model"], data["created"], data["build"])

    def entry(self, wearer: str) -> WearerEntry:
        """A wearer's entry; raises UsageError naming those there are."""
        if wearer not in self.wearers:
            known = ", ".join(sorted(self.wearers)) or "nobody"
            raise UsageError(f"memory {self.memory_id} holds no wearer {wearer}; it holds {known}")
        return self.wearers[wearer]


def manifest_key(memory_id: str) -> str:
    """Where a memory's manifest is."""
    return f"memories/{memory_id}/manifest.json"


def write_manifest(store: ObjectStore, manifest: Manifest) -> None:
    """Stores a manifest; one of the same id, which holds the same, is left as it is."""
    key = manifest_key(manifest.memory_id)
    if not store.exists(key):
        text = json.dumps(manifest.to_json(), ensure_ascii=False, indent=1, sort_keys=True)
        store.write(key, text.encode())


def read_manifest(store: ObjectStore, memory_id: str) -> Manifest:
    """A memory's manifest; raises MissingObjectError or StoreError where it is absent or damaged."""
    key = manifest_key(memory_id)
    try:
        manifest = Manifest.from_json(json.loads(store.read(key)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{key} in {store.url} is not a manifest: {error}; build the memory again") from error
    if manifest.memory_id != memory_id:
        raise StoreError(f"{key} in {store.url} describes memory {manifest.memory_id}; build the memory again")
    return manifest


@dataclass(frozen=True)
class Pointer:
    """What current.json says: the memory that readers see, the ones before it (latest first), and its version."""

    memory_id: str
    history: tuple[str, ...]
    version: str


def read_pointer(store: ObjectStore) -> Pointer | None:
    """The pointer to the current memory; None where nothing has been published."""
    version = store.version(POINTER)
    if version is None:
        return None
    try:
        data = json.loads(store.read(POINTER))
        return Pointer(str(data["memory_id"]), tuple(map(str, data["history"])), version)
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{POINTER} in {store.url} is damaged: {error}; publish a memory again") from error


def publish(store: ObjectStore, manifest: Manifest, seen: Pointer | None) -> None:
    """Makes a memory the current one with one pointer swap; `seen` is the pointer that the caller's decision rests on.

    Raises ConflictError where the pointer has moved since: another build or a rollback was first, and stands; and
    UnsafeStoreError on a store whose conditional writes do not work.
    """
    require_conditional_writes(store)
    write_manifest(store, manifest)
    earlier = [seen.memory_id, *seen.history] if seen else []
    history = [memory_id for memory_id in dict.fromkeys(earlier) if memory_id != manifest.memory_id]
    pointer = {"memory_id": manifest.memory_id, "published": timestamp(), "history": history[:HISTORY_LENGTH]}
    store.write_if_version(POINTER, json.dumps(pointer, indent=1).encode(), seen.version if seen else None)


def timestamp() -> str:
    """Now, in UTC, to the second."""
    return datetime.now(UTC).strftime(TIMESTAMP_FORMAT)


def current_manifest(store: ObjectStore) -> Manifest:
    """The published memory; raises UsageError where there is none."""
    pointer = read_pointer(store)
    if pointer is None:
        raise UsageError(
            f"{store.url} holds no published memory; make one with: daybook build --corpus DIR --root {store.url}"
        )
    return read_manifest(store, pointer.memory_id)

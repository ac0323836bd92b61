"""What a memory is made of, as its manifest says it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ray_tasks.errors import UsageError
from ray_tasks.rows import wearer_name
from ray_tasks.storage.cache import ShardCache
from ray_tasks.storage.shards import DoneRecord, content_key
from ray_tasks.strict_json import parse_json

CHECK_FIELD: Final = "check"
"""In manifest.json: the digest of all the rest. The memory's id covers the index files only."""


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
    def from_index(
        cls, record: DoneRecord, shards: Mapping[str, Mapping[str, str]], beside: Sequence[DoneRecord] = ()
    ) -> WearerEntry:
        """The entry of a wearer from the record of the index stage, and of stages whose files lie beside the index.

        The records' shard is the wearer.
        """
        files = {
            name: (f"{ShardCache.prefix(made.stage, made.key)}/{name}", sha)
            for made in (record, *beside)
            for name, (sha, _) in made.files.items()
        }
        return cls(
            record.shard,
            wearer_name(record.shard),
            dict(sorted(files.items())),
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


def manifest_bytes(manifest: Manifest) -> bytes:
    """A manifest as manifest.json."""
    body = json.loads(json.dumps(manifest.to_json()))
    return json.dumps({**body, CHECK_FIELD: content_key(body)}, ensure_ascii=False, indent=1, sort_keys=True).encode()


def parse_manifest(data: bytes) -> Manifest:
    """The inverse of manifest_bytes; raises ValueError, saying what is wrong, for anything else."""
    body = parse_json(data)
    try:
        if CHECK_FIELD in body and body.pop(CHECK_FIELD) != content_key(body):
            raise ValueError("it was changed after it was written")
        manifest = Manifest.from_json(body)
        if manifest.memory_id != body["memory_id"]:
            raise ValueError(f"its content is that of memory {manifest.memory_id}")
    except (KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise ValueError(f"it is not in the form of a manifest ({type(error).__name__}: {error})") from error
    return manifest

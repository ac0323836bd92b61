"""Shards and the record of a finished one."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ray_tasks.errors import UsageError
from ray_tasks.ledger import Ledger

_SHARD = re.compile(r"(?P<wearer>[^/]+)(?:/DAY(?P<day>\d+)(?:/(?P<hour>\d{1,2}))?)?")


@dataclass(frozen=True, slots=True, order=True)
class Shard:
    """The unit of work, storage and resume: an hour; a day where hour is None; a whole wearer where day is None."""

    wearer: str
    day: int | None = None
    hour: int | None = None

    def __str__(self) -> str:
        parts = [self.wearer]
        if self.day is not None:
            parts.append(f"DAY{self.day}")
        if self.hour is not None:
            parts.append(f"{self.hour:02d}")
        return "/".join(parts)

    def later(self, hours: int) -> Shard:
        """The same wearer's hour so many hours later (before, where negative); only for the shard of an hour."""
        assert self.day is not None and self.hour is not None
        count = (self.day - 1) * 24 + self.hour + hours
        return Shard(self.wearer, count // 24 + 1, count % 24)

    @classmethod
    def parse(cls, text: str) -> Shard:
        """``A1_JAKE/DAY3/16``, ``A1_JAKE/DAY3`` or ``A1_JAKE``; raises UsageError."""
        match = _SHARD.fullmatch(text)
        if not match:
            raise UsageError(f"not a shard: {text!r} (expected for example A1_JAKE/DAY3/16)")
        day, hour = match["day"], match["hour"]
        return cls(match["wearer"], int(day) if day else None, int(hour) if hour else None)


def content_key(*parts: object) -> str:
    """A key from everything that decides a result; parts are JSON-serialisable, and their order counts."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class DoneRecord:
    """What done.json holds of a finished shard.

    `files` maps file name to (sha256, bytes); `extra` carries what later stages need to plan (digests of parts);
    `tokens` counts what a model read and wrote for it. `versions` maps file name to the version that the store gave the
    file (see ObjectStore.holds), where that says more than the sha256; it is no part of the content.
    """

    stage: str
    shard: str
    key: str
    rows: int
    seconds: float
    ledger: Ledger
    files: Mapping[str, tuple[str, int]]
    extra: Mapping[str, Any] = field(default_factory=dict)
    tokens: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """One digest of all files, for the keys of stages that read them."""
        return content_key(sorted((name, sha) for name, (sha, _) in self.files.items()))

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        files = {
            name: {"sha256": sha, "bytes": size} | ({"version": self.versions[name]} if name in self.versions else {})
            for name, (sha, size) in sorted(self.files.items())
        }
        return {
            "stage": self.stage,
            "shard": self.shard,
            "key": self.key,
            "rows": self.rows,
            "seconds": round(self.seconds, 4),
            "ledger": self.ledger.to_json(),
            "files": files,
            "extra": dict(self.extra),
            "tokens": self.tokens,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> DoneRecord:
        """The inverse of to_json; raises KeyError, TypeError, ValueError or AttributeError for anything else."""
        files = data["files"]
        return cls(
            data["stage"],
            data["shard"],
            data["key"],
            data["rows"],
            data["seconds"],
            Ledger.from_json(data["ledger"]),
            {name: (entry["sha256"], entry["bytes"]) for name, entry in files.items()},
            data["extra"],
            data.get("tokens", 0),
            {name: entry["version"] for name, entry in files.items() if "version" in entry},
        )

"""What a build did, in numbers: every shard's done.json merges into the sums of its stage, and those into the run's.

Sums over parts add up to the sum over all, so statistics of hours, wearers or nights can be joined without reading a
shard again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ray_tasks.engines.counts import CallCounts
from ray_tasks.ledger import Ledger
from ray_tasks.storage.shards import DoneRecord


@dataclass
class StageTotals:
    """Sums over the shards of one stage.

    `seconds`, `bytes`, `tokens` and `calls` (of a language model) are what the shards cost when they were made, cached
    ones included, so that rates for a plan follow from any build; `made_seconds` is the part that this build spent
    itself.
    """

    shards: int = 0
    cached: int = 0
    failed: int = 0
    rows: int = 0
    bytes: int = 0
    tokens: int = 0
    seconds: float = 0.0
    made_seconds: float = 0.0
    ledger: Ledger = field(default_factory=Ledger)
    calls: CallCounts = field(default_factory=CallCounts)

    @property
    def made(self) -> int:
        """Shards that this build made."""
        return self.shards - self.cached - self.failed

    def book(self, record: DoneRecord | None, *, cached: bool = False) -> None:
        """Adds one shard: its record, or None for one that failed."""
        self.shards += 1
        if record is None:
            self.failed += 1
            return
        self.cached += cached
        self.rows += record.rows
        self.bytes += sum(size for _, size in record.files.values())
        self.tokens += record.tokens
        self.seconds += record.seconds
        self.made_seconds += 0.0 if cached else record.seconds
        self.ledger.add(record.ledger)
        if "calls" in record.extra:
            self.calls.add(CallCounts.from_json(record.extra["calls"]))

    def add(self, other: StageTotals) -> StageTotals:
        """Adds the sums over other shards to these, in place, and returns these."""
        for name, value in vars(other).items():
            if name not in ("ledger", "calls"):
                setattr(self, name, getattr(self, name) + value)
        self.ledger.add(other.ledger)
        self.calls.add(other.calls)
        return self

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        rounded = {"seconds": round(self.seconds, 3), "made_seconds": round(self.made_seconds, 3)}
        return {**vars(self), **rounded, "ledger": self.ledger.to_json(), "calls": self.calls.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> StageTotals:
        """The inverse of to_json; raises KeyError or TypeError for anything else."""
        calls = CallCounts.from_json(data["calls"]) if "calls" in data else CallCounts()
        return cls(**{**data, "ledger": Ledger.from_json(data["ledger"]), "calls": calls})

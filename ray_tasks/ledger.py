"""The loss ledger: at every stage, what came in is done, filtered for a reason, or failed for a reason.

Ledgers add up across shards, so a build can prove that nothing was lost on the way (DESIGN §1, §3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


class LedgerError(RuntimeError):
    """Rows went missing: in != done + filtered + failed."""


@dataclass
class Ledger:
    """Counts of one stage. `notes` counts oddities of rows that were kept (they are inside `done`)."""

    taken: int = 0
    done: int = 0
    filtered: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)

    @property
    def missing(self) -> int:
        """Rows that are accounted for nowhere; 0 where the books balance."""
        return self.taken - self.done - self.filtered.total() - self.failed.total()

    def check(self, where: str) -> None:
        """Raises LedgerError, naming the place, where the counts do not add up."""
        if self.missing:
            raise LedgerError(f"{where}: {self.missing} of {self.taken} rows are unaccounted for ({self.to_json()})")

    def add(self, other: Ledger) -> Ledger:
        """Adds another ledger to this one, in place, and returns this one."""
        self.taken += other.taken
        self.done += other.done
        self.filtered.update(other.filtered)
        self.failed.update(other.failed)
        self.notes.update(other.notes)
        return self

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary with sorted keys."""
        return {
            "in": self.taken,
            "done": self.done,
            "filtered": dict(sorted(self.filtered.items())),
            "failed": dict(sorted(self.failed.items())),
            "notes": dict(sorted(self.notes.items())),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Ledger:
        """The inverse of to_json."""
        return cls(data["in"], data["done"], Counter(data["filtered"]), Counter(data["failed"]), Counter(data["notes"]))


def merge_ledgers(ledgers: Iterable[Ledger]) -> Ledger:
    """The sum of ledgers."""
    total = Ledger()
    for ledger in ledgers:
        total.add(ledger)
    return total

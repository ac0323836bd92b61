"""The books of chat calls: every call is answered or failed for a reason, every attempt and every token is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class CallCounts:
    """Sums over chat calls, which add up across shards and stages.

    calls = answered + failed; of the answered, `cached` came from the response cache and cost nothing now. attempts:
    requests sent. images: pictures of the calls that were sent. retries: requests sent again, by what was wrong with
    the one before. tokens_in, tokens_out: read and written in all attempts whose answer told them, cached replies not
    included (those are cached_tokens). unmetered: answers that told no tokens. store_errors: reads and writes of cached
    replies and transcripts that failed, which lose no more than these. seconds: the sum of the time that calls took,
    from first request to reply.
    """

    calls: int = 0
    answered: int = 0
    cached: int = 0
    attempts: int = 0
    images: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cached_tokens: int = 0
    unmetered: int = 0
    store_errors: int = 0
    seconds: float = 0.0
    retries: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.tokens_in + self.tokens_out

    @property
    def balanced(self) -> bool:
        """Whether every call has an end and every attempt a reason."""
        ended = self.answered + self.failed.total() == self.calls
        return ended and self.attempts == self.calls - self.cached + self.retries.total()

    def add(self, other: CallCounts) -> CallCounts:
        """Adds other sums to these, in place, and returns these."""
        for name, value in vars(other).items():
            mine = getattr(self, name)
            if isinstance(mine, Counter):
                mine.update(value)
            else:
                setattr(self, name, mine + value)
        return self

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary with sorted reasons."""
        counters = {name: dict(sorted(getattr(self, name).items())) for name in ("retries", "failed")}
        return {**vars(self), "seconds": round(self.seconds, 3), **counters}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CallCounts:
        """The inverse of to_json; raises TypeError for anything else."""
        return cls(**{**data, "retries": Counter(data.get("retries")), "failed": Counter(data.get("failed"))})

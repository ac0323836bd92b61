"""Counters of a build for Prometheus, through Ray: its nodes export them beside Ray's own, with the prefix ``ray_``."""

from __future__ import annotations

from typing import Final

from ray.util.metrics import Counter, Gauge

from ray_tasks.engines.counts import CallCounts
from ray_tasks.scheduling.build import Reporter
from ray_tasks.scheduling.tasks import ShardResult

SHARDS: Final = "daybook_shards"
ROWS: Final = "daybook_rows"
LOST_ROWS: Final = "daybook_lost_rows"
BYTES: Final = "daybook_bytes"
TOKENS: Final = "daybook_tokens"
CALLS: Final = "daybook_calls"
SECONDS: Final = "daybook_shard_seconds"
TO_DO: Final = "daybook_shards_to_do"


class MeteredReporter:
    """Counts what a build makes and passes everything on; needs a running Ray.

    Cached shards count as shards only: their rows and seconds belong to the build that made them.
    """

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._wave, self._left = "", 0
        self._shards = Counter(SHARDS, "Shards that came to their end.", ("wave", "outcome"))
        self._rows = Counter(ROWS, "Rows that were put out.", ("stage",))
        self._lost = Counter(LOST_ROWS, "Rows that were filtered or failed.", ("stage", "reason"))
        self._bytes = Counter(BYTES, "Bytes that were written to the store.", ("stage",))
        self._tokens = Counter(TOKENS, "Tokens that models read and wrote.", ("stage",))
        self._calls = Counter(CALLS, "Calls of language models, by how they ended.", ("stage", "ended"))
        self._seconds = Counter(SECONDS, "Seconds of work, by all workers together.", ("stage",))
        self._to_do = Gauge(TO_DO, "Shards of the present wave that are still to be made.", ("wave",))

    def wave_started(self, name: str, total: int, cached: int) -> None:
        """See Reporter."""
        self._wave, self._left = name, total - cached
        self._to_do.set(self._left, {"wave": name})
        _count(self._shards, cached, wave=name, outcome="cached")
        self._reporter.wave_started(name, total, cached)

    def shard_finished(self, result: ShardResult) -> None:
        """See Reporter."""
        self._left -= 1
        self._to_do.set(self._left, {"wave": self._wave})
        _count(self._shards, 1, wave=self._wave, outcome=result.outcome)
        if result.record:
            record = result.record
            _count(self._rows, record.rows, stage=result.stage)
            _count(self._bytes, sum(size for _, size in record.files.values()), stage=result.stage)
            _count(self._tokens, record.tokens, stage=result.stage)
            for ended, count in _ends(CallCounts.from_json(record.extra.get("calls", {}))).items():
                _count(self._calls, count, stage=result.stage, ended=ended)
            _count(self._seconds, record.seconds, stage=result.stage)
            for reason, count in (record.ledger.filtered + record.ledger.failed).items():
                _count(self._lost, count, stage=result.stage, reason=reason)
        self._reporter.shard_finished(result)

    def wave_finished(self, name: str, seconds: float) -> None:
        """See Reporter."""
        self._reporter.wave_finished(name, seconds)


def _ends(calls: CallCounts) -> dict[str, int]:
    """How many calls were answered, from the cache or not, and failed for what reason."""
    return {"answered": calls.answered - calls.cached, "cached": calls.cached, **calls.failed}


def _count(counter: Counter, value: float, **tags: str) -> None:
    """Adds to a counter, which takes positive numbers only."""
    if value > 0:
        counter.inc(value, tags)

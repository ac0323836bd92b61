"""Counts of a run that goes on, frozen into its record now and then."""

from __future__ import annotations

import time

from ray_tasks.engines.counts import CallCounts
from ray_tasks.storage.run_records import StageWork, Wave
from ray_tasks.storage.shards import DoneRecord


class RunningWave:
    """Counts of a wave that goes on."""

    def __init__(self, name: str, total: int, cached: int) -> None:
        self._name, self._total, self._cached = name, total, cached
        self._made = self._failed = 0
        self._began = time.monotonic()
        self._seconds: float | None = None

    def count(self, *, failed: bool) -> None:
        """One more shard."""
        self._failed += failed
        self._made += not failed

    def end(self) -> None:
        """No further shard will come."""
        self._seconds = time.monotonic() - self._began

    def frozen(self) -> Wave:
        """As it is now."""
        seconds = time.monotonic() - self._began if self._seconds is None else self._seconds
        return Wave(
            wave=self._name,
            total=self._total,
            cached=self._cached,
            made=self._made,
            failed=self._failed,
            seconds=round(seconds, 2),
            over=self._seconds is not None,
        )


class StageSums:
    """What a stage's shards have cost so far."""

    def __init__(self) -> None:
        self._made, self._seconds, self._rows, self._gpu_seconds = 0, 0.0, 0, 0.0
        self._tokens_in = self._tokens_out = 0

    def add(self, record: DoneRecord, gpus: float) -> None:
        """One more shard, for which so many GPUs were held."""
        self._made += 1
        self._seconds += record.seconds
        self._rows += record.rows
        self._gpu_seconds += record.seconds * gpus
        calls = CallCounts.from_json(record.extra.get("calls", {}))
        self._tokens_in += calls.tokens_in
        self._tokens_out += calls.tokens_out

    def frozen(self) -> StageWork:
        """As it is now."""
        return StageWork(
            made=self._made,
            seconds=round(self._seconds, 3),
            rows=self._rows,
            gpu_seconds=round(self._gpu_seconds, 3),
            tokens_in=self._tokens_in,
            tokens_out=self._tokens_out,
        )

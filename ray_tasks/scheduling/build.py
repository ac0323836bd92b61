"""A build: wave after wave of shards, each skipped where it is done already, then a memory ready to be published."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import Layout
from ray_tasks.embedding.encoder import encoder_identity
from ray_tasks.extraction.engines import make_extractor
from ray_tasks.extraction.report import AtomReport
from ray_tasks.ledger import Ledger
from ray_tasks.scheduling import planning
from ray_tasks.scheduling.tasks import Executor, ShardResult, ShardTask, WorkerSettings
from ray_tasks.storage.cache import ShardCache
from ray_tasks.storage.shards import DoneRecord, Shard
from ray_tasks.storage.store import ObjectStore

STAGE_ORDER = ("observe", "caption", "extract", "segment", "join", "embed", "index")


class Reporter(Protocol):
    """Hears of a build's progress."""

    def wave_started(self, name: str, total: int, cached: int) -> None:
        """A wave begins: `total` shards, of which `cached` are done already."""
        ...

    def shard_finished(self, result: ShardResult) -> None:
        """A shard was made or failed."""
        ...

    def wave_finished(self, name: str, seconds: float) -> None:
        """All shards of a wave have come to an end."""
        ...


@dataclass
class StageTotals:
    """Sums over the shards of one stage, cached ones included."""

    shards: int = 0
    cached: int = 0
    failed: int = 0
    rows: int = 0
    seconds: float = 0.0
    ledger: Ledger = field(default_factory=Ledger)

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return {**vars(self), "seconds": round(self.seconds, 3), "ledger": self.ledger.to_json()}


@dataclass
class BuildOutcome:
    """Everything a build made: records by stage and shard, sums, failures, and seconds of each wave."""

    records: dict[str, dict[Shard, DoneRecord]]
    totals: dict[str, StageTotals]
    failures: list[ShardResult]
    wave_seconds: dict[str, float]
    encoder: str

    @property
    def made(self) -> int:
        """Shards that had to be made."""
        return sum(total.shards - total.cached - total.failed for total in self.totals.values())

    def source_ledgers(self) -> dict[str, Ledger]:
        """Books of the sources by kind of file, over all hours."""
        ledgers: dict[str, Ledger] = {}
        for record in self.records["observe"].values():
            for kind, ledger in record.extra["ledgers"].items():
                ledgers.setdefault(kind, Ledger()).add(Ledger.from_json(ledger))
        return dict(sorted(ledgers.items()))

    def source_problems(self) -> list[dict[str, Any]]:
        """What was odd about source files, with file and line."""
        return [
            problem for _, record in sorted(self.records["observe"].items()) for problem in record.extra["problems"]
        ]

    def atom_report(self) -> AtomReport:
        """Atoms by view and how self-contained they are."""
        report = AtomReport()
        for stage in ("extract", "join"):
            for record in self.records[stage].values():
                report = report.add(AtomReport.from_json(record.extra["report"]))
        return report


@dataclass
class Build:
    """One run of the stages over a corpus; `run` does it all."""

    store: ObjectStore
    config: BuildConfig
    executor: Executor
    reporter: Reporter
    threads: int
    run_id: str
    use_cache: bool = True

    def run(self, layout: Layout) -> BuildOutcome:
        """Brings every shard of the corpus through all stages; failed shards are left out of what follows."""
        extractor = make_extractor(self.config.engine)
        encoder = encoder_identity(self.config.embedding_model)
        outcome = BuildOutcome({stage: {} for stage in STAGE_ORDER}, {}, [], {}, encoder)
        records = outcome.records
        engine = {"engine": extractor.engine, "version": extractor.version}
        self._wave("observe", planning.observe_tasks(layout), outcome)
        self._wave("caption", planning.caption_tasks(records["observe"]), outcome)
        self._wave("extract", planning.atom_tasks(records["caption"], **engine), outcome)
        self._wave("join", planning.join_tasks(records["segment"], **engine), outcome)
        self._wave("embed", planning.embed_tasks(records["extract"], records["join"], encoder=encoder), outcome)
        broken = {failure.shard.wearer for failure in outcome.failures}
        whole = {
            stage: {shard: record for shard, record in records[stage].items() if shard.wearer not in broken}
            for stage in ("caption", "extract", "join", "embed")
        }
        self._wave("index", planning.index_tasks(*whole.values()), outcome)
        return outcome

    def _wave(self, name: str, tasks: list[ShardTask], outcome: BuildOutcome) -> None:
        started = time.monotonic()
        cache = ShardCache(self.store)
        todo: list[ShardTask] = []
        for task in tasks:
            record = cache.find(task.stage, task.key) if self.use_cache else None
            if record is None:
                todo.append(task)
            else:
                self._book(ShardResult(task.stage, task.shard, task.key, "cached", record), outcome)
        self.reporter.wave_started(name, len(tasks), len(tasks) - len(todo))
        settings = WorkerSettings(
            self.store.url, self.run_id, self.config.engine, self.config.embedding_model, self.threads
        )
        for result in self.executor.run(todo, settings) if todo else ():
            self._book(result, outcome)
            self.reporter.shard_finished(result)
        outcome.wave_seconds[name] = time.monotonic() - started
        self.reporter.wave_finished(name, outcome.wave_seconds[name])

    def _book(self, result: ShardResult, outcome: BuildOutcome) -> None:
        totals = outcome.totals.setdefault(result.stage, StageTotals())
        totals.shards += 1
        if result.record is None:
            totals.failed += 1
            outcome.failures.append(result)
            return
        totals.cached += result.outcome == "cached"
        totals.rows += result.record.rows
        totals.seconds += result.record.seconds
        totals.ledger.add(result.record.ledger)
        outcome.records[result.stage][result.shard] = result.record


def failure_lines(failures: Iterable[ShardResult]) -> list[str]:
    """One line for each failed shard: stage, shard, error class and message."""
    lines = []
    for result in failures:
        assert result.failure is not None
        lines.append(f"{result.stage} {result.shard}: {result.failure.error}: {result.failure.message}")
    return lines

"""A build: wave after wave of shards, each skipped where it is done already, then a memory ready to be published."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import Layout
from ray_tasks.embedding.encoder import encoder_identity
from ray_tasks.engines.messages import RejectedError, UnreachableError
from ray_tasks.errors import DaybookError
from ray_tasks.extraction.engines import make_extractor
from ray_tasks.extraction.report import AtomReport
from ray_tasks.ledger import Ledger
from ray_tasks.scheduling import planning, planning_interactions, planning_words
from ray_tasks.scheduling.models import ModelSource
from ray_tasks.scheduling.planning import Records, compared_by
from ray_tasks.scheduling.planning_words import Footage
from ray_tasks.scheduling.selection import Selection
from ray_tasks.scheduling.statistics import StageTotals
from ray_tasks.scheduling.tasks import STAGE_ORDER, Executor, Finished, ShardResult, ShardTask, WorkerSettings
from ray_tasks.storage.cache import ShardCache
from ray_tasks.storage.shards import DoneRecord, Shard
from ray_tasks.storage.store import ObjectStore

LOOKED_UP_AT_ONCE = 4096
MOST_CUT_OFF = 3
"""Shards that may fail in a row because no model could be reached, for which each has waited for a long time, or
because it takes no requests: the others would fare no better.
"""
CUT_OFF = frozenset({UnreachableError.__name__, RejectedError.__name__})


class ModelGoneError(DaybookError):
    """A build was ended because its language model was away for too long, or takes no requests."""


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
class BuildOutcome:
    """Everything a build made.

    records: what is finished, by stage and shard. indexes, interactions: the whole records of these stages.
    by_wearer: sums by wearer and stage. ledgers: books of the sources by kind of file. problems: what was odd about
    source files, by shard. misplaced: what was odd about the places and names of clips. report: atoms by view.
    wave_seconds: wall seconds of the waves of each stage.
    """

    encoder: str
    records: dict[str, dict[Shard, Finished]] = field(default_factory=lambda: {stage: {} for stage in STAGE_ORDER})
    indexes: dict[Shard, DoneRecord] = field(default_factory=dict)
    interactions: dict[Shard, DoneRecord] = field(default_factory=dict)
    by_wearer: dict[str, dict[str, StageTotals]] = field(default_factory=dict)
    failures: list[ShardResult] = field(default_factory=list)
    ledgers: dict[str, Ledger] = field(default_factory=dict)
    problems: dict[Shard, list[dict[str, Any]]] = field(default_factory=dict)
    misplaced: list[dict[str, Any]] = field(default_factory=list)
    report: AtomReport = field(default_factory=AtomReport)
    wave_seconds: dict[str, float] = field(default_factory=dict)

    @property
    def totals(self) -> dict[str, StageTotals]:
        """Sums by stage over all wearers, of the stages that ran, in their order."""
        sums: dict[str, StageTotals] = {}
        for stage in STAGE_ORDER:
            for stages in self.by_wearer.values():
                if stage in stages:
                    sums.setdefault(stage, StageTotals()).add(stages[stage])
        return sums

    @property
    def made(self) -> int:
        """Shards that had to be made."""
        return sum(totals.made for totals in self.totals.values())

    def whole(self, stage: str) -> dict[Shard, Finished]:
        """What is finished of a stage, of those wearers of whom nothing has failed so far."""
        broken = {failure.shard.wearer for failure in self.failures}
        return {shard: record for shard, record in self.records[stage].items() if shard.wearer not in broken}

    def source_problems(self) -> list[dict[str, Any]]:
        """What was odd about source files, with file and line, in order of shards."""
        return [*self.misplaced, *(problem for _, problems in sorted(self.problems.items()) for problem in problems)]

    def book(self, result: ShardResult) -> None:
        """Takes in what became of one shard: what later stages plan with is kept, the rest is summed up."""
        record = result.record
        stages = self.by_wearer.setdefault(result.shard.wearer, {})
        stages.setdefault(result.stage, StageTotals()).book(record, cached=result.outcome == "cached")
        if record is None:
            self.failures.append(result)
            return
        self.records[result.stage][result.shard] = Finished.of(record)
        if result.stage in ("observe", "describe"):
            for kind, ledger in sorted(record.extra["ledgers"].items()):
                self.ledgers.setdefault(kind, Ledger()).add(Ledger.from_json(ledger))
            if record.extra["problems"]:
                self.problems.setdefault(result.shard, []).extend(record.extra["problems"])
        elif result.stage in ("extract", "join"):
            self.report.add(AtomReport.from_json(record.extra["report"]))
        elif result.stage == "index":
            self.indexes[result.shard] = record
        elif result.stage == "interactions":
            self.interactions[result.shard] = record


@dataclass
class Build:
    """One run of the stages over recordings; `run` does it all. `models` is needed where a stage asks a model."""

    store: ObjectStore
    config: BuildConfig
    executor: Executor
    reporter: Reporter
    threads: int
    run_id: str
    use_cache: bool = True
    selection: Selection | None = None
    models: ModelSource | None = None

    def run(self, layout: Layout, footage: Footage | None = None) -> BuildOutcome:
        """Brings every shard of the recordings through all stages; failed shards are left out of what follows."""
        extractor = make_extractor(self.config)
        encoder = encoder_identity(self.config.embedding_model)
        outcome = BuildOutcome(encoder)
        records = outcome.records
        engine = {"engine": extractor.engine, "version": extractor.version}
        captions = self._captions(layout, footage, outcome)
        self._wave("extract", planning.atom_tasks(captions, **engine), outcome)
        self._wave(
            "join",
            planning.join_tasks(records["segment"], **engine, encoder=compared_by(self.config, encoder)),
            outcome,
        )
        if self.config.records != "none":
            self._wave("records", planning_words.record_tasks(captions, self.config), outcome)
        self._wave("embed", planning.embed_tasks(records["extract"], records["join"], encoder=encoder), outcome)
        self._index(captions, outcome)
        if self.config.records != "none":
            self._compress(encoder, outcome)
        return outcome

    def _captions(self, layout: Layout, footage: Footage | None, outcome: BuildOutcome) -> Records:
        """From source files and video to the captions that all that follows reads."""
        records = outcome.records
        self._wave("observe", planning.observe_tasks(layout), outcome)
        if footage:
            outcome.misplaced = footage.problems()
            self._wave("describe", planning_words.describe_tasks(footage, self.config), outcome)
        read = records["observe"]
        if self.config.translate != "none":
            self._wave("translate", planning_words.translate_tasks(read, self.config), outcome)
            read = records["translate"]
        self._wave("caption", planning.caption_tasks(read, records["describe"]), outcome)
        if self.config.prose == "none":
            return records["caption"]
        self._wave("narrate", planning_words.narrate_tasks(records["caption"], self.config), outcome)
        return records["narrate"]

    def _index(self, captions: Records, outcome: BuildOutcome) -> None:
        """Indexes what was embedded; lists are trained and filled only where a view is large enough for them."""
        records, large = outcome.records, {"ivf_from_rows": self.config.ivf_from_rows}
        upstream = (records[stage] for stage in ("extract", "join", "embed"))
        self._wave("part", planning.part_tasks(captions, *upstream), outcome)
        if tasks := planning.train_tasks(outcome.whole("part"), **large):
            self._wave("train", tasks, outcome)
            self._wave("fill", planning.fill_tasks(outcome.whole("part"), records["train"], **large), outcome)
        whole = (outcome.whole(stage) for stage in ("part", "train", "fill"))
        self._wave("index", planning.index_tasks(*whole), outcome)

    def _compress(self, encoder: str, outcome: BuildOutcome) -> None:
        """Makes Imprint's memory of the records: day after day, since each goes on from the day before."""
        settings = self.config.compression
        self._wave("phrases", planning_interactions.phrase_tasks(outcome.whole("records"), encoder=encoder), outcome)

        def upstream() -> tuple[Records, Records, Records]:
            return outcome.whole("records"), outcome.whole("phrases"), outcome.whole("compress")

        while tasks := planning_interactions.compress_tasks(*upstream(), settings):
            self._wave("compress", tasks, outcome)
        self._wave("interactions", planning_interactions.interaction_tasks(*upstream(), settings), outcome)

    def _wave(self, name: str, tasks: list[ShardTask], outcome: BuildOutcome) -> None:
        if self.selection:
            tasks = [task for task in tasks if self.selection.includes(task.stage, task.shard)]
            if not tasks:
                return
        started = time.monotonic()
        todo: list[ShardTask] = []
        # In slices, because whole records of all shards of thousands of wearers would not fit the driver's memory.
        for start in range(0, len(tasks), LOOKED_UP_AT_ONCE):
            todo.extend(self._book_cached(tasks[start : start + LOOKED_UP_AT_ONCE], outcome))
        self.reporter.wave_started(name, len(tasks), len(tasks) - len(todo))
        cut_off = 0
        for result in self.executor.run(todo, self._settings(todo)) if todo else ():
            outcome.book(result)
            self.reporter.shard_finished(result)
            cut_off = cut_off + 1 if result.failure and result.failure.error in CUT_OFF else 0
            if cut_off == MOST_CUT_OFF:
                raise ModelGoneError(
                    f"{name}: the language model does not answer ({result.failure and result.failure.message}); "
                    "finished shards are kept, so run the same command again when it does"
                )
        seconds = time.monotonic() - started
        outcome.wave_seconds[name] = outcome.wave_seconds.get(name, 0.0) + seconds
        self.reporter.wave_finished(name, seconds)

    def _settings(self, todo: Sequence[ShardTask]) -> WorkerSettings:
        """What workers need for these tasks; the models that they will ask answer from now on."""
        config = self.config
        for stage in sorted({task.stage for task in todo}):
            if self.models:
                config = self.models.ready(stage, config)
        return WorkerSettings(self.store.url, self.run_id, config, self.threads)

    def _book_cached(self, tasks: Sequence[ShardTask], outcome: BuildOutcome) -> Iterator[ShardTask]:
        """Books the shards that are done already and yields the others."""
        wanted = ((task.stage, task.key) for task in tasks)
        found = ShardCache(self.store).find_many(wanted) if self.use_cache else {}
        for task in tasks:
            record = found.get((task.stage, task.key))
            if record is None:
                yield task
            else:
                outcome.book(ShardResult(task.stage, task.shard, task.key, "cached", record))

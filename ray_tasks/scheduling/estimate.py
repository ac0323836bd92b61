"""What a build would do, before anything is paid for: shards by stage, those done already, and the time they will take.

A stage's keys follow from the output of the stage before. Where that output is in the cache the plan is exact; behind a
shard that is still to be made, everything that depends on it counts as to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import Layout
from ray_tasks.embedding.encoder import encoder_identity
from ray_tasks.extraction.engines import make_extractor
from ray_tasks.scheduling import planning
from ray_tasks.scheduling.tasks import Finished, ShardTask
from ray_tasks.storage.cache import ShardCache
from ray_tasks.storage.shards import Shard
from ray_tasks.storage.store import ObjectStore


@dataclass
class StagePlan:
    """Shards of one stage: done already, and to do (seconds of work for each from the last build, None if unknown)."""

    cached: int = 0
    to_do: int = 0
    seconds_each: float | None = None

    @property
    def seconds(self) -> float | None:
        """Seconds of work to do."""
        if self.to_do == 0:
            return 0.0
        return None if self.seconds_each is None else self.to_do * self.seconds_each


@dataclass
class Plan:
    """The plan of a build, by stage in order."""

    stages: dict[str, StagePlan] = field(default_factory=dict)

    @property
    def to_do(self) -> int:
        """Shards to make."""
        return sum(stage.to_do for stage in self.stages.values())

    def seconds(self, cpus: int) -> float | None:
        """Wall seconds on so many CPUs (encoders use all of a machine); None where a stage's rate is unknown."""
        total = 0.0
        for name, stage in self.stages.items():
            if stage.seconds is None:
                return None
            total += stage.seconds / (1 if name == "embed" else cpus)
        return total

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        stages = {
            name: {"cached": stage.cached, "to_do": stage.to_do, "work_seconds": stage.seconds}
            for name, stage in self.stages.items()
        }
        return {"stages": stages, "to_do": self.to_do}


def plan_build(
    layout: Layout, store: ObjectStore, config: BuildConfig, last_build: Mapping[str, Any] | None = None
) -> Plan:
    """The plan for a corpus; `last_build` is the `build` part of a manifest, from whose rates times are estimated."""
    return _Planner(ShardCache(store), config, _rates(last_build)).plan(layout)


def _rates(last_build: Mapping[str, Any] | None) -> dict[str, float]:
    stages = (last_build or {}).get("stages", {})
    return {name: totals["seconds"] / totals["shards"] for name, totals in stages.items() if totals["shards"]}


class _Planner:
    def __init__(self, cache: ShardCache, config: BuildConfig, rates: Mapping[str, float]) -> None:
        self._cache, self._config, self._rates = cache, config, rates
        self._plan = Plan()

    def plan(self, layout: Layout) -> Plan:
        """Walks the stages as a build would, on records alone."""
        extractor = make_extractor(self._config.engine)
        engine = {"engine": extractor.engine, "version": extractor.version}
        encoder = encoder_identity(self._config.embedding_model)
        observed, open_hours = self._stage("observe", planning.observe_tasks(layout), set(), lambda shard: shard)
        captions, open_hours = self._stage("caption", planning.caption_tasks(observed), open_hours, lambda shard: shard)
        both = planning.atom_tasks(captions, **engine)
        extracted, unextracted = self._stage("extract", _of("extract", both), open_hours, lambda shard: shard)
        segments, unsegmented = self._stage("segment", _of("segment", both), open_hours, lambda shard: shard)
        joined, open_days = self._stage("join", planning.join_tasks(segments, **engine), unsegmented, _day)
        tasks = planning.embed_tasks(extracted, joined, encoder=encoder)
        embedded, unembedded = self._stage("embed", tasks, unextracted | open_days, lambda shard: shard)
        index = planning.index_tasks(captions, extracted, joined, embedded)
        self._stage("index", index, unembedded | open_hours, _wearer)
        return self._plan

    def _stage(
        self, name: str, tasks: Iterable[ShardTask], behind: set[Shard], unit: Callable[[Shard], Shard]
    ) -> tuple[dict[Shard, Finished], set[Shard]]:
        """Books a stage: its finished records, and the shards to do (unknown inputs `behind` count by their unit)."""
        records: dict[Shard, Finished] = {}
        to_do = {unit(shard) for shard in behind}
        for task in tasks:
            record = None if task.shard in to_do else self._cache.find(task.stage, task.key, verify=False)
            if record is None:
                to_do.add(task.shard)
            else:
                records[task.shard] = Finished.of(record)
        self._plan.stages[name] = StagePlan(len(records), len(to_do), self._rates.get(name))
        return records, to_do


def _of(stage: str, tasks: Iterable[ShardTask]) -> list[ShardTask]:
    return [task for task in tasks if task.stage == stage]


def _day(shard: Shard) -> Shard:
    return Shard(shard.wearer, shard.day)


def _wearer(shard: Shard) -> Shard:
    return Shard(shard.wearer)

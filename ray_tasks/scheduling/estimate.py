"""What a build would do, before anything is paid for: shards by stage, those done already, and the time they will take.

A stage's keys follow from the output of the stage before. Where that output is in the cache the plan is exact; behind a
shard that is still to be made, everything that depends on it counts as to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ray_tasks.config import BuildConfig
from ray_tasks.embedding.encoder import encoder_identity
from ray_tasks.engines.counts import CallCounts
from ray_tasks.extraction.engines import make_extractor
from ray_tasks.scheduling import planning, planning_interactions, planning_words
from ray_tasks.scheduling.models import WAITING_CPUS, model_of
from ray_tasks.scheduling.plan_figures import UNKNOWN, Plan, StagePlan
from ray_tasks.scheduling.planning import compared_by
from ray_tasks.scheduling.selection import Recordings, Selection
from ray_tasks.scheduling.tasks import ENCODER_STAGES, Finished, ShardTask
from ray_tasks.storage.cache import ShardCache
from ray_tasks.storage.run_rates import Rate, read_rates
from ray_tasks.storage.shards import Shard
from ray_tasks.storage.store import ObjectStore


def plan_build(
    recordings: Recordings, store: ObjectStore, config: BuildConfig, last_build: Mapping[str, Any] | None = None
) -> Plan:
    """The plan for recordings, or for a selection of their hours.

    Times come from the rates that the last runs left in the store and, for stages without, from `last_build`, the
    `build` part of a manifest.
    """
    rates, source = known_rates(store, last_build)
    plan = _Planner(ShardCache(store), config, rates, recordings.selection).plan(recordings)
    plan.source = source
    return plan


def known_rates(store: ObjectStore, last_build: Mapping[str, Any] | None) -> tuple[dict[str, Rate], str]:
    """What a shard of each stage takes, and in words how that is known."""
    rates: dict[str, Rate] = {}
    for name, totals in ((last_build or {}).get("stages") or {}).items():
        if totals["shards"]:
            calls = CallCounts.from_json(totals.get("calls", {}))
            rates[name] = Rate(
                made=totals["shards"] - totals.get("failed", 0),
                seconds=totals["seconds"],
                tokens_in=calls.tokens_in,
                tokens_out=calls.tokens_out,
            )
    recorded, _ = read_rates(store)
    parts = [f"the runs up to {recorded.run_id}"] if recorded.stages else []
    if set(rates) - set(recorded.stages):
        parts.append("the current memory")
    return rates | dict(recorded.stages), " and ".join(parts) or UNKNOWN


class _Planner:
    def __init__(
        self, cache: ShardCache, config: BuildConfig, rates: Mapping[str, Rate], selection: Selection | None
    ) -> None:
        self._cache, self._config, self._rates, self._selection = cache, config, rates, selection
        self._plan = Plan()

    def plan(self, recordings: Recordings) -> Plan:
        """Walks the stages as a build would, on records alone."""
        extractor = make_extractor(self._config)
        engine = {"engine": extractor.engine, "version": extractor.version}
        encoder = encoder_identity(self._config.embedding_model)
        captions, open_hours = self._captions(recordings)
        both = planning.atom_tasks(captions, **engine)
        extracted, unextracted = self._stage("extract", _of("extract", both), open_hours, _same)
        segments, unsegmented = self._stage("segment", _of("segment", both), open_hours, _same)
        joined, open_days = self._stage(
            "join",
            planning.join_tasks(segments, **engine, encoder=compared_by(self._config, encoder)),
            unsegmented,
            _day,
        )
        recorded: dict[Shard, Finished] = {}
        unrecorded: set[Shard] = set()
        if self._config.records != "none":
            tasks = planning_words.record_tasks(captions, self._config)
            recorded, unrecorded = self._stage("records", tasks, open_hours, _same)
        tasks = planning.embed_tasks(extracted, joined, encoder=encoder)
        embedded, unembedded = self._stage("embed", tasks, unextracted | open_days, _same)
        self._index(planning.part_tasks(captions, extracted, joined, embedded), unembedded)
        if self._config.records != "none":
            self._interactions(recorded, unrecorded, encoder)
        return self._plan

    def _captions(self, recordings: Recordings) -> tuple[dict[Shard, Finished], set[Shard]]:
        """From source files and video to captions: those that are done, and the hours that are not."""
        config, footage = self._config, recordings.footage
        read, open_hours = self._stage("observe", planning.observe_tasks(recordings.layout), set(), _same)
        seen: dict[Shard, Finished] = {}
        unseen: set[Shard] = set()
        if footage:
            seen, unseen = self._stage("describe", planning_words.describe_tasks(footage, config), set(), _same)
        if config.translate != "none":
            tasks = planning_words.translate_tasks(read, config)
            read, open_hours = self._stage("translate", tasks, open_hours, _same)
        tasks = planning.caption_tasks(read, seen)
        captions, open_hours = self._stage("caption", tasks, open_hours | unseen, _same)
        if config.prose != "none":
            tasks = planning_words.narrate_tasks(captions, config)
            captions, open_hours = self._stage("narrate", tasks, open_hours, _same)
        return captions, open_hours

    def _index(self, tasks: list[ShardTask], unembedded: set[Shard]) -> None:
        """From parts to indexes. Behind parts to do, lists are planned for where the known parts are many enough."""
        large = {"ivf_from_rows": self._config.ivf_from_rows}
        parts, open_parts = self._stage("part", tasks, unembedded, _same)
        lists = planning.trained_views(parts, **large)
        unknown = {shard for shard in open_parts if shard.wearer in lists}
        trained, untrained = self._stage("train", planning.train_tasks(parts, **large), unknown, _wearer)
        refilled = {
            shard
            for shard, record in parts.items()
            if _wearer(shard) in untrained and not lists[shard.wearer].keys().isdisjoint(record.extra["counts"])
        }
        tasks = planning.fill_tasks(parts, trained, **large)
        filled, open_fills = self._stage("fill", tasks, unknown | refilled, _same)
        self._stage("index", planning.index_tasks(parts, trained, filled), open_parts | open_fills, _wearer)

    def _interactions(self, records: dict[Shard, Finished], unrecorded: set[Shard], encoder: str) -> None:
        """From records to Imprint's memory; what follows a day to do is to do."""
        settings = self._config.compression
        tasks = planning_interactions.phrase_tasks(records, encoder=encoder)
        phrases, open_days = self._stage("phrases", tasks, unrecorded, _day)
        compressed: dict[Shard, Finished] = {}
        # Of each wearer, the first day to do: that day and those after it are not looked up.
        stops = {_wearer(day): day for day in sorted(open_days, reverse=True)}
        while tasks := [
            task
            for task in planning_interactions.compress_tasks(records, phrases, compressed, settings)
            if (stop := stops.get(_wearer(task.shard))) is None or task.shard < stop
        ]:
            done, to_do = self._found(tasks)
            compressed |= done
            stops |= {_wearer(day): day for day in to_do}
        behind = open_days | (phrases.keys() - compressed.keys())
        wearers = {_wearer(day) for day in behind}
        self._plan.stages["compress"] = self._booked("compress", len(compressed), len(behind))
        whole = {day: record for day, record in phrases.items() if _wearer(day) not in wearers}
        tasks = planning_interactions.interaction_tasks(records, whole, compressed, settings)
        self._stage("interactions", tasks, behind, _wearer)

    def _stage(
        self, name: str, tasks: Iterable[ShardTask], behind: set[Shard], unit: Callable[[Shard], Shard]
    ) -> tuple[dict[Shard, Finished], set[Shard]]:
        """Books a stage: its finished records, and the shards to do (unknown inputs `behind` count by their unit)."""
        to_do = {shard for shard in map(unit, behind) if self._wanted(name, shard)}
        unknown = [task for task in tasks if task.shard not in to_do and self._wanted(name, task.shard)]
        records, missing = self._found(unknown)
        to_do |= missing
        self._plan.stages[name] = self._booked(name, len(records), len(to_do))
        return records, to_do

    def _found(self, tasks: Iterable[ShardTask]) -> tuple[dict[Shard, Finished], set[Shard]]:
        """Of some tasks, the records of those that are done, and the shards of the others."""
        wanted = list(tasks)
        found = self._cache.find_many(((task.stage, task.key) for task in wanted), verify=False)
        records = {
            task.shard: Finished.of(found[task.stage, task.key]) for task in wanted if (task.stage, task.key) in found
        }
        return records, {task.shard for task in wanted} - records.keys()

    def _wanted(self, stage: str, shard: Shard) -> bool:
        return self._selection is None or self._selection.includes(stage, shard)

    def _booked(self, stage: str, cached: int, to_do: int) -> StagePlan:
        rate = self._rates.get(stage, Rate())
        gpus = rate.gpu_seconds / rate.seconds if rate.seconds else 0.0
        if stage in ENCODER_STAGES and self._config.encoder_gpus is not None:
            gpus = self._config.encoder_gpus
        planned = StagePlan(cached, to_do, rate.seconds_each, gpus, all_cpus=stage in ENCODER_STAGES and not gpus)
        if model := model_of(stage, self._config):
            planned.tokens_each, planned.prices = rate.tokens_each, model.prices
            planned.cpus = 1.0 if stage == "describe" else WAITING_CPUS
        return planned


def _of(stage: str, tasks: Iterable[ShardTask]) -> list[ShardTask]:
    return [task for task in tasks if task.stage == stage]


def _same(shard: Shard) -> Shard:
    return shard


def _day(shard: Shard) -> Shard:
    return Shard(shard.wearer, shard.day)


def _wearer(shard: Shard) -> Shard:
    return Shard(shard.wearer)

"""From finished shards to the tasks of the next stage: which inputs each has, and the key that follows from them.

A key is made of the digests of what a shard really reads (of an hour's rows, of a five-minute halo), not of its inputs'
keys. So a change runs again exactly the shards that depend on it, and stops where the output comes out the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, Final

from ray_tasks.corpus.layout import Layout, content_hash, plan_sources
from ray_tasks.scheduling.tasks import Finished, ShardTask
from ray_tasks.storage.shards import Shard, content_key

STAGE_VERSIONS: Final[Mapping[str, str]] = {
    "observe": "2",
    "caption": "1",
    "extract": "1",
    "segment": "1",
    "join": "1",
    "embed": "1",
    "index": "1",
}
"""Raise a version whenever the code of a stage gives another output for the same input."""

Records = Mapping[Shard, Finished]


def observe_tasks(layout: Layout) -> list[ShardTask]:
    """One task for each hour that has source files."""
    tasks = []
    for (wearer, day, hour), files in plan_sources(layout).items():
        entries = [{**asdict(file), "path": str(file.path.resolve())} for file in files]
        # Where a file lies does not decide what is in it, but its name, kind and offset do.
        identity = [[file.label, file.kind, file.base_ms, content_hash(file)] for file in files]
        tasks.append(_task("observe", Shard(wearer, day, hour), identity, {"files": entries}))
    return tasks


def caption_tasks(observed: Records) -> list[ShardTask]:
    """One task for each hour in which an observation starts, whatever files it comes from."""
    touching: dict[Shard, list[tuple[str, str]]] = defaultdict(list)
    for _, record in sorted(observed.items()):
        for shard, digest in record.extra["touches"].items():
            touching[Shard.parse(shard)].append((digest, record.key))
    return [
        _task("caption", shard, [digest for digest, _ in inputs], {"observe": [key for _, key in inputs]})
        for shard, inputs in sorted(touching.items())
    ]


def atom_tasks(captions: Records, *, engine: str, version: str) -> list[ShardTask]:
    """Fine and coarse extraction of each hour of captions, with the end of the hour before as halo."""
    tasks: list[ShardTask] = []
    for shard, record in sorted(captions.items()):
        before = captions.get(_hour_before(shard))
        tail = before.extra["tail"] if before else None
        inputs = {"caption": record.key, "halo": before.key if before and tail else None}
        identity = [engine, version, record.digest, tail]
        tasks.extend(_task(stage, shard, identity, inputs) for stage in ("extract", "segment"))
    return tasks


def _hour_before(shard: Shard) -> Shard:
    assert shard.day is not None and shard.hour is not None
    hours = (shard.day - 1) * 24 + shard.hour - 1
    return Shard(shard.wearer, hours // 24 + 1, hours % 24)


def join_tasks(segments: Records, *, engine: str, version: str) -> list[ShardTask]:
    """One task for each wearer and day."""
    days: dict[Shard, list[Finished]] = defaultdict(list)
    for shard, record in sorted(segments.items()):
        days[Shard(shard.wearer, shard.day)].append(record)
    return [
        _task("join", day, [engine, version, *_digests(records)], {"segment": [record.key for record in records]})
        for day, records in sorted(days.items())
    ]


def embed_tasks(extracted: Records, joined: Records, *, encoder: str) -> list[ShardTask]:
    """One task for each shard of atoms: hours of actions and utterances, days of activities and conversations."""
    return [
        _task("embed", shard, [encoder, record.digest], {"stage": record.stage, "key": record.key})
        for records in (extracted, joined)
        for shard, record in sorted(records.items())
    ]


def index_tasks(captions: Records, extracted: Records, joined: Records, embedded: Records) -> list[ShardTask]:
    """One task for each wearer."""
    stages = {"caption": captions, "extract": extracted, "join": joined, "embed": embedded}
    parts: dict[str, dict[str, list[Finished]]] = defaultdict(lambda: {stage: [] for stage in stages})
    for stage, records in stages.items():
        for shard, record in sorted(records.items(), key=_by_shard):
            parts[shard.wearer][stage].append(record)
    tasks = []
    for wearer in sorted({shard.wearer for shard in captions}):
        identity = {stage: _digests(records) for stage, records in parts[wearer].items()}
        inputs = {stage: [record.key for record in records] for stage, records in parts[wearer].items()}
        tasks.append(_task("index", Shard(wearer), identity, inputs))
    return tasks


def _by_shard(item: tuple[Shard, Finished]) -> tuple[str, int, int]:
    shard = item[0]
    return shard.wearer, shard.day or 0, -1 if shard.hour is None else shard.hour


def _digests(records: Iterable[Finished]) -> list[str]:
    return [record.digest for record in records]


def _task(stage: str, shard: Shard, identity: Any, inputs: Mapping[str, Any]) -> ShardTask:
    return ShardTask(stage, shard, content_key(stage, STAGE_VERSIONS[stage], str(shard), identity), inputs)

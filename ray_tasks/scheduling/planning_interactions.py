"""Tasks of the stages that make Imprint's memory of interaction records.

    records (each hour) -> phrases (each day) -> compress (each day, after the day before) -> interactions (each wearer)

A day here holds the records that end in it: those of its hours, and those that run over midnight from the day before.
"""

from __future__ import annotations

from collections import defaultdict

from ray_tasks.compression.settings import CompressionSettings
from ray_tasks.scheduling.planning import Records, digests, make_task
from ray_tasks.scheduling.tasks import Finished, ShardTask
from ray_tasks.storage.shards import Shard


def phrase_tasks(records: Records, *, encoder: str) -> list[ShardTask]:
    """One task for each wearer and day in which a record ends."""
    return [
        make_task("phrases", day, [encoder, digests(read)], {"records": [record.key for record in read]})
        for day, read in sorted(records_by_day(records).items())
    ]


def records_by_day(records: Records) -> dict[Shard, list[Finished]]:
    """By wearer and day, the hours with a record that ends in it."""
    days: dict[Shard, list[Finished]] = defaultdict(list)
    for shard, record in sorted(records.items()):
        for day in record.extra["ends"]:
            days[Shard(shard.wearer, day)].append(record)
    return days


def compress_tasks(
    records: Records, phrases: Records, compressed: Records, settings: CompressionSettings
) -> list[ShardTask]:
    """The first day of each wearer that is not compressed yet; to be called again when these are, until none is left.

    A day goes on from the state that the day before left, so a new day costs that day alone.
    """
    tasks: list[ShardTask] = []
    by_day = records_by_day(records)
    for days in _days_by_wearer(phrases).values():
        done = [day for day in days if day in compressed]
        if len(done) < len(days):
            day = days[len(done)]
            before = compressed[done[-1]] if done else None
            identity = [settings.model_dump(), phrases[day].digest, digests(by_day[day]), before and before.digest]
            inputs = {
                "records": [record.key for record in by_day[day]],
                "phrases": phrases[day].key,
                "before": before.key if before else None,
            }
            tasks.append(make_task("compress", day, identity, inputs))
    return tasks


def interaction_tasks(
    records: Records, phrases: Records, compressed: Records, settings: CompressionSettings
) -> list[ShardTask]:
    """One task for each wearer all of whose days are compressed."""
    by_day = records_by_day(records)
    tasks: list[ShardTask] = []
    for wearer, days in _days_by_wearer(phrases).items():
        if all(day in compressed for day in days):
            read = {record.key: record for day in days for record in by_day[day]}
            chains = [phrases[day] for day in days], [compressed[day] for day in days]
            identity = [settings.model_dump(), digests(read.values()), *map(digests, chains)]
            inputs = {
                "records": list(read),
                "phrases": [record.key for record in chains[0]],
                "compress": [record.key for record in chains[1]],
            }
            tasks.append(make_task("interactions", Shard(wearer), identity, inputs))
    return tasks


def _days_by_wearer(phrases: Records) -> dict[str, list[Shard]]:
    """The days of each wearer, both in order."""
    days: dict[str, list[Shard]] = defaultdict(list)
    for day in sorted(phrases):
        days[day.wearer].append(day)
    return days

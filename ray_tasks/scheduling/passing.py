"""What stages of captions take in and hand back: rows as files, with what the next stage plans with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from ray_tasks.corpus.fuse import Clip
from ray_tasks.corpus.week_time import HOUR_MS, day_of, hour_of, week_ms
from ray_tasks.engines.counts import CallCounts
from ray_tasks.extraction.types import CONTEXT_MS
from ray_tasks.ledger import Ledger
from ray_tasks.rows import (
    CAPTION_SCHEMA,
    OBSERVATION_SCHEMA,
    Caption,
    Observation,
    from_table,
    to_table,
    vectors_to_table,
)
from ray_tasks.scheduling.tasks import ShardTask, StageOutput
from ray_tasks.scheduling.worker import CLIPS_FILE, Worker
from ray_tasks.storage.cache import DATA_FILE, table_bytes
from ray_tasks.storage.shards import Shard, content_key


def hour_end(shard: Shard) -> int:
    """The end of a shard's hour (week time, ms)."""
    assert shard.day is not None and shard.hour is not None
    return week_ms(shard.day, (shard.hour + 1) * HOUR_MS)


def captions_and_halo(task: ShardTask, worker: Worker) -> tuple[list[Caption], list[Caption]]:
    """The captions of an hour and those of the five minutes before it."""
    captions = from_table(worker.table(*task.inputs["caption"]), Caption)
    if not task.inputs["halo"]:
        return captions, []
    start = hour_end(task.shard) - HOUR_MS
    before = from_table(worker.table(*task.inputs["halo"]), Caption)
    return captions, [caption for caption in before if caption.start_ms >= start - CONTEXT_MS]


def table_output(
    table: pa.Table, ledger: Ledger, extra: Mapping[str, Any] | None = None, calls: CallCounts | None = None
) -> StageOutput:
    """One table as a shard's only file."""
    return StageOutput({DATA_FILE: table_bytes(table)}, len(table), ledger, extra or {}, calls=calls or CallCounts())


def vectors_output(owners: Sequence[str], texts: list[str], worker: Worker) -> StageOutput:
    """The unit vectors of texts, by their owners, as a shard's only file."""
    table = vectors_to_table(owners, worker.encoder(texts))
    data = table_bytes(table, dictionary=False)
    ledger = Ledger(taken=len(texts), done=len(table))
    return StageOutput({DATA_FILE: data}, len(table), ledger, tokens=worker.encoder.count_tokens(texts))


def observations_output(
    wearer: str,
    observations: Sequence[Observation],
    clips: Mapping[int, Clip],
    ledger: Ledger,
    extra: Mapping[str, Any],
    calls: CallCounts | None = None,
) -> StageOutput:
    """Observations and clips of one wearer, with digests of what lands in each hour: captions depend on those."""
    hours: dict[Shard, list[tuple[object, ...]]] = {}
    for row in observations:
        shard = Shard(row.wearer, day_of(row.start_ms), hour_of(row.start_ms))
        hours.setdefault(shard, []).append((row.start_ms, row.end_ms, row.modality, row.speaker, row.text, row.lang))
    for window, clip in clips.items():
        # A clip without rows makes no caption, so it touches only hours that have rows.
        shard = Shard(wearer, day_of(window), hour_of(window))
        if shard in hours:
            hours[shard].append((window, *clip))
    touches = {str(shard): content_key(rows) for shard, rows in sorted(hours.items())}
    table = to_table(observations, OBSERVATION_SCHEMA)
    # Clips stay out of the record, which the driver of a build reads for every hour of every wearer.
    windows = {str(window): list(clip) for window, clip in sorted(clips.items())}
    made = {DATA_FILE: table_bytes(table), CLIPS_FILE: json.dumps(windows).encode()}
    return StageOutput(made, len(table), ledger, {"touches": touches, **extra}, calls=calls or CallCounts())


def captions_output(
    captions: Sequence[Caption], shard: Shard, ledger: Ledger, calls: CallCounts | None = None
) -> StageOutput:
    """The captions of an hour, with a digest of its last five minutes: atoms of the next hour depend on those."""
    tail = [asdict(caption) for caption in captions if caption.start_ms >= hour_end(shard) - CONTEXT_MS]
    extra = {"tail": content_key(tail) if tail else None}
    return table_output(to_table(captions, CAPTION_SCHEMA), ledger, extra, calls)

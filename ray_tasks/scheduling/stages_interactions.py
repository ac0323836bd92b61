"""The stages that make Imprint's memory of interaction records, as thin functions over ray_tasks/compression."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ray_tasks.compression.files import compressed_table, full_phrases, in_order, write_interactions
from ray_tasks.compression.online import Compressor
from ray_tasks.compression.state_file import read_state, state_bytes
from ray_tasks.corpus.week_time import DAY_MS
from ray_tasks.embedding.whole_vectors import Float32, whole_vectors
from ray_tasks.ledger import Ledger
from ray_tasks.rows import vectors_from_table
from ray_tasks.scheduling.passing import vectors_output
from ray_tasks.scheduling.tasks import ShardTask, StageOutput
from ray_tasks.scheduling.worker import Worker
from ray_tasks.storage.cache import DATA_FILE, table_bytes
from ray_tasks.storage.shards import Shard

STATE_FILE: Final = "state.parquet"


def embed_phrases(task: ShardTask, worker: Worker) -> StageOutput:
    """The distinct actions, objects and both together of a day's records to unit vectors."""
    records = _records_of(task.shard, task.inputs["records"], worker)
    columns = (records.column(name).to_pylist() for name in ("action", "object"))
    phrases = sorted({*full_phrases(records), *(text for column in columns for text in column)} - {""})
    return vectors_output(phrases, phrases, worker)


def compress_day(task: ShardTask, worker: Worker) -> StageOutput:
    """The records of a day, compressed from where the day before stopped, and the state that the next goes on from."""
    settings = worker.settings.config.compression
    records = _records_of(task.shard, task.inputs["records"], worker)
    known = _Vectors([task.inputs["phrases"]], worker)
    vectors = known.unit(full_phrases(records))
    if task.inputs["before"]:
        earlier = worker.record("compress", task.inputs["before"])
        compressor = Compressor.resume(read_state(worker.cache.read_file(earlier, STATE_FILE)), settings)
    else:
        compressor = Compressor(vectors.shape[1], settings)
    made = compressor.feed(vectors, records.column("start_ms").to_numpy(), records.column("end_ms").to_numpy())
    state = compressor.state
    kept = int(made.kept.sum())
    ledger = Ledger(taken=len(records), done=kept)
    ledger.filtered["not_important"] = len(records) - kept
    extra = {
        "entries": state.entry_sums.shape[1],
        "prototypes": len(state.recurrences),
        "assigned": made.assignments(),
    }
    files = {DATA_FILE: table_bytes(compressed_table(records, made)), STATE_FILE: state_bytes(state)}
    return StageOutput(files, kept, ledger, extra)


def merge_interactions(task: ShardTask, worker: Worker) -> StageOutput:
    """All days of a wearer to the two files of its memory."""
    compressed = pa.concat_tables([worker.table("compress", key) for key in task.inputs["compress"]])
    records = in_order(pa.concat_tables([worker.table("records", key) for key in task.inputs["records"]]))
    if records.column("record_id").to_pylist() != compressed.column("record_id").to_pylist():
        raise ValueError(f"the days of {task.shard} do not hold its records in their order")
    known = _Vectors(task.inputs["phrases"], worker)
    scratch = tempfile.TemporaryDirectory(prefix="daybook-interactions-")
    try:
        settings = worker.settings.config.compression
        files = write_interactions(Path(scratch.name), records, compressed, known.whole, settings)
    except BaseException:
        scratch.cleanup()
        raise
    return StageOutput(files, len(records), Ledger(taken=len(records), done=len(records)), scratch=scratch)


def _records_of(day: Shard, keys: Iterable[str], worker: Worker) -> pa.Table:
    """The records that end in a day, in the order in which compression meets them."""
    table = pa.concat_tables([worker.table("records", key) for key in keys])
    assert day.day is not None
    days = pc.add(pc.divide(table.column("end_ms"), DAY_MS), 1)
    return in_order(table.filter(pc.equal(days, day.day)))


class _Vectors:
    """The vectors of phrases, from some days' shards."""

    def __init__(self, keys: Iterable[str], worker: Worker) -> None:
        table = pa.concat_tables([worker.table("phrases", key) for key in keys])
        owners = table.column("owner_id").to_pylist()
        self._place = {owners[place]: place for place in reversed(range(len(owners)))}  # that of its first day
        self._matrix = vectors_from_table(table)

    def unit(self, phrases: Sequence[str]) -> Float32:
        """(n, d) unit vectors of phrases; zeros for an empty one."""
        vectors = np.zeros((len(phrases), self._matrix.shape[1]), np.float32)
        told = [number for number, phrase in enumerate(phrases) if phrase]
        vectors[told] = self._matrix[[self._place[phrases[number]] for number in told]]
        return vectors

    def whole(self, phrases: Sequence[str]) -> Float32:
        """(n, d) whole vectors of phrases."""
        return whole_vectors(self.unit(phrases))

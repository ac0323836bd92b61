"""The stages that make a memory's indexes: part, train, fill and index, as thin functions over ray_tasks/index.

    embed -> part (each shard) -> train (large views) -> fill (each shard) -> index (merge)

Train and fill run for views above `ivf_from_rows` alone. No stage after `part` reads vectors from Parquet.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ray_tasks.index.inverted import SAMPLES_PER_LIST, fill_template, lists_for, train_template
from ray_tasks.index.memory import CAPTION_VIEW
from ray_tasks.index.merging import PartFiles, merge_parts
from ray_tasks.index.parts import build_part, flat_vectors
from ray_tasks.index.search import Float32
from ray_tasks.ledger import Ledger
from ray_tasks.rows import vectors_from_table
from ray_tasks.scheduling.tasks import ShardTask, StageOutput
from ray_tasks.storage.shards import DoneRecord

if TYPE_CHECKING:
    from ray_tasks.scheduling.worker import Worker


def make_part(task: ShardTask, worker: Worker) -> StageOutput:
    """The atoms, vectors and captions of one shard to Flat indexes by view, with their rows beside them."""
    inputs = task.inputs
    atoms, table = worker.table(*inputs["atoms"]), worker.table(*inputs["vectors"])
    captions = worker.table(*inputs["captions"]) if "captions" in inputs else None
    matrix = vectors_from_table(table)
    owners = {owner: row for row, owner in enumerate(table.column("owner_id").to_pylist())}
    part = build_part(captions, atoms, owners, matrix)
    rows = sum(count for view, count in part.counts.items() if view != CAPTION_VIEW)
    extra = {"counts": part.counts, "dimension": matrix.shape[1]}
    return StageOutput(part.files(), rows, Ledger(taken=len(atoms), done=rows), extra)


def train_views(task: ShardTask, worker: Worker) -> StageOutput:
    """An empty trained template for each large view of a wearer, from a sample spread evenly over its first rows."""
    files: dict[str, bytes] = {}
    rows = 0
    for view, chosen in sorted(task.inputs["views"].items()):
        parts = [worker.record("part", key) for key in chosen["parts"]]
        lists = lists_for(chosen["rows"])
        sample = _sample(view, parts, min(chosen["rows"], lists * SAMPLES_PER_LIST), chosen["rows"], worker)
        files[f"{view}.template"] = train_template(sample, lists)
        rows += len(sample)
    return StageOutput(files, rows, Ledger(taken=rows, done=rows))


def _sample(view: str, parts: Sequence[DoneRecord], size: int, rows: int, worker: Worker) -> Float32:
    """Vectors (size, d) spread evenly over the first `rows` rows of a view, parts laid end to end."""
    chosen = np.linspace(0, rows - 1, size).astype(np.int64)
    taken: list[Float32] = []
    first = 0
    for record in parts:
        stop = first + int(record.extra["counts"][view])
        here = chosen[(chosen >= first) & (chosen < stop)] - first
        if len(here):
            taken.append(flat_vectors(worker.cache.read_file(record, f"{view}.faiss"))[here])
        first = stop
    return np.concatenate(taken)


def fill_part(task: ShardTask, worker: Worker) -> StageOutput:
    """The vectors of a part into empty copies of the templates of its large views."""
    part, template = worker.record("part", task.inputs["part"]), worker.record("train", task.inputs["train"])
    files: dict[str, bytes] = {}
    rows = 0
    for view in task.inputs["views"]:
        vectors = flat_vectors(worker.cache.read_file(part, f"{view}.faiss"))
        files[f"{view}.ivf"] = fill_template(worker.cache.read_file(template, f"{view}.template"), vectors)
        rows += len(vectors)
    return StageOutput(files, rows, Ledger(taken=rows, done=rows))


def merge_index(task: ShardTask, worker: Worker) -> StageOutput:
    """All parts of one wearer to the files of that wearer's memory, in a folder of their own until committed."""
    inputs = task.inputs
    records = [worker.record("part", key) for key in inputs["parts"]]
    parts = [
        PartFiles(
            partial(worker.cache.read_file, record),
            partial(worker.cache.read_file, worker.record("fill", fill)) if fill else None,
        )
        for record, fill in zip(records, inputs["fills"], strict=True)
    ]
    dimension = int(records[0].extra["dimension"])
    scratch = tempfile.TemporaryDirectory(prefix="daybook-merge-")
    try:
        built = merge_parts(parts, dimension, Path(scratch.name), dict(_templates(inputs["train"], worker)))
    except BaseException:
        scratch.cleanup()
        raise
    rows = sum(count for view, count in built.counts.items() if view != CAPTION_VIEW)
    extra = {
        "counts": dict(built.counts),
        "day_bounds": {str(day): list(bounds) for day, bounds in built.day_bounds.items()},
        "dimension": dimension,
    }
    taken = sum(record.rows for record in records)
    return StageOutput(built.files, rows, Ledger(taken=taken, done=rows), extra, scratch=scratch)


def _templates(key: str | None, worker: Worker) -> Iterator[tuple[str, bytes]]:
    if key is None:
        return
    record = worker.record("train", key)
    for name in record.files:
        yield name.removesuffix(".template"), worker.cache.read_file(record, name)

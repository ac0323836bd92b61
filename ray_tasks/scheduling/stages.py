"""The stages of a build as thin functions: read inputs from the shard cache, call the pure logic, hand back files.

No ray here, so the same functions run inside an actor, in a test, or in a debugger.
"""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from ray_tasks.corpus.fuse import Clip, fuse
from ray_tasks.corpus.layout import SourceFile
from ray_tasks.corpus.observe import observe
from ray_tasks.corpus.week_time import HOUR_MS, day_of, hour_of, week_ms
from ray_tasks.embedding.encoder import SentenceEncoder
from ray_tasks.extraction.engines import make_extractor
from ray_tasks.extraction.report import atom_report
from ray_tasks.extraction.types import CONTEXT_MS, Extraction, Extractor
from ray_tasks.index.files import build_wearer_index
from ray_tasks.index.memory import CAPTION_VIEW
from ray_tasks.ledger import Ledger, merge_ledgers
from ray_tasks.rows import (
    ATOM_SCHEMA,
    CAPTION_SCHEMA,
    OBSERVATION_SCHEMA,
    Atom,
    Caption,
    Observation,
    from_table,
    to_table,
    vector_schema,
)
from ray_tasks.scheduling.tasks import ShardFailure, ShardResult, ShardTask, WorkerSettings
from ray_tasks.storage.cache import DATA_FILE, ShardCache, table_bytes
from ray_tasks.storage.shards import DoneRecord, Shard, content_key
from ray_tasks.storage.store import MissingObjectError, ObjectStore, StoreError, open_store

TRACEBACK_LINES: Final = 12
MAX_ATTEMPTS: Final = 3
CLIPS_FILE: Final = "clips.json"
"""Beside the observations of an hour: the clips that were recorded in it, by the start of their window."""


@dataclass
class StageOutput:
    """Files of a finished shard, its rows and books, and what later stages need to plan."""

    files: Mapping[str, bytes]
    rows: int
    ledger: Ledger
    extra: Mapping[str, Any] = field(default_factory=dict)
    tokens: int = 0


@dataclass(frozen=True)
class Worker:
    """What a stage function works with; heavy parts are made on first use and live as long as the worker."""

    settings: WorkerSettings

    @cached_property
    def cache(self) -> ShardCache:
        """The shard cache of the run's root."""
        return ShardCache(open_store(self.settings.root))

    @cached_property
    def encoder(self) -> SentenceEncoder:
        """The sentence encoder."""
        return SentenceEncoder(self.settings.embedding_model, threads=self.settings.threads)

    @cached_property
    def extractor(self) -> Extractor:
        """The extraction engine."""
        return make_extractor(self.settings.engine)

    def embed_together(self, tasks: Sequence[ShardTask]) -> None:
        """Embeds the texts of several shards in one go, so that each shard then finds its vectors at hand."""
        texts: list[str] = []
        for task in tasks:
            try:
                texts.extend(self.table(task.inputs["stage"], task.inputs["key"]).column("text").to_pylist())
            except (LookupError, StoreError):
                continue  # that shard fails by itself, with this error, when its turn comes
        self.encoder(texts)

    def record(self, stage: str, key: str) -> DoneRecord:
        """The record of an input, which exists since its stage has run; its files are checked when read."""
        record = self.cache.find(stage, key, verify=False)
        if record is None:
            raise LookupError(f"input {stage}/{key} is gone from the cache")
        return record

    def table(self, stage: str, key: str) -> pa.Table:
        """The checked table of an input."""
        return self.cache.read_table(self.record(stage, key))


class LostWorkerError(RuntimeError):
    """A shard whose worker died (out of memory, a crash in native code) as often as is allowed."""


def run_task(task: ShardTask, worker: Worker, stages: Stages | None = None, shared_seconds: float = 0.0) -> ShardResult:
    """Makes one shard and commits it; an exception becomes a failed result, so that the others go on.

    Ray gives a task whose worker died to another worker, without end. So each attempt is noted in the store before it
    begins and struck out when it ends, well or not; a shard that finds MAX_ATTEMPTS notes has killed as many workers.
    `shared_seconds` is this shard's part of work that was done for several at once.
    """
    started = time.monotonic()
    attempts = f"runs/{worker.settings.run_id}/attempts/{task.stage}/{task.key}"
    try:
        _note_attempt(attempts, worker.cache.store)
        output = (stages or STAGES)[task.stage](task, worker)
        record = worker.cache.commit(
            task.stage,
            str(task.shard),
            task.key,
            output.files,
            rows=output.rows,
            seconds=time.monotonic() - started + shared_seconds,
            ledger=output.ledger,
            extra=output.extra,
            tokens=output.tokens,
        )
    except Exception as error:  # noqa: BLE001 - whatever a shard dies of is recorded; the rest of the build goes on
        worker.cache.store.delete(attempts)
        tail = "".join(traceback.format_exception(error)).splitlines()[-TRACEBACK_LINES:]
        failure = ShardFailure(type(error).__name__, str(error), "\n".join(tail))
        return ShardResult(task.stage, task.shard, task.key, "failed", failure=failure)
    worker.cache.store.delete(attempts)
    return ShardResult(task.stage, task.shard, task.key, "done", record)


def _note_attempt(key: str, store: ObjectStore) -> None:
    try:
        before = int(store.read(key))
    except MissingObjectError:
        before = 0
    if before >= MAX_ATTEMPTS:
        raise LostWorkerError(f"its worker died {before} times (out of memory or a crash); not tried again in this run")
    store.write(key, str(before + 1).encode())


def _table_output(table: pa.Table, ledger: Ledger, extra: Mapping[str, Any] | None = None) -> StageOutput:
    return StageOutput({DATA_FILE: table_bytes(table)}, len(table), ledger, extra or {})


def _observe(task: ShardTask, worker: Worker) -> StageOutput:
    """Source files of one hour to observations, with digests of what lands in each hour: captions depend on those."""
    del worker
    files = [SourceFile(**{**entry, "path": Path(entry["path"])}) for entry in task.inputs["files"]]
    observed = observe(files)
    clips = observed.clips.get(task.shard.wearer, {})
    hours: dict[Shard, list[tuple[object, ...]]] = {}
    for row in observed.observations:
        shard = Shard(row.wearer, day_of(row.start_ms), hour_of(row.start_ms))
        hours.setdefault(shard, []).append((row.start_ms, row.end_ms, row.modality, row.speaker, row.text, row.lang))
    for window, clip in clips.items():
        # A clip without rows makes no caption, so it touches only hours that have rows.
        shard = Shard(task.shard.wearer, day_of(window), hour_of(window))
        if shard in hours:
            hours[shard].append((window, *clip))
    extra = {
        "touches": {str(shard): content_key(rows) for shard, rows in sorted(hours.items())},
        "problems": [asdict(problem) for problem in observed.problems],
        "ledgers": {kind: ledger.to_json() for kind, ledger in sorted(observed.ledgers.items())},
    }
    table = to_table(observed.observations, OBSERVATION_SCHEMA)
    # Clips stay out of the record, which the driver of a build reads for every hour of every wearer.
    windows = {str(window): list(clip) for window, clip in sorted(clips.items())}
    made = {DATA_FILE: table_bytes(table), CLIPS_FILE: json.dumps(windows).encode()}
    return StageOutput(made, len(table), merge_ledgers(observed.ledgers.values()), extra)


def _caption(task: ShardTask, worker: Worker) -> StageOutput:
    """Observations that start in one hour, whatever file they come from, to captions."""
    rows: list[Observation] = []
    clips: dict[int, Clip] = {}
    for key in task.inputs["observe"]:
        record = worker.record("observe", key)
        rows.extend(from_table(worker.cache.read_table(record), Observation))
        windows = json.loads(worker.cache.read_file(record, CLIPS_FILE))
        clips.update({int(window): Clip(*clip) for window, clip in windows.items()})
    here = [row for row in rows if (row.day, hour_of(row.start_ms)) == (task.shard.day, task.shard.hour)]
    captions = fuse(here, clips)
    fused = sum(len(caption.lines) for caption in captions)
    ledger = Ledger(taken=len(here), done=fused)
    tail = [asdict(caption) for caption in captions if caption.start_ms >= _hour_end(task.shard) - CONTEXT_MS]
    return _table_output(to_table(captions, CAPTION_SCHEMA), ledger, {"tail": content_key(tail) if tail else None})


def _hour_end(shard: Shard) -> int:
    assert shard.day is not None and shard.hour is not None
    return week_ms(shard.day, (shard.hour + 1) * HOUR_MS)


def _with_halo(task: ShardTask, worker: Worker) -> tuple[list[Caption], list[Caption]]:
    """The captions of an hour and those of the five minutes before it."""
    captions = from_table(worker.table("caption", task.inputs["caption"]), Caption)
    if not task.inputs["halo"]:
        return captions, []
    start = _hour_end(task.shard) - HOUR_MS
    before = from_table(worker.table("caption", task.inputs["halo"]), Caption)
    return captions, [caption for caption in before if caption.start_ms >= start - CONTEXT_MS]


def _extract(task: ShardTask, worker: Worker) -> StageOutput:
    """Captions of one hour to action and utterance atoms."""
    captions, halo = _with_halo(task, worker)
    return _atoms_output(worker.extractor.extract_fine(captions, halo, wearer=task.shard.wearer))


def _segment(task: ShardTask, worker: Worker) -> StageOutput:
    """Captions of one hour to activity and conversation atoms of its 30-minute windows."""
    captions, halo = _with_halo(task, worker)
    return _atoms_output(worker.extractor.extract_coarse(captions, halo, wearer=task.shard.wearer))


def _join(task: ShardTask, worker: Worker) -> StageOutput:
    """Activities and conversations of one day, joined across windows and hours."""
    atoms = [atom for key in task.inputs["segment"] for atom in from_table(worker.table("segment", key), Atom)]
    return _atoms_output(worker.extractor.join_windows(atoms))


def _atoms_output(extraction: Extraction) -> StageOutput:
    extra = {"report": atom_report(extraction.atoms).to_json()}
    return _table_output(to_table(extraction.atoms, ATOM_SCHEMA), extraction.ledger, extra)


def _embed(task: ShardTask, worker: Worker) -> StageOutput:
    """Atoms of a shard to unit vectors."""
    atoms = worker.table(task.inputs["stage"], task.inputs["key"])
    texts = atoms.column("text").to_pylist()
    vectors = worker.encoder(texts)
    flat = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    table = pa.table([atoms.column("atom_id"), flat], schema=vector_schema(vectors.shape[1]))
    data = table_bytes(table, dictionary=False)
    tokens = worker.encoder.count_tokens(texts)
    return StageOutput({DATA_FILE: data}, len(table), Ledger(taken=len(atoms), done=len(table)), tokens=tokens)


def _index(task: ShardTask, worker: Worker) -> StageOutput:
    """All shards of one wearer to the files of that wearer's memory."""
    inputs = task.inputs
    captions = pa.concat_tables([worker.table("caption", key) for key in inputs["caption"]])
    stages = [("extract", key) for key in inputs["extract"]] + [("join", key) for key in inputs["join"]]
    atoms = pa.concat_tables([worker.table(stage, key) for stage, key in stages])
    vectors = pa.concat_tables([worker.table("embed", key) for key in inputs["embed"]])
    column = vectors.column("vector").combine_chunks()
    matrix = column.flatten().to_numpy(zero_copy_only=False).reshape(len(vectors), column.type.list_size)
    owners = {owner: row for row, owner in enumerate(vectors.column("owner_id").to_pylist())}
    built = build_wearer_index(captions, atoms, owners, np.asarray(matrix, np.float32))
    rows = sum(count for view, count in built.counts.items() if view != CAPTION_VIEW)
    extra = {
        "counts": dict(built.counts),
        "day_bounds": {str(day): list(bounds) for day, bounds in built.day_bounds.items()},
        "dimension": int(matrix.shape[1]),
    }
    return StageOutput(built.files, rows, Ledger(taken=len(atoms), done=rows), extra)


Stages = Mapping[str, Callable[[ShardTask, Worker], StageOutput]]

STAGES: Final[Stages] = {
    "observe": _observe,
    "caption": _caption,
    "extract": _extract,
    "segment": _segment,
    "join": _join,
    "embed": _embed,
    "index": _index,
}

"""The stages of a build as thin functions: read inputs from the shard cache, call the pure logic, hand back files.

No ray here, so the same functions run inside an actor, in a test, or in a debugger.
"""

from __future__ import annotations

import json
import socket
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from ray_tasks.corpus.fuse import Clip, fuse
from ray_tasks.corpus.layout import SourceFile
from ray_tasks.corpus.observe import observe
from ray_tasks.corpus.week_time import HOUR_MS, day_of, hour_of, week_ms
from ray_tasks.embedding.encoder import SentenceEncoder
from ray_tasks.extraction.engines import make_extractor
from ray_tasks.extraction.report import atom_report
from ray_tasks.extraction.types import CONTEXT_MS, Extraction, Extractor
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
from ray_tasks.scheduling.index_stages import fill_part, make_part, merge_index, train_views
from ray_tasks.scheduling.tasks import ShardFailure, ShardResult, ShardTask, StageOutput, WorkerSettings
from ray_tasks.storage.cache import DATA_FILE, ShardCache, table_bytes
from ray_tasks.storage.run_records import Attempt
from ray_tasks.storage.shards import DoneRecord, Shard, content_key
from ray_tasks.storage.store import MissingObjectError, ObjectStore, StoreError, open_store

TRACEBACK_LINES: Final = 12
MAX_ATTEMPTS: Final = 3
CLIPS_FILE: Final = "clips.json"
"""Beside the observations of an hour: the clips that were recorded in it, by the start of their window."""


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
        _note_attempt(attempts, worker.cache.store, task.shard)
        output = (stages or STAGES)[task.stage](task, worker)
        with output.scratch or nullcontext():
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
        _strike_out(attempts, worker.cache.store)
        tail = "".join(traceback.format_exception(error)).splitlines()[-TRACEBACK_LINES:]
        failure = ShardFailure(type(error).__name__, str(error), "\n".join(tail))
        return ShardResult(task.stage, task.shard, task.key, "failed", failure=failure)
    _strike_out(attempts, worker.cache.store)
    return ShardResult(task.stage, task.shard, task.key, "done", record)


def embed_together(tasks: Sequence[ShardTask], worker: Worker) -> None:
    """Embeds the texts of several shards in one go, so that each shard then finds its vectors at hand.

    Whatever goes wrong comes up again, and is recorded, when the shard at fault is made by itself. So does what kills
    the worker: this is tried once in a run, and after that its shards are left to be made one by one.
    """
    attempts = f"runs/{worker.settings.run_id}/attempts/together/{content_key([task.key for task in tasks])}"
    with suppress(Exception):
        _note_attempt(attempts, worker.cache.store, tasks[0].shard, most=1)
        try:
            texts: list[str] = []
            for task in tasks:
                with suppress(LookupError, StoreError, ValueError):  # gone, damaged, or no table
                    texts.extend(worker.table(task.inputs["stage"], task.inputs["key"]).column("text").to_pylist())
            worker.encoder(texts)
        finally:
            _strike_out(attempts, worker.cache.store)


def _note_attempt(key: str, store: ObjectStore, shard: Shard, most: int = MAX_ATTEMPTS) -> None:
    try:
        before = Attempt.model_validate_json(store.read(key)).attempts
    except (MissingObjectError, ValueError):  # none yet, or one that a power cut emptied
        before = 0
    if before >= most:
        raise LostWorkerError(f"its worker died {before} times (out of memory or a crash); not tried again in this run")
    note = Attempt(shard=str(shard), since=time.time(), host=socket.gethostname(), attempts=before + 1)
    store.write(key, note.model_dump_json().encode(), durable=False)


def _strike_out(key: str, store: ObjectStore) -> None:
    """Removes the note of an attempt; one that stays, since the store is away, counts as an attempt and no more."""
    with suppress(StoreError):
        store.delete(key)


def _table_output(table: pa.Table, ledger: Ledger, extra: Mapping[str, Any] | None = None) -> StageOutput:
    return StageOutput({DATA_FILE: table_bytes(table)}, len(table), ledger, extra or {})


def _observe(task: ShardTask, worker: Worker) -> StageOutput:
    """Source files of one hour to observations, with digests of what lands in each hour: captions depend on those."""
    del worker
    files = [SourceFile(**{**entry, "path": Path(entry["path"])}) for entry in task.inputs["files"]]
    observed = observe(files)
    unread = [str(problem) for problem in observed.problems if problem.kind == "unreadable_file"]
    if unread:
        # The driver has read these files for their keys, so the fault is this machine's (a mount that is missing), and
        # an hour without them must not be taken for the finished one.
        raise OSError("; ".join(unread))
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


Stages = Mapping[str, Callable[[ShardTask, Worker], StageOutput]]

STAGES: Final[Stages] = {
    "observe": _observe,
    "caption": _caption,
    "extract": _extract,
    "segment": _segment,
    "join": _join,
    "embed": _embed,
    "part": make_part,
    "train": train_views,
    "fill": fill_part,
    "index": merge_index,
}

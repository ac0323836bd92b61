"""Making shards inside a worker: one attempt is noted, run, committed or booked as failed."""

from __future__ import annotations

import socket
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from typing import Final

from ray_tasks.scheduling.tasks import ShardFailure, ShardResult, ShardTask, StageOutput
from ray_tasks.scheduling.worker import Worker
from ray_tasks.storage.run_records import Attempt
from ray_tasks.storage.shards import Shard, content_key
from ray_tasks.storage.store import MissingObjectError, ObjectStore, StoreError

TRACEBACK_LINES: Final = 12
MAX_ATTEMPTS: Final = 3

Stages = Mapping[str, Callable[[ShardTask, Worker], StageOutput]]
"""The function of each stage, by its name."""


class LostWorkerError(RuntimeError):
    """A shard whose worker died (out of memory, a crash in native code) as often as is allowed."""


def run_task(task: ShardTask, worker: Worker, stages: Stages, shared_seconds: float = 0.0) -> ShardResult:
    """Makes one shard and commits it; an exception becomes a failed result, so that the others go on.

    Ray gives a task whose worker died to another worker, without end. So each attempt is noted in the store before it
    begins and struck out when it ends, well or not; a shard that finds MAX_ATTEMPTS notes has killed as many workers.
    `shared_seconds` is this shard's part of work that was done for several at once.
    """
    started = time.monotonic()
    attempts = f"runs/{worker.settings.run_id}/attempts/{task.stage}/{task.key}"
    try:
        _note_attempt(attempts, worker.cache.store, task.shard)
        output = stages[task.stage](task, worker)
        with output.scratch or nullcontext():
            record = worker.cache.commit(
                task.stage,
                str(task.shard),
                task.key,
                output.files,
                rows=output.rows,
                seconds=time.monotonic() - started + shared_seconds,
                ledger=output.ledger,
                extra={**output.extra, **({"calls": output.calls.to_json()} if output.calls.calls else {})},
                tokens=output.tokens + output.calls.tokens,
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
                    texts.extend(worker.table(*task.inputs["atoms"]).column("text").to_pylist())
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

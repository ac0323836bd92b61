"""Real Ray: results as they come, shards that raise, shards that kill their worker."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from ray_tasks.ledger import Ledger
from ray_tasks.scheduling.stages import MAX_ATTEMPTS, StageOutput, Worker
from ray_tasks.scheduling.tasks import ShardResult, ShardTask, WorkerSettings
from ray_tasks.storage.shards import Shard
from ray_tasks.storage.store import LocalStore

pytestmark = pytest.mark.slow

HOURS = 12


def _stage(task: ShardTask, worker: Worker) -> StageOutput:
    hour = task.shard.hour
    if hour == 3:
        raise ValueError("too long for the context")
    if hour == 5:
        store = worker.cache.store
        tries = len(list(store.list_keys("tries"))) if store.exists("tries/0") else 0
        store.write(f"tries/{tries}", b"")
        os.kill(os.getpid(), signal.SIGKILL)
    return StageOutput({"data.parquet": str(hour).encode()}, 1, Ledger(taken=1, done=1))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[ShardResult]]]:
    from ray_tasks.scheduling.cluster import RayExecutor, ray_session

    root = tmp_path_factory.mktemp("root")
    tasks = [ShardTask("observe", Shard("W", 1, hour), f"k{hour}", {}) for hour in range(HOURS)]
    settings = WorkerSettings(str(root), "run-1", "rules", "none", 1)
    with ray_session(2) as cpus:
        yield root, list(RayExecutor(cpus, stages={"observe": _stage}).run(tasks, settings))


def test_every_task_gives_exactly_one_result(results: tuple[Path, list[ShardResult]]) -> None:
    assert sorted(result.shard.hour or 0 for result in results[1]) == list(range(HOURS))


def test_a_shard_that_raises_costs_no_other(results: tuple[Path, list[ShardResult]]) -> None:
    failed = {result.shard.hour: result for result in results[1] if result.outcome == "failed"}
    assert set(failed) == {3, 5}
    assert failed[3].failure is not None
    assert (failed[3].failure.error, failed[3].failure.message) == ("ValueError", "too long for the context")
    assert "_stage" in failed[3].failure.traceback


def test_a_shard_that_kills_its_worker_is_given_up_after_three_attempts(
    results: tuple[Path, list[ShardResult]],
) -> None:
    failure = next(result.failure for result in results[1] if result.shard.hour == 5)
    assert failure is not None and failure.error == "LostWorkerError"
    assert len(list(LocalStore(results[0]).list_keys("tries"))) == MAX_ATTEMPTS


def test_finished_shards_leave_no_notes_of_attempts(results: tuple[Path, list[ShardResult]]) -> None:
    assert list(LocalStore(results[0]).list_keys("runs")) == []

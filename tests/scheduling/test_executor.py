"""Real Ray: results as they come, shards that raise, shards that kill their worker."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from ray_tasks.config import BuildConfig
from ray_tasks.ledger import Ledger
from ray_tasks.scheduling.executor import RayExecutor
from ray_tasks.scheduling.making import MAX_ATTEMPTS
from ray_tasks.scheduling.session import Cluster, ClusterError, ray_session
from ray_tasks.scheduling.tasks import ShardResult, ShardTask, StageOutput, WorkerSettings
from ray_tasks.scheduling.worker import Worker
from ray_tasks.storage.cache import ShardCache, table_bytes
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
def cluster() -> Iterator[Cluster]:
    with ray_session(2) as started:
        yield started


@pytest.fixture(scope="module")
def results(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[ShardResult]]:
    root = tmp_path_factory.mktemp("root")
    tasks = [ShardTask("observe", Shard("W", 1, hour), f"k{hour}", {}) for hour in range(HOURS)]
    settings = WorkerSettings(str(root), "run-1", BuildConfig(), 1)
    return root, list(RayExecutor(cluster, stages={"observe": _stage}).run(tasks, settings))


def test_texts_that_cannot_be_embedded_fail_shard_by_shard(cluster: Cluster, tmp_path: Path) -> None:
    tasks = [ShardTask("embed", Shard("W", 1, hour), f"k{hour}", {"atoms": ["extract", "gone"]}) for hour in (8, 9)]
    settings = WorkerSettings(str(tmp_path), "run-2", BuildConfig(embedding_model="no-such-model/anywhere"), 1)
    results = list(RayExecutor(cluster).run(tasks, settings))
    assert [result.failure and result.failure.error for result in results] == ["LookupError", "LookupError"]


class FragileWorker(Worker):
    """Its encoder takes the process down with one text."""

    @property
    def encoder(self) -> Any:
        """Stands in for a sentence encoder."""
        return FragileEncoder()


class FragileEncoder:
    """Dies of the word poison."""

    def __call__(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Unit vectors."""
        if "poison" in texts:
            os.kill(os.getpid(), signal.SIGKILL)
        return np.eye(4, dtype=np.float32)[[0] * len(texts)]

    def count_tokens(self, texts: list[str]) -> int:
        """One for each text."""
        return len(texts)


def test_a_text_that_kills_the_encoder_costs_only_its_own_shard(cluster: Cluster, tmp_path: Path) -> None:
    cache, tasks = ShardCache(LocalStore(tmp_path)), []
    for hour in range(4):
        atoms = pa.table({"atom_id": ["a"], "text": ["poison" if hour == 1 else "tea"]})
        files = {"data.parquet": table_bytes(atoms)}
        cache.commit("extract", f"W/DAY1/0{hour}", f"x{hour}", files, rows=1, seconds=0, ledger=Ledger(1, 1))
        tasks.append(ShardTask("embed", Shard("W", 1, hour), f"k{hour}", {"atoms": ["extract", f"x{hour}"]}))
    settings = WorkerSettings(str(tmp_path), "run-4", BuildConfig(), 1)
    results = {result.shard.hour: result for result in RayExecutor(cluster, worker=FragileWorker).run(tasks, settings)}
    assert {hour: result.outcome for hour, result in results.items()} == {0: "done", 1: "failed", 2: "done", 3: "done"}
    assert results[1].failure is not None and results[1].failure.error == "LostWorkerError"


def test_a_task_that_ray_cannot_run_ends_in_a_message(cluster: Cluster, tmp_path: Path) -> None:
    settings = WorkerSettings(str(tmp_path), "run-3", BuildConfig(), 1)
    nonsense = ShardTask("observe", Shard("W/DAY", 1, 99), "k", {})  # does not survive the way to a worker
    with pytest.raises(ClusterError, match=r"Ray failed .*not a shard.*run the same command again"):
        list(RayExecutor(cluster, stages={"observe": _stage}).run([nonsense], settings))


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

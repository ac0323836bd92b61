"""The record of a run, as another terminal reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ray_tasks.scheduling.run_log import WRITE_EVERY_SECONDS, RunLog, read_run
from ray_tasks.scheduling.tasks import ShardFailure, ShardResult
from ray_tasks.storage.shards import Shard
from ray_tasks.storage.store import LocalStore
from tests.scheduling.inline import SilentReporter

DONE = ShardResult("observe", Shard("B1_MARA", 1, 9), "k", "done")
FAILED = ShardResult("observe", Shard("B1_MARA", 1, 10), "k", "failed", failure=ShardFailure("E", "too long", ""))


class Clock:
    """A clock that stands still until it is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


def test_without_a_run_there_is_no_record(store: LocalStore) -> None:
    assert read_run(store) is None


def test_a_run_can_be_followed_while_it_goes_on(store: LocalStore) -> None:
    with RunLog(store, {"corpus": "recordings"}) as run:
        reporter = run.watch(SilentReporter())
        reporter.wave_started("observe", 5, 2)
        reporter.shard_finished(DONE)
        reporter.shard_finished(FAILED)
        reporter.wave_finished("observe", 1.5)
        seen = read_run(store)
        assert seen is not None
        assert (seen["state"], seen["request"]) == ("running", {"corpus": "recordings"})
        assert seen["waves"] == [{"wave": "observe", "total": 5, "cached": 2, "made": 1, "failed": 1, "seconds": 1.5}]
        assert seen["failed"] == ["observe B1_MARA/DAY1/10: too long"]
        run.finished("m1")
    ended = read_run(store)
    assert ended is not None
    assert (ended["state"], ended["memory_id"]) == ("finished", "m1")


@pytest.mark.parametrize(("error", "state"), [(ValueError("no room"), "failed"), (KeyboardInterrupt(), "interrupted")])
def test_how_a_run_ended_is_kept(store: LocalStore, error: BaseException, state: str) -> None:
    with pytest.raises(type(error)), RunLog(store, {}):
        raise error
    ended = read_run(store)
    assert ended is not None
    assert ended["state"] == state
    assert ended["error"].startswith(type(error).__name__)


def test_shards_that_come_fast_are_not_written_one_by_one(store: LocalStore) -> None:
    def made() -> int:
        seen = read_run(store)
        assert seen is not None
        return int(seen["waves"][0]["made"])

    clock = Clock()
    with RunLog(store, {}, clock=clock) as run:
        run.begin_wave("observe", 3, 0)
        run.count(DONE, 0.1)
        assert made() == 0
        clock.now += WRITE_EVERY_SECONDS
        run.count(DONE, 0.2)
        assert made() == 2

"""The record of a run, as another terminal or machine reads it."""

from __future__ import annotations

import json
import re
import threading
import time
from pathlib import Path

import pytest

from ray_tasks.ledger import Ledger
from ray_tasks.scheduling.run_log import RECORDED_FAILURES, RunLog
from ray_tasks.scheduling.tasks import ShardFailure, ShardResult
from ray_tasks.storage.run_rates import read_rates
from ray_tasks.storage.run_records import RunRecord, is_alive, open_runs, read_failures, read_run
from ray_tasks.storage.shards import DoneRecord, Shard
from ray_tasks.storage.store import LocalStore, StoreError
from tests.scheduling.inline import SilentReporter

RECORD = DoneRecord("observe", "B1_MARA/DAY1/09", "k", 7, 2.0, Ledger(), {})
DONE = ShardResult("observe", Shard("B1_MARA", 1, 9), "k", "done", RECORD)


def failed(number: int) -> ShardResult:
    failure = ShardFailure("ValueError", f"too long {number}", "in line 3")
    return ShardResult("observe", Shard("B1_MARA", 1, number), "k", "failed", failure=failure)


class FaultyStore(LocalStore):
    """Refuses every write while `broken`, and counts those that it took."""

    broken = False
    writes = 0

    def write(self, key: str, data: bytes, *, durable: bool = True) -> str:
        """See ObjectStore.write."""
        if self.broken:
            raise StoreError("503 Slow Down")
        self.writes += key.endswith("/run.json")
        return super().write(key, data, durable=durable)


@pytest.fixture
def store(tmp_path: Path) -> FaultyStore:
    return FaultyStore(tmp_path)


def record(store: LocalStore, run_id: str | None = None) -> RunRecord:
    found = read_run(store, run_id)
    assert found is not None
    return found


def test_without_a_run_there_is_no_record(store: LocalStore) -> None:
    assert read_run(store) is None
    assert open_runs(store) == ([], [])


def test_a_run_can_be_followed_while_it_goes_on(store: LocalStore) -> None:
    with RunLog(store, {"corpus": "recordings"}) as run:
        reporter = run.watch(SilentReporter())
        reporter.wave_started("observe", 5, 2)
        reporter.shard_finished(DONE)
        reporter.shard_finished(failed(10))
        reporter.wave_finished("observe", 1.5)
        run.flush()
        seen = record(store)
        assert (seen.state, seen.request, is_alive(seen)) == ("running", {"corpus": "recordings"}, True)
        wave = seen.waves[0]
        assert (wave.wave, wave.total, wave.cached, wave.made, wave.failed, wave.over) == ("observe", 5, 2, 1, 1, True)
        assert [str(failure) for failure in seen.failures] == ["observe B1_MARA/DAY1/10: ValueError: too long 10"]
        assert seen.failures[0].traceback == "in line 3"
        assert [other.run_id for other in open_runs(store)[0]] == [run.run_id]
        run.finished("m1", published=True)
    ended = record(store)
    assert (ended.state, ended.memory_id, ended.published) == ("finished", "m1", True)
    assert ended.ended is not None
    assert open_runs(store) == ([], [])


@pytest.mark.parametrize(("error", "state"), [(ValueError("no room"), "failed"), (KeyboardInterrupt(), "interrupted")])
def test_how_a_run_ended_is_kept(store: LocalStore, error: BaseException, state: str) -> None:
    with pytest.raises(type(error)), RunLog(store, {}):
        raise error
    ended = record(store)
    assert ended.state == state
    assert (ended.error or "").startswith(type(error).__name__)
    assert not is_alive(ended)


def test_a_run_that_is_told_to_stop_says_so_before_it_winds_up(store: LocalStore) -> None:
    with pytest.raises(KeyboardInterrupt), RunLog(store, {}) as run:
        run.interrupted("told to stop (SIGTERM)")
        assert record(store).state == "interrupted"
        raise KeyboardInterrupt
    assert record(store).error == "told to stop (SIGTERM)"


def test_a_deadline_is_reported_with_what_was_still_running(store: LocalStore) -> None:
    with pytest.raises(RuntimeError), RunLog(store, {}) as run:
        run.begin_wave("observe", 3, 1)
        run.count(DONE)
        note = {"attempts": 1, "shard": "B1_MARA/DAY1/10", "since": time.time() - 90, "host": "node-3"}
        store.write(f"runs/{run.run_id}/attempts/observe/k10", json.dumps(note).encode())
        words = run.passed_deadline(60)
        assert record(store).state == "deadline"
        assert "the deadline of 60 s has passed" in words
        assert "observe: 2 of 3 shards done" in words
        assert re.search(r"still running: observe B1_MARA/DAY1/10 for (9|1\d)\d s on node-3", words)
        raise RuntimeError
    assert record(store).state == "deadline"


def test_shards_that_come_fast_are_not_written_one_by_one(store: FaultyStore) -> None:
    with RunLog(store, {}) as run:
        run.begin_wave("observe", 20_000, 0)
        started = time.monotonic()
        for _ in range(20_000):
            run.count(DONE)
        seconds = time.monotonic() - started
        assert store.writes <= 2 + seconds
        run.flush()
        assert record(store).waves[0].made == 20_000
    assert seconds / 20_000 < 0.001


def test_the_heart_beats_while_no_shard_ends(store: FaultyStore) -> None:
    with RunLog(store, {}, heartbeat_s=0.01) as run:
        before = store.writes
        deadline = time.monotonic() + 60
        while store.writes < before + 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert store.writes >= before + 2
        assert record(store, run.run_id).state == "running"


def test_a_store_that_hiccups_costs_a_record_and_not_the_run(store: FaultyStore) -> None:
    said: list[str] = []
    with RunLog(store, {}, say=said.append) as run:
        run.begin_wave("observe", 1, 0)
        store.broken = True
        run.flush()
        run.flush()
        store.broken = False
        run.count(DONE)
        run.finished("m1")
    assert (record(store).state, record(store).missed_writes) == ("finished", 2)
    assert "503" in said[0] and "missed 2 updates" in said[-1]


def test_a_store_that_takes_nothing_ends_the_run_before_it_begins(store: FaultyStore) -> None:
    store.broken = True
    with pytest.raises(StoreError), RunLog(store, {}):
        pass
    assert not [thread for thread in threading.enumerate() if thread.name == "run-log"]


def test_thousands_of_failures_stay_out_of_the_record_but_are_all_kept(store: LocalStore) -> None:
    with RunLog(store, {}) as run:
        run.begin_wave("observe", 2000, 0)
        for number in range(2000):
            run.count(failed(number))
    ended = record(store)
    assert (ended.failed, len(ended.failures)) == (2000, RECORDED_FAILURES)
    assert len(read_failures(store, ended)) == 2000


def test_notes_are_kept(store: LocalStore) -> None:
    with RunLog(store, {}) as run:
        run.note(gates=[{"name": "counts", "passed": True}])
    assert record(store).notes == {"gates": [{"name": "counts", "passed": True}]}


def test_a_run_leaves_its_rates_for_the_next_plan(store: LocalStore) -> None:
    with RunLog(store, {}) as run:
        run.uses_gpus("observe", 0.25)
        run.begin_wave("observe", 2, 1)
        run.count(DONE)
        run.end_wave()
        run.finished("m1")
    rates, note = read_rates(store)
    assert note is None
    assert rates.stages["observe"].seconds_each == pytest.approx(2.0)
    assert rates.stages["observe"].gpu_seconds == pytest.approx(0.5)
    assert rates.totals == {"observe": 2}
    with RunLog(store, {}) as run:
        run.begin_wave("observe", 2, 2)
        run.finished("m1")
    assert read_rates(store)[0] == rates

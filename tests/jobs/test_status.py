"""What `status`, `plan` and `retry-failed` say, without a run of their own."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from jobs.plan import plan_lines
from jobs.request import BuildRequest
from jobs.retry_failed import StillRunningError, earlier_run, request_of
from jobs.run_text import run_lines
from jobs.status import State
from jobs.words import count_text, duration_text, size_text
from ray_tasks.config import BuildConfig, Prices
from ray_tasks.errors import UsageError
from ray_tasks.scheduling.plan_figures import UNKNOWN, Plan, StagePlan
from ray_tasks.scheduling.run_log import RunLog
from ray_tasks.scheduling.tasks import ShardFailure, ShardResult
from ray_tasks.storage.manifests import timestamp
from ray_tasks.storage.run_rates import Rate, Rates, seconds_left
from ray_tasks.storage.run_records import Attempt, FailedShard, Holder, RunRecord, Wave, read_run, run_key
from ray_tasks.storage.shards import Shard
from ray_tasks.storage.store import LocalStore

HOLDER = Holder(user="ines", host="node-1", pid=7, ray_address="10.0.0.1:6379", submission_id="night", commit="c" * 40)
RATES = Rates(
    waves={"observe": Rate(made=10, seconds=5), "embed": Rate(made=10, seconds=100)},
    totals={"observe": 20, "embed": 30},
)


def record(**changes: Any) -> RunRecord:
    now = timestamp()
    base = RunRecord(run_id="r1", state="running", holder=HOLDER, started=now, updated=now, progressed=now)
    return base.model_copy(update=changes)


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


def test_a_run_at_work_is_shown_with_who_holds_it_and_how_long_it_takes() -> None:
    wave = Wave(wave="observe", total=40, cached=10, made=10, seconds=20.0)
    running = [Attempt(stage="observe", shard="B1_MARA/DAY1/09", since=time.time() - 200, host="node-3", attempts=2)]
    text = "\n".join(run_lines(record(waves=(wave,)), RATES, running, []))
    assert "running since" in text
    assert "ines, process 7 on node-1, Ray 10.0.0.1:6379, job night, commit cccccccccccc" in text
    assert "20/40 shards (10 cached, 10 made) in 20.0 s, 0.5/s, at work" in text
    # 20 shards left at 0.5/s; then embed: 30 x 40/20 shards of 10 s.
    assert "about 40 s left of this wave, at most about 11 min until the end" in text
    assert "observe B1_MARA/DAY1/09 runs for 3 min on node-3, attempt 2" in text


def test_what_is_left_is_not_guessed_where_nothing_is_known() -> None:
    wave = Wave(wave="observe", total=40, cached=10)
    assert seconds_left(record(), Rates()) == (None, None)
    assert seconds_left(record(waves=(wave,)), Rates()) == (None, None)
    assert seconds_left(record(waves=(wave,)), RATES) == (15.0, 615.0)
    over = wave.model_copy(update={"cached": 40, "over": True})
    assert seconds_left(record(waves=(over,)), RATES) == (0.0, 600.0)
    assert seconds_left(record(waves=(wave,), request={"shards": ["B1_MARA/DAY1"]}), RATES) == (15.0, None)
    assert seconds_left(record(waves=(wave,)), RATES.model_copy(update={"waves": {"observe": Rate()}})) == (None, None)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"updated": "2026-01-01T00:00:00Z"}, "died (last heard of 2026-01-01T00:00:00Z"),
        ({"state": "failed", "error": "ValueError: x", "ended": "then"}, "failed then, begun"),
        ({"state": "interrupted", "error": "told to stop"}, "was interrupted"),
        ({"state": "deadline", "error": "the deadline of 5 s has passed"}, "passed its deadline"),
        ({"state": "finished", "memory_id": "m1", "published": True}, "published memory m1"),
        ({"state": "finished", "memory_id": "m1"}, "published nothing new; memory m1"),
        ({"state": "finished"}, "published nothing new"),
    ],
)
def test_every_end_has_its_words(changes: dict[str, Any], says: str) -> None:
    assert says in next(iter(run_lines(record(**changes), Rates(), [], [])))


def test_failures_are_counted_and_told_in_full_on_demand() -> None:
    failures = [
        FailedShard(stage="extract", shard=f"B1_MARA/DAY1/{n:02d}", error="E", message="m", traceback="line 3")
        for n in range(20)
    ]
    run = record(state="failed", failed=20, failures=tuple(failures))
    short = "\n".join(run_lines(run, Rates(), [], failures))
    assert "extract B1_MARA/DAY1/09: E: m" in short and "B1_MARA/DAY1/10" not in short
    assert "10 more failed" in short and "--run r1" in short
    long = "\n".join(run_lines(run, Rates(), [], failures, whole=True))
    assert "B1_MARA/DAY1/19" in long and "line 3" in long and "more failed" not in long


def test_all_runs_at_work_are_shown_beside_the_latest(store: LocalStore) -> None:
    with RunLog(store, {}) as first, RunLog(store, {}) as second:
        state = State.of(store, None)
        assert {run.run_id for run in state.runs} == {first.run_id, second.run_id}
        described = state.to_json()
        assert described["run"]["run_id"] == second.run_id
        assert all(run["alive"] for run in described["runs"])
    assert len(State.of(store, None).runs) == 1


def test_a_damaged_store_gives_one_line_for_each_fault(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    for key in ("current.json", "runs/latest.json", "runs/open/r1", run_key("r1")):
        store.write(key, b'{"a": ')
    state = State.of(store, None)
    assert len(state.notes) == 3
    assert all("\n" not in note and "damaged" in note for note in state.notes)
    state.show()
    assert "holds no published memory" not in capsys.readouterr().out
    assert state.to_json()["run"] is None


def test_an_unknown_run_is_a_mistake_of_the_command(store: LocalStore) -> None:
    with pytest.raises(UsageError, match="knows no run r9"):
        State.of(store, "r9")
    with pytest.raises(UsageError, match="knows no run r9"):
        earlier_run(store, "r9")
    with pytest.raises(UsageError, match="has seen no build"):
        earlier_run(store, None)


def test_a_run_at_work_is_not_repeated(store: LocalStore) -> None:
    with RunLog(store, {}), pytest.raises(StillRunningError, match="still at work"):
        earlier_run(store, None)


def test_a_run_is_asked_for_again_as_it_was_also_on_another_machine(store: LocalStore, tmp_path: Path) -> None:
    gone, here = tmp_path / "gone", tmp_path / "here"
    here.mkdir()
    request = BuildRequest(gone, ("B1_MARA",), ("1",), BuildConfig(max_failed_shards=3), ("B1_MARA/DAY1/09",), 2)
    failure = ShardFailure("E", "m", "")
    with RunLog(store, request.to_json()) as run:
        run.begin_wave("observe", 1, 0)
        run.count(ShardResult("observe", Shard("B1_MARA", 1, 9), "k", "failed", failure=failure))
    earlier = read_run(store)
    assert earlier is not None
    with pytest.raises(UsageError, match=f"not at {gone}.*--corpus"):
        request_of(earlier, None)
    assert request_of(earlier, here) == BuildRequest(here, *request_fields(request))
    with pytest.raises(UsageError, match="does not fit this version"):
        request_of(earlier.model_copy(update={"request": {"corpus": str(here)}}), None)


def request_fields(request: BuildRequest) -> tuple[Any, ...]:
    return request.wearers, request.days, request.config, request.shards, request.limit


def test_a_plan_says_where_its_times_come_from_and_what_they_cost() -> None:
    known = Plan({"observe": StagePlan(2, 10, 360.0), "embed": StagePlan(0, 1, 3600.0, gpus=1.0)}, "the runs up to r")
    lines = plan_lines(known, 2, Prices(cpu_hour=1.0, gpu_hour=2.5, currency="EUR"))
    assert (
        lines[0]
        == "11 shards to make on 2 CPUs: about 60 min, 2.00 CPU-hours, 1.00 GPU-hours (rates of the runs up to r)"
    )
    assert lines[1] == "about 4.50 EUR at the configured prices"
    assert len(plan_lines(known, 2, Prices())) == 1
    assert "time unknown: no earlier run to go by" in plan_lines(Plan({"join": StagePlan(0, 1)}), 2, Prices())[0]
    partly = Plan({"observe": StagePlan(0, 1, 1.0), "join": StagePlan(0, 1)}, "the current memory")
    assert plan_lines(partly, 2, Prices()) == [f"2 shards to make on 2 CPUs, time unknown: {UNKNOWN} for join"]


def test_numbers_are_written_for_people() -> None:
    assert [duration_text(seconds) for seconds in (0, 40, 200, 7200, 3 * 86400)] == [
        "0 s", "40 s", "3 min", "2.0 h", "3.0 days",
    ]  # fmt: skip
    assert [size_text(count) for count in (0, 2048, 3 << 20, 5 << 30, 7 << 40)] == [
        "0 bytes", "2.0 KiB", "3.0 MiB", "5.0 GiB", "7.0 TiB",
    ]  # fmt: skip
    assert [count_text(1, "shard"), count_text(1200, "shard"), count_text(2, "memory")] == [
        "1 shard", "1,200 shards", "2 memories",
    ]  # fmt: skip

"""How a build ends that does not end by itself: deadline, stop, kill. Real Ray, and a worker that hangs for ever."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from jobs.run_text import run_lines
from ray_tasks.storage.run_rates import Rates
from ray_tasks.storage.run_records import is_alive, open_runs, read_run
from ray_tasks.storage.store import LocalStore
from tests.jobs.hanging_build import HANGING
from tests.scheduling.corpus import small_corpus

pytestmark = pytest.mark.slow

PATIENCE_S = 240.0
MARK = "DAYBOOK_TEST_MARK"


@dataclass
class Hanging:
    """The process of a build that hangs, and everything that it has started."""

    process: subprocess.Popen[str]
    store: LocalStore
    mark: str
    worker: Path

    def until_it_hangs(self) -> int:
        """The process id of the worker that hangs."""
        limit = time.monotonic() + PATIENCE_S
        while not self.worker.exists():
            if self.process.poll() is not None or time.monotonic() > limit:
                self.process.kill()
                pytest.fail(f"no worker came to the hour that hangs:\n{self.ends()[1]}")
            time.sleep(0.1)
        return int(self.worker.read_text(encoding="ascii"))

    def ends(self) -> tuple[int, str]:
        """Exit code and what was printed."""
        printed, _ = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, printed

    def left(self) -> list[int]:
        """Processes of this build that are still there: all of them inherited its mark."""
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    environment = (folder / "environ").read_bytes()
                    dead = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
                except OSError:
                    continue
                if f"{MARK}={self.mark}".encode() in environment and dead != "Z":
                    found.append(int(folder.name))
        return found


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture
def start(corpus: Path, tmp_path: Path) -> Iterator[Callable[[float], Hanging]]:
    begun: list[Hanging] = []

    def begin(deadline_s: float) -> Hanging:
        root, mark = tmp_path / "root", uuid.uuid4().hex
        environment = {**os.environ, MARK: mark, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
        environment.pop("RAY_ADDRESS", None)
        command = [sys.executable, "-m", "tests.jobs.hanging_build", str(corpus), str(root), str(deadline_s)]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        begun.append(Hanging(process, LocalStore(root), mark, Path(f"{root}.pid")))
        return begun[-1]

    yield begin
    for hanging in begun:
        for pid in hanging.left():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def wait_for(condition: Callable[[], bool], otherwise: str) -> None:
    limit = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < limit, otherwise
        time.sleep(0.1)


def test_a_deadline_ends_a_hang_with_a_report_and_leaves_no_process(start: Callable[[float], Hanging]) -> None:
    hanging = start(3600)
    hanging.until_it_hangs()
    hanging.process.send_signal(signal.SIGALRM)  # as the alarm that is set for the deadline
    code, printed = hanging.ends()
    assert code == 1, printed
    assert "the deadline of 3600 s has passed" in printed
    assert "observe: 12 of 12 shards done" in printed
    assert f"still running: extract {HANGING} for " in printed
    assert "run the same command again" in printed
    assert "Traceback" not in printed
    record = read_run(hanging.store)
    assert record is not None and record.state == "deadline"
    assert open_runs(hanging.store) == ([], [])
    wait_for(lambda: not hanging.left(), "processes were left behind")


def test_a_stop_is_recorded_within_the_three_seconds_that_ray_gives(start: Callable[[float], Hanging]) -> None:
    hanging = start(3600)
    hanging.until_it_hangs()
    hanging.process.send_signal(signal.SIGTERM)
    asked = time.monotonic()

    def state() -> str:
        record = read_run(hanging.store)
        return record.state if record else ""

    wait_for(lambda: state() == "interrupted", "the stop was not recorded")
    assert time.monotonic() - asked < 60  # three seconds on a machine that has nothing else to do
    code, printed = hanging.ends()
    assert code == 1, printed
    assert "interrupted" in printed
    wait_for(lambda: not hanging.left(), "processes were left behind")


def test_a_killed_build_is_known_to_be_dead_and_its_next_one_goes_on(start: Callable[[float], Hanging]) -> None:
    hanging = start(3600)
    hanging.until_it_hangs()
    begun, _ = open_runs(hanging.store)
    assert [is_alive(run) for run in begun] == [True]
    hanging.process.kill()
    hanging.process.wait(PATIENCE_S)
    record = read_run(hanging.store)
    assert record is not None and record.state == "running" and not is_alive(record)
    assert "died (last heard of" in next(iter(run_lines(record, Rates(), [], [])))
    # From another machine the same record is dead once its heartbeats are missing.
    elsewhere = record.model_copy(update={"holder": record.holder.model_copy(update={"machine": "another"})})
    assert is_alive(elsewhere)
    assert not is_alive(elsewhere.model_copy(update={"updated": "2020-01-01T00:00:00Z"}))
    wait_for(lambda: not hanging.left(), "processes were left behind")

"""Deadlines and SIGTERM: how a long command ends before its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jobs.stopping import DeadlineError, StoppedError, deadline, stoppable


def test_a_block_that_is_done_in_time_is_left_alone() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with deadline(30.0), deadline(None):
        pass
    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_deadline_ends_a_wait_also_inside_code_that_swallows_exceptions() -> None:
    def stubborn() -> None:
        try:
            time.sleep(20)
        except Exception:  # noqa: BLE001 - as libraries do
            time.sleep(20)

    started = time.monotonic()
    said = r"the deadline of 0\.05 s has passed\nrun the same command again"
    with pytest.raises(DeadlineError, match=said), deadline(0.05):
        stubborn()
    assert time.monotonic() - started < 15


def test_the_report_is_what_the_error_says() -> None:
    with (
        pytest.raises(DeadlineError, match="2 of 7 shards after 0"),
        deadline(0.05, lambda s: f"2 of 7 shards after {s} s"),
    ):
        time.sleep(20)


def test_no_time_left_is_a_deadline_and_not_none() -> None:
    with pytest.raises(DeadlineError), deadline(0.0):
        time.sleep(20)


def test_sigterm_is_told_at_once_and_then_raised() -> None:
    heard: list[str] = []
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(StoppedError), stoppable(heard.append):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(20)
    assert heard == ["told to stop (SIGTERM)"]
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_second_sigterm_does_not_cut_the_winding_up_short() -> None:
    wound_up = False
    with pytest.raises(StoppedError), stoppable():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(20)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.05)
            wound_up = True
    assert wound_up


def test_a_handler_that_somebody_puts_in_meanwhile_can_be_replaced_again() -> None:
    heard: list[str] = []
    with pytest.raises(StoppedError), stoppable(heard.append):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as ray.init does
        with stoppable(heard.append):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(20)
    assert len(heard) == 1


def test_a_block_that_never_comes_back_to_python_is_ended_all_the_same() -> None:
    """Here a handler that does nothing stands for native code in which no handler ever runs."""
    script = (
        "import signal, time\n"
        "from jobs import stopping\n"
        "stopping.UNWIND_S = 0.2\n"
        "with stopping.deadline(0.1, lambda s: '3 of 7 shards'):\n"
        "    signal.signal(signal.SIGALRM, lambda *_: None)\n"
        "    time.sleep(60)\n"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=root, timeout=50, check=False
    )
    assert done.returncode == 1
    assert "3 of 7 shards" in done.stderr and "Traceback" not in done.stderr

"""Ending a long command in good order: at a deadline, or when it is told to stop."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from ray_tasks.errors import DaybookError

UNWIND_S: Final = 30.0
"""How long the winding-up after a deadline may take, before the process ends where it stands."""


class DeadlineError(DaybookError):
    """The command took longer than it was given."""


class StoppedError(KeyboardInterrupt):
    """Somebody told the process to end (SIGTERM), as `ray job stop` and Kubernetes do before they kill."""


class _AlarmError(BaseException):
    """Rings in the middle of anything; a BaseException, since libraries catch every Exception."""


@contextmanager
def deadline(seconds: float | None, report: Callable[[float], str] | None = None) -> Iterator[None]:
    """Raises DeadlineError out of the block after so many seconds; the signal also reaches a wait inside Ray.

    `report` is asked at once for the words of the error. Where the winding-up hangs, or the block hangs in native code
    that never comes back to Python, the process ends with exit code 1 UNWIND_S later.
    """
    if seconds is None:
        yield
        return
    said: list[str] = []
    over = threading.Event()

    def words() -> str:
        if not said:
            said.append(report(seconds) if report else f"the deadline of {seconds:g} s has passed")
        return said[0]

    def ring(_signal: int, _frame: object) -> None:
        raise _AlarmError(words())

    def guard() -> None:
        if not over.wait(seconds + UNWIND_S):
            _end_here(words())

    # The guard is there from the beginning: a signal handler must not start a thread, which takes locks.
    threading.Thread(target=guard, name="deadline", daemon=True).start()
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3))  # 0 would switch the alarm off
    try:
        yield
    except _AlarmError as passed:
        raise DeadlineError(f"{passed}\nrun the same command again to go on") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        over.set()


def _end_here(words: str) -> None:
    sys.stderr.write(f"error: {words}\nwinding up took longer than {UNWIND_S:g} s, so the process ends here\n")
    sys.stderr.flush()
    os._exit(1)


@contextmanager
def stoppable(on_stop: Callable[[str], None] | None = None) -> Iterator[None]:
    """Turns the first SIGTERM in the block into StoppedError, after `on_stop` was told the reason.

    `on_stop` is called at once: whoever sends the signal may kill the process a few seconds later, before everything
    is wound up. Does nothing outside the main thread, which alone may take signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_signal: int, _frame: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one would cut the winding-up short
        if on_stop:
            on_stop("told to stop (SIGTERM)")
        raise StoppedError("told to stop (SIGTERM)")

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

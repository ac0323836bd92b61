"""The processes of a build, found by their session, and killed the hard way."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

NOT_AT_WORK: Final = ("ray::IDLE", "ray::_", "Agent", "ActorLocationTracker", "StatsActor", "AutoscalingCoordinator")
"""What Ray's own processes and actors, and those of its workers that wait for work, call themselves."""


@dataclass(frozen=True)
class Process:
    """A living process: its parent, its session (the pid of the session's leader) and its command line."""

    pid: int
    parent: int
    session: int
    command: str

    @property
    def is_at_work(self) -> bool:
        """Whether this is a worker of Ray that is making shards."""
        return self.command.startswith("ray::") and not any(name in self.command for name in NOT_AT_WORK)


def session_processes(*sessions: int) -> list[Process]:
    """Living processes of these sessions; those that have ended and wait for their parent do not count."""
    return [process for process in _all_processes() if process.session in sessions]


def descendants(pid: int) -> list[Process]:
    """Living processes that a process has started, and those that they have started."""
    living = _all_processes()
    found = {pid}
    while True:
        more = {process.pid for process in living if process.parent in found} - found
        if not more:
            return [process for process in living if process.pid in found and process.pid != pid]
        found |= more


def node_processes(pid: int) -> list[Process]:
    """All processes of a node that `ray start` began, whatever session they have made for themselves."""
    return list({process.pid: process for process in (*session_processes(pid), *descendants(pid))}.values())


def _all_processes() -> list[Process]:
    return [
        process for folder in Path("/proc").iterdir() if folder.name.isdecimal() for process in _read(int(folder.name))
    ]


def _read(pid: int) -> Iterable[Process]:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:  # it has just ended
        return
    state, parent, _group, session, *_ = stat.rpartition(")")[2].split()
    if state not in "ZX":
        yield Process(pid, int(parent), int(session), command)


def kill(processes: Iterable[Process]) -> None:
    """SIGKILL to each; one that has just ended is passed over."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


def wait_until(holds: Callable[[], bool], seconds: float, *, every: float = 0.05) -> bool:
    """Waits until a condition holds; whether it did within so many seconds."""
    limit = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > limit:
            return False
        time.sleep(every)
    return True


def left_behind(sessions: Iterable[int], *, grace_s: float) -> list[Process]:
    """What is still alive of these sessions after a time of grace."""
    leaders = tuple(sessions)
    wait_until(lambda: not session_processes(*leaders), grace_s, every=0.2)
    return session_processes(*leaders)

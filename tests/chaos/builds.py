"""Builds as a user starts them, each a process in a session of its own, to be killed and started again."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from ray_tasks.storage.store import ObjectStore, open_store
from tests.chaos.processes import Process, kill, session_processes, wait_until

REPOSITORY: Final = Path(__file__).resolve().parents[2]
LONGEST_S: Final = 540.0
"""No build of these tests takes longer, unless it hangs."""
MOST_RESUMES: Final = 3
MOST_MISSES: Final = 4

_OTHERS: Final = {"cache", "memories", "runs", "preflight", ".locks"}
"""What appears in a root before the pointer does."""

Victim = Literal["driver", "publication", "worker", "two workers", "Ray", "Ray and driver"]


@dataclass(frozen=True)
class Order:
    """What to build, in what environment; `root` is a folder or s3://bucket/prefix."""

    corpus: Path
    root: str
    selection: tuple[str, ...]
    config: Path | None
    environment: Mapping[str, str] = field(default_factory=dict)

    def arguments(self) -> list[str]:
        """The command line of the build."""
        config = ["--config", str(self.config)] if self.config else []
        return ["build", "--corpus", str(self.corpus), "--root", self.root, *self.selection, *config, "--cpus", "2"]


class Running:
    """A command in a session of its own; Ray's processes that it starts belong to that session too."""

    def __init__(self, arguments: list[str], environment: Mapping[str, str], log: Path) -> None:
        program = [sys.executable, "-m", "jobs.cli"]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        settings = {**clean, "PYTHONPATH": str(REPOSITORY), "COLUMNS": "160", **environment}
        self.log = log
        with log.open("ab") as sink:
            self._process = subprocess.Popen(
                [*program, *arguments],
                cwd=REPOSITORY,
                env=settings,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                start_new_session=True,
            )
        self.session = self._process.pid

    @property
    def is_over(self) -> bool:
        """Whether the driver has ended; its Ray may still be going."""
        return self._process.poll() is not None

    def exit_code(self, seconds: float = LONGEST_S) -> int:
        """Waits for the driver's end; one that hangs is killed with its session, and fails the test."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            kill(session_processes(self.session))
            self._process.wait()
            raise AssertionError(f"hung for {seconds:g} s:\n{self.printed()}") from None

    def printed(self) -> str:
        """The end of what it printed."""
        return self.log.read_text(encoding="utf-8", errors="replace")[-4000:]

    def driver(self) -> list[Process]:
        """The driver's own process."""
        return [process for process in session_processes(self.session) if process.pid == self.session]

    def ray(self) -> list[Process]:
        """Ray's processes of this session."""
        return [process for process in session_processes(self.session) if process.pid != self.session]


@contextmanager
def ray_folder() -> Iterator[str]:
    """A folder for Ray's sockets and logs, with a path as short as sockets need."""
    folder = tempfile.mkdtemp(prefix="dbk", dir="/tmp")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Story:
    """What was done to a build, and what it did."""

    victim: Victim
    moments: list[float]
    missed: int = 0
    killed: list[str] = field(default_factory=list)
    exit_codes: list[int] = field(default_factory=list)
    sessions: list[int] = field(default_factory=list)
    ended_after_s: float = 0.0
    seconds: float = 0.0

    def __str__(self) -> str:
        moments = ", ".join(f"{moment:.1f}" for moment in self.moments)
        return (
            f"{self.victim} at {moments} s [{', '.join(self.killed)}]: exit codes {self.exit_codes}, "
            f"driver over {self.ended_after_s:.1f} s after it, {self.seconds:.0f} s in all, {self.missed} missed"
        )


def kill_and_resume(order: Order, victim: Victim, seed: int, undisturbed_s: float, folder: Path) -> Story:
    """Starts a build, kills the victim at a random moment, and starts it again until it says that it is done.

    A build that was over before it could be killed does not count: it begins again from nothing, with an earlier
    moment. `folder` takes the logs; `order.root` must be a local folder or an empty prefix.
    """
    generator = random.Random(seed)
    moments = sorted(generator.uniform(0.02, 0.95) * undisturbed_s for _ in range(1 + (victim == "two workers")))
    story = Story(victim, moments)
    started = time.monotonic()
    with ray_folder() as temporary:
        environment = {"RAY_TMPDIR": temporary, **order.environment}
        while True:
            build = Running(order.arguments(), environment, folder / "build.log")
            story.sessions.append(build.session)
            story.killed = _strike(build, order, story, generator)
            if story.killed:
                break
            assert build.exit_code() == 0, build.printed()
            story.missed += 1
            assert story.missed <= MOST_MISSES, f"never caught at work: {story}"
            _empty(order.root)
            story.moments = [moment * 0.8 for moment in story.moments]
        struck = time.monotonic()
        story.exit_codes.append(build.exit_code())
        story.ended_after_s = time.monotonic() - struck
        while story.exit_codes[-1] != 0 and len(story.exit_codes) <= MOST_RESUMES:
            build = Running(order.arguments(), environment, folder / "build.log")
            story.sessions.append(build.session)
            story.exit_codes.append(build.exit_code())
        story.seconds = time.monotonic() - started
        assert story.exit_codes[-1] == 0, f"{story}\n{build.printed()}"
    return story


def _strike(build: Running, order: Order, story: Story, generator: random.Random) -> list[str]:
    """Kills the victims when their moments come; the names of what was killed, none if the build was over before."""
    started = time.monotonic()
    names: list[str] = []
    if story.victim == "publication":
        # The manifest comes into being in its own folder, the pointer beside it when all gates have been passed.
        place = Path(order.root) / generator.choice(("memories", "."))
        before = _names(place)
        wait_until(lambda: build.is_over or not _names(place) <= before | _OTHERS, LONGEST_S, every=0.0002)
        story.moments = [time.monotonic() - started]
        time.sleep(generator.uniform(0, 0.01))
        kill([] if build.is_over else build.driver())
        return ["driver"] if build.exit_code() == -signal.SIGKILL else []
    for moment in story.moments:
        time.sleep(max(0.0, started + moment - time.monotonic()))
        victims = _choose(build, order, story.victim, generator)
        if build.is_over or not victims:
            return names
        kill(victims)
        names.append(_name(victims))
    return names


def _choose(build: Running, order: Order, victim: Victim, generator: random.Random) -> list[Process]:
    if victim == "driver":
        return build.driver()
    if victim == "Ray and driver":
        return build.driver() + build.ray()
    if victim == "Ray":
        wait_until(lambda: build.is_over or bool(build.ray()), LONGEST_S)
        return build.ray()
    at_work: list[Process] = []

    def look() -> bool:
        at_work[:] = [process for process in build.ray() if process.is_at_work]
        return build.is_over or bool(at_work)

    wait_until(look, LONGEST_S, every=0.02)
    return [generator.choice(at_work)] if at_work else []


def _name(victims: list[Process]) -> str:
    if len(victims) > 1:
        return f"{len(victims)} processes"
    return victims[0].command.split(" ")[0].split("(")[0] if victims[0].is_at_work else "driver"


def _empty(root: str) -> None:
    if "://" not in root:
        shutil.rmtree(root)
        return
    store = open_store(root)
    for key in list(store.list_keys("")):
        store.delete(key)


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


def failures_told(store: ObjectStore) -> list[str]:
    """Shards that the current memory's build gave up, as its manifest tells."""
    memory_id = json.loads(store.read("current.json"))["memory_id"]
    told: list[str] = json.loads(store.read(f"memories/{memory_id}/manifest.json"))["build"].get("failures", [])
    return told

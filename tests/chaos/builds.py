"""Builds as a user starts them, each a process in a session of its own, to be killed and started again."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from ray_tasks.storage.store import ObjectStore, open_store
from tests.chaos.processes import Process, kill, node_processes, session_processes, wait_until

REPOSITORY: Final = Path(__file__).resolve().parents[2]
LONGEST_S: Final = 540.0
"""No build of these tests takes longer, unless it hangs."""
MOST_RESUMES: Final = 3
MOST_MISSES: Final = 4
STARTS: Final = 4
"""Times that Ray is started anew where the machine is too busy for it."""
NO_RAY: Final = "Ray did not start"
GIVES_UP: Final = {"RAY_gcs_rpc_server_reconnect_timeout_s": "15"}
"""How long a driver waits for a Ray that was killed; by default a minute, in which nothing happens."""

_OTHERS: Final = {"cache", "memories", "runs", "preflight", ".locks"}
"""What appears in a root before the pointer does."""

Victim = Literal["driver", "publication", "worker", "two workers", "Ray", "Ray and driver"]


@dataclass(frozen=True)
class Order:
    """What to build, in what environment; `root` is a folder or s3://bucket/prefix.

    module: the program, which is the command line or takes the same arguments. node: the process of `ray start` on
    whose Ray it builds, if it does not start its own.
    """

    corpus: Path
    root: str
    selection: tuple[str, ...]
    config: Path | None
    environment: Mapping[str, str] = field(default_factory=dict)
    module: str = "jobs.cli"
    node: int | None = None

    def arguments(self) -> list[str]:
        """The command line of the build."""
        config = ["--config", str(self.config)] if self.config else []
        return ["build", "--corpus", str(self.corpus), "--root", self.root, *self.selection, *config, "--cpus", "2"]

    def start(self, variables: Mapping[str, str], log: Path) -> Running:
        """The build, begun; `variables` are added to its environment."""
        return Running(self.arguments(), {**variables, **self.environment}, log, module=self.module, node=self.node)


class Running:
    """A command in a session of its own; Ray's processes that it starts belong to that session too."""

    def __init__(
        self,
        arguments: list[str],
        environment: Mapping[str, str],
        log: Path,
        *,
        module: str = "jobs.cli",
        node: int | None = None,
    ) -> None:
        program = [sys.executable, "-m", module]
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
        self._node = node

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

    def wave(self) -> str:
        """The wave that it has begun last, as it says itself; empty before the first, "gates" after the last."""
        words = re.findall(r"^[\d:]+ (\w+): (?:\d+ shards|done in)", self.log.read_text(encoding="utf-8"), re.MULTILINE)
        ended = len(words) % 2 == 0 and words[-1:] == ["index"]
        return "gates" if ended else (words[-1] if words else "")

    def driver(self) -> list[Process]:
        """The driver's own process."""
        return [process for process in session_processes(self.session) if process.pid == self.session]

    def ray(self) -> list[Process]:
        """The processes of the Ray that it builds on."""
        if self._node is not None:
            return node_processes(self._node)
        return [process for process in session_processes(self.session) if process.pid != self.session]


def completed(start: Callable[[], Running]) -> Running:
    """A command that has ended well, begun again where the machine was too busy for Ray to start.

    Ray gives itself half a minute for that, which is too little for a machine with much else to do.
    """
    for _ in range(STARTS):
        command = start()
        if command.exit_code() == 0:
            return command
        assert NO_RAY in command.printed(), command.printed()
    raise AssertionError(f"Ray did not start {STARTS} times:\n{command.printed()}")


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
    wave: str = ""
    exit_codes: list[int] = field(default_factory=list)
    sessions: list[int] = field(default_factory=list)
    ended_after_s: float = 0.0
    seconds: float = 0.0

    def __str__(self) -> str:
        moments = ", ".join(f"{moment:.1f}" for moment in self.moments)
        return (
            f"{self.victim} at {moments} s [{', '.join(self.killed)}] in {self.wave or 'the start'}: "
            f"exit codes {self.exit_codes}, "
            f"driver over {self.ended_after_s:.1f} s after it, {self.seconds:.0f} s in all, {self.missed} missed"
        )


def kill_and_resume(order: Order, victim: Victim, seed: int, undisturbed_s: float, folder: Path) -> Story:
    """Starts a build, kills the victim at a random moment, and starts it again until it says that it is done.

    A build that was over before it could be killed does not count: it begins again from nothing, with an earlier
    moment. Nor does one for whose Ray the machine was too busy. `folder` takes the logs; `order.root` must be a local
    folder or an empty prefix.
    """
    generator = random.Random(seed)
    moments = sorted(generator.uniform(0.02, 0.95) * undisturbed_s for _ in range(1 + (victim == "two workers")))
    story = Story(victim, moments)
    started = time.monotonic()
    with ray_folder() as temporary:
        variables = {"RAY_TMPDIR": temporary}
        while True:
            build = order.start(variables | (GIVES_UP if victim == "Ray" else {}), folder / f"build{story.missed}.log")
            story.sessions.append(build.session)
            story.killed = _strike(build, order, story, generator)
            if story.killed:
                break
            ended_well = build.exit_code() == 0
            assert ended_well or NO_RAY in build.printed(), build.printed()
            story.missed += 1
            assert story.missed <= MOST_MISSES, f"never caught at work: {story}"
            _empty(order.root)
            if ended_well:
                story.moments = [moment * 0.8 for moment in story.moments]
        struck = time.monotonic()
        story.wave = build.wave()
        story.exit_codes.append(build.exit_code())
        story.ended_after_s = time.monotonic() - struck
        while story.exit_codes[-1] != 0 and len(story.exit_codes) <= MOST_RESUMES:
            build = order.start(variables, folder / "resumed.log")
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
        # Looking so often takes a whole CPU, so that it begins no sooner than the last wave.
        wait_until(lambda: build.is_over or bool(_names(Path(order.root) / "cache" / "part")), LONGEST_S, every=0.02)
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

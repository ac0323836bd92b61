"""A build that is killed, resumed and looked at all the while."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ray_tasks.storage.store import open_store
from tests.chaos.builds import Order, Story, Victim, failures_told, kill_and_resume
from tests.chaos.memories import Content, Watcher, content
from tests.chaos.processes import left_behind

GRACE_S: Final = 120.0
"""How long Ray's agents may take, on a busy machine, to notice that their node is gone."""


@dataclass(frozen=True)
class Watched:
    """How a build went, how often the pointer was looked at meanwhile, and what was wrong with it or the result."""

    story: Story
    samples: int
    faults: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.story}; {self.samples:,} looks at current.json{''.join(f'; {fault}' for fault in self.faults)}"


def watched(order: Order, expected: Content, victim: Victim, seed: int, undisturbed_s: float, folder: Path) -> Watched:
    """Kills a build, resumes it, and checks pointer, result and what it leaves behind.

    `undisturbed_s` is what the build takes without that, in seconds; `folder` is made and takes the logs.
    """
    folder.mkdir(parents=True)
    store = open_store(order.root)
    remote = "://" in order.root
    with Watcher(store, 0.05 if remote else 0.002) as watcher:
        story = kill_and_resume(order, victim, seed, undisturbed_s, folder)
        time.sleep(0.2)
    faults = [
        *watcher.faults,
        *content(store).differences(expected)[:5],
        *failures_told(store),
        *(f"left behind: {process}" for process in left_behind(story.sessions, grace_s=GRACE_S)),
    ]
    if victim in {"worker", "two workers"} and story.exit_codes != [0]:
        faults.append("the build did not go on by itself")
    store.remove_abandoned(0)
    if not remote:
        faults.extend(f"litter: {path}" for path in (Path(order.root) / "cache").rglob(".*"))
    return Watched(story, watcher.samples, tuple(faults))

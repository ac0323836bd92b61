"""Builds killed at a random moment and resumed end as if nobody had disturbed them.

Thirty builds, all but one of one wearer's day. Half of them start a Ray of their own, as on one machine, and half
build on a Ray that others have started, as on a cluster; a few load a model, and the others have an encoder that
needs no model's libraries. DAYBOOK_CHAOS_SEED chooses other moments, DAYBOOK_CHAOS_ROUNDS=10 does all of it ten times
and 0.3 less than half of it, DAYBOOK_CHAOS_WEEK=1 builds the whole sample week each time, and DAYBOOK_CHAOS_AT_ONCE
says how many builds run side by side.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from queue import Queue
from typing import Final

import pytest

from tests.chaos.builds import Victim
from tests.chaos.cluster import ray_cluster
from tests.chaos.conftest import AT_ONCE, SEED, Undisturbed
from tests.chaos.processes import Process, node_processes, wait_until
from tests.chaos.watching import GRACE_S, Watched, watched

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

ROUNDS = float(os.environ.get("DAYBOOK_CHAOS_ROUNDS", "1"))
ALWAYS_WEEK = os.environ.get("DAYBOOK_CHAOS_WEEK", "") == "1"

ON_A_CLUSTER: Final[dict[Victim, int]] = {"driver": 5, "publication": 2, "worker": 6, "two workers": 2}
JOINED: Final = 0.6
"""Of the time that a build takes which starts a Ray first."""


@pytest.mark.parametrize(
    ("victim", "days"),
    [
        ("driver", ["light_day", "light_day", "whole_week"]),
        ("publication", ["light_day"]),
        ("worker", ["light_day", "one_day"]),
        ("two workers", ["light_day"]),
        ("Ray", ["light_day", "light_day", "one_day"]),
        ("Ray and driver", ["light_day", "light_day", "light_day", "light_day", "one_day"]),
    ],
)
def test_a_killed_build_ends_as_if_undisturbed(
    victim: Victim, days: list[str], request: pytest.FixtureRequest, tmp_path: Path, tell: Callable[[str], None]
) -> None:
    names = (days * math.ceil(ROUNDS))[: math.ceil(len(days) * ROUNDS)]
    undisturbed = [_undisturbed(request, name) for name in names]

    def one(number: int) -> Watched:
        day, folder = undisturbed[number], tmp_path / str(number)
        return watched(day.elsewhere(folder / "root"), day.content, victim, _seed(victim, number), day.seconds, folder)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(one, range(len(names))))
    for name, result in zip(names, results, strict=True):
        tell(f"{name}: {result}")
    assert not [str(result) for result in results if result.faults]
    assert all(result.samples for result in results)


def test_a_build_killed_on_a_cluster_ends_as_if_undisturbed_and_leaves_no_worker_there(
    request: pytest.FixtureRequest, tmp_path: Path, tell: Callable[[str], None]
) -> None:
    day = _undisturbed(request, "light_day")
    victims: list[Victim] = [
        victim for victim, builds in ON_A_CLUSTER.items() for _ in range(math.ceil(builds * ROUNDS))
    ]

    clusters: Queue[tuple[dict[str, str], int]] = Queue()

    def one(number: int) -> Watched:
        joining, node = cluster = clusters.get()
        folder, victim = tmp_path / str(number), victims[number]
        order = replace(day.elsewhere(folder / "root", **joining), node=node)

        def working() -> list[Process]:
            return [process for process in node_processes(node) if process.is_at_work]

        try:
            result = watched(order, day.content, victim, _seed(victim, 100 + number), JOINED * day.seconds, folder)
            assert wait_until(lambda: not working(), GRACE_S), working()
        finally:
            clusters.put(cluster)
        return result

    with ExitStack() as stack:
        for number in range(AT_ONCE):
            logs = tmp_path / f"ray{number}"
            logs.mkdir()
            joining, (node,) = stack.enter_context(ray_cluster(1, logs))
            clusters.put((joining, node))
        with ThreadPoolExecutor(AT_ONCE) as pool:
            results = list(pool.map(one, range(len(victims))))
    for result in results:
        tell(f"on a cluster: {result}")
    assert not [str(result) for result in results if result.faults]
    assert all(result.samples for result in results)


def _undisturbed(request: pytest.FixtureRequest, name: str) -> Undisturbed:
    day: Undisturbed = request.getfixturevalue("whole_week" if ALWAYS_WEEK else name)
    return day


def _seed(victim: Victim, number: int) -> int:
    return SEED * 1000 + sum(map(ord, victim)) + number

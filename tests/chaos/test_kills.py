"""Builds killed at a random moment and resumed end as if nobody had disturbed them.

Thirty builds, all but one of one wearer's day. DAYBOOK_CHAOS_SEED chooses other moments, DAYBOOK_CHAOS_ROUNDS=10 does
all of it ten times and 0.3 less than a third of it, DAYBOOK_CHAOS_WEEK=1 builds the whole sample week each time, and
DAYBOOK_CHAOS_AT_ONCE says how many builds run side by side.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.chaos.builds import Victim
from tests.chaos.cluster import node_processes, ray_cluster
from tests.chaos.conftest import AT_ONCE, SEED, Undisturbed
from tests.chaos.processes import Process, wait_until
from tests.chaos.watching import GRACE_S, Watched, watched

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

ROUNDS = float(os.environ.get("DAYBOOK_CHAOS_ROUNDS", "1"))
ALWAYS_WEEK = os.environ.get("DAYBOOK_CHAOS_WEEK", "") == "1"


@pytest.mark.parametrize(
    ("victim", "days", "weeks"),
    [
        ("driver", 5, 1),
        ("publication", 3, 0),
        ("worker", 7, 0),
        ("two workers", 3, 0),
        ("Ray", 3, 0),
        ("Ray and driver", 5, 0),
    ],
)
def test_a_killed_build_ends_as_if_undisturbed(
    victim: Victim,
    days: int,
    weeks: int,
    one_day: Undisturbed,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    tell: Callable[[str], None],
) -> None:
    sizes = ["day"] * math.ceil(days * ROUNDS) + ["week"] * round(weeks * ROUNDS)
    if ALWAYS_WEEK:
        sizes = ["week"] * len(sizes)
    kinds: dict[str, Undisturbed] = {"day": one_day}
    if "week" in sizes:
        kinds["week"] = request.getfixturevalue("whole_week")

    def one(number: int) -> Watched:
        seed = SEED * 1000 + sum(map(ord, victim)) + number
        kind, folder = kinds[sizes[number]], tmp_path / str(number)
        return watched(kind.elsewhere(folder / "root"), kind.content, victim, seed, kind.seconds, folder)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(one, range(len(sizes))))
    for size, result in zip(sizes, results, strict=True):
        tell(f"{size}: {result}")
    assert not [str(result) for result in results if result.faults]
    assert all(result.samples for result in results)


def test_a_driver_killed_on_a_cluster_leaves_no_worker_there(
    one_day: Undisturbed, tmp_path: Path, tell: Callable[[str], None]
) -> None:
    with ray_cluster(1, tmp_path) as (joining, nodes):
        for number in range(math.ceil(3 * ROUNDS)):
            folder = tmp_path / str(number)
            order = one_day.elsewhere(folder / "root", **joining)
            seed = SEED * 1000 + number
            result = watched(order, one_day.content, "driver", seed, one_day.seconds, folder)
            tell(f"day on a cluster: {result}")
            assert not result.faults, str(result)

            def working() -> list[Process]:
                return [process for process in node_processes(nodes[0]) if process.is_at_work]

            assert wait_until(lambda: not working(), GRACE_S), working()

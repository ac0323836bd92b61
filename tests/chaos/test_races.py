"""Two builds race for one root: one publishes, the other is told so, and the store is whole."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from ray_tasks.storage.store import ObjectStore, open_store
from tests.chaos.builds import NO_RAY, STARTS, Order, completed, ray_folder
from tests.chaos.conftest import Undisturbed
from tests.chaos.memories import Watcher, Wholeness
from tests.chaos.s3 import environment, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

RACERS = (("--wearer", "B1_MARA", "--day", "3"), ("--wearer", "B2_TOBI", "--day", "3"))


def test_on_a_folder_one_build_publishes_and_the_other_is_told(light_day: Undisturbed, tmp_path: Path) -> None:
    _race(light_day.elsewhere(tmp_path / "root"), tmp_path)


def test_on_s3_one_build_publishes_and_the_other_is_told(
    light_day: Undisturbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as (server, root):
        variables = environment(server.url, tmp_path / "copies")
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        _race(light_day.elsewhere(root, **variables), tmp_path)


def _race(order: Order, folder: Path) -> None:
    """Both builds begin on an empty root at once; afterwards the loser tries again and finds its work done."""
    for number in range(STARTS):
        if _raced(replace(order, root=f"{order.root}{number}"), folder):
            return
    raise AssertionError(f"the builds did not meet in {STARTS} races")


def _raced(order: Order, folder: Path) -> bool:
    """Whether there was a race: not where one was done before the other began, or Ray did not start at all."""
    store = open_store(order.root)
    orders = [replace(order, selection=selection) for selection in RACERS]

    def build(number: int) -> tuple[int, str]:
        with ray_folder() as temporary:
            log = folder / f"{Path(order.root).name}-{number}.log"
            running = orders[number].start({"RAY_TMPDIR": temporary}, log)
            return running.exit_code(), running.printed()

    with Watcher(store, 0.02) as watcher, ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(build, range(2)))
    if any(NO_RAY in printed for _, printed in ends):
        return False
    if [code for code, _ in ends] == [0, 0]:
        assert _wearers(store) == {"B1_MARA", "B2_TOBI"}, "one has overwritten what the other published"
        return False
    assert sorted(code for code, _ in ends) == [0, 1], ends
    winner, loser = sorted(range(2), key=lambda number: ends[number][0])
    assert "published memory" in ends[winner][1]
    assert "was not published: process" in ends[loser][1] and "Traceback" not in ends[loser][1]
    assert watcher.faults == [] and Wholeness(store).fault() is None
    assert _wearers(store) == {RACERS[winner][1]}
    with ray_folder() as temporary:
        completed(lambda: orders[loser].start({"RAY_TMPDIR": temporary}, folder / "again.log"))
    assert Wholeness(store).fault() is None
    assert _wearers(store) == {"B1_MARA", "B2_TOBI"}
    return True


def _wearers(store: ObjectStore) -> set[str]:
    memory_id = json.loads(store.read("current.json"))["memory_id"]
    return set(json.loads(store.read(f"memories/{memory_id}/manifest.json"))["wearers"])

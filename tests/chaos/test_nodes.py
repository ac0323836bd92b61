"""A cluster of three nodes loses one in the middle of a build, which goes on without it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ray_tasks.storage.store import open_store
from tests.chaos.builds import LONGEST_S, failures_told
from tests.chaos.cluster import ray_cluster
from tests.chaos.conftest import SEED, Undisturbed
from tests.chaos.memories import Watcher, content
from tests.chaos.processes import Process, kill, node_processes, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

NODES = 3


def test_a_build_survives_the_loss_of_a_node(
    whole_week: Undisturbed, tmp_path: Path, tell: Callable[[str], None]
) -> None:
    generator = random.Random(SEED)
    order = whole_week.elsewhere(tmp_path / "root")
    store = open_store(order.root)
    with ray_cluster(NODES, tmp_path) as (joining, nodes), Watcher(store) as watcher:
        build = order.start(joining, tmp_path / "build.log")
        time.sleep(generator.uniform(0.2, 0.6) * whole_week.seconds)
        busy: list[list[Process]] = []

        def look() -> bool:
            """The driver belongs to the head, so that only the others can be lost."""
            seen = [node_processes(node) for node in nodes[1:]]
            busy[:] = [processes for processes in seen if any(each.is_at_work for each in processes)]
            return build.is_over or bool(busy)

        assert wait_until(look, LONGEST_S, every=0.02)
        assert busy and not build.is_over, f"over before a node could be killed:\n{build.printed()}"
        lost = generator.choice(busy)
        kill(lost)
        made = sum(1 for key in store.list_keys("cache") if key.endswith("/done.json"))
        code = build.exit_code()
    at_work = sum(each.is_at_work for each in lost)
    tell(f"node of {len(lost)} processes killed with {at_work} at work and {made} shards done; exit code {code}")
    assert code == 0, build.printed()
    assert content(store).differences(whole_week.content) == []
    assert failures_told(store) == []
    assert watcher.faults == [] and watcher.samples

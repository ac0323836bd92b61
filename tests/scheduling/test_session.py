"""What a build may use of a cluster, and clusters that cannot be joined."""

from __future__ import annotations

import os
from typing import Any

import pytest

from ray_tasks.scheduling.session import (
    MOST_ENCODERS,
    MOST_WORKERS,
    UNSEEN_CPUS,
    Cluster,
    ClusterError,
    ray_session,
    share_out,
)


@pytest.mark.parametrize(
    ("machines", "asked", "given"),
    [
        ([{"CPU": 2.0}], {}, Cluster(2, 2, 0.0, 1, False)),
        ([{"CPU": 16.0}, {"CPU": 16.0}, {"memory": 1.0}], {"joined": True}, Cluster(32, 16, 0.0, 2, True)),
        ([{"CPU": 1.0}] * 3, {"joined": True}, Cluster(3, 1, 0.0, 3, True)),
        ([{"CPU": 16.0}] * 2, {"joined": True, "cpus": 8}, Cluster(8, 8, 0.0, 1, True, True)),
        ([{"CPU": 16.0, "GPU": 1.0}] * 4, {"joined": True}, Cluster(64, 1, 1.0, 4, True)),
        ([{"CPU": 16.0, "GPU": 1.0}] * 4, {"joined": True, "encoder_gpus": 0.5}, Cluster(64, 1, 0.5, 8, True)),
        ([{"CPU": 16.0, "GPU": 1.0}], {"encoder_gpus": 0.0}, Cluster(16, 16, 0.0, 1, False)),
        ([{"memory": 1.0}], {"joined": True, "encoder_gpus": 1.0}, Cluster(MOST_WORKERS, 1, 1.0, MOST_ENCODERS, True)),
    ],
)
def test_a_build_takes_what_the_machines_have(
    machines: list[dict[str, float]], asked: dict[str, Any], given: Cluster
) -> None:
    assert share_out(machines, **{"joined": False, "cpus": None, "encoder_gpus": None, **asked}) == given


def test_an_encoder_on_a_cluster_without_machines_yet_does_not_go_by_the_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 96)
    cluster = share_out([], joined=True, cpus=None, encoder_gpus=None)
    assert (cluster.cpus, cluster.encoder_cpus) == (MOST_WORKERS, UNSEEN_CPUS)


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("127.0.0.1:1", "nobody answers at 127.0.0.1:1 .*is the cluster of RAY_ADDRESS=127.0.0.1:1 up"),
        ("ray://localhost:1", "nobody answers at localhost:1 "),
        ("http://127.0.0.1:8265", "is a dashboard's, which `ray job submit` takes"),
    ],
)
def test_a_cluster_that_does_not_answer_is_said_at_once(
    address: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(ClusterError, match=says), ray_session():
        pytest.fail("a cluster was joined")

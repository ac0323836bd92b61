"""deploy/schedule.yaml and kustomization.yaml: the accounts, and a start that never cuts off a running night."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.documents import ROOT, load, load_all, secrets

STAND_IN = """#!/bin/sh
echo "$@" >> "$CALLS"
case "$1" in get) printf %s "$STATE" ;; esac
"""


@pytest.fixture(scope="module")
def objects() -> dict[tuple[str, str], dict[str, Any]]:
    """The objects of the schedule by kind and name."""
    return {(item["kind"], item["metadata"]["name"]): item for item in load_all("deploy/schedule.yaml")}


@pytest.fixture(scope="module")
def pod(objects: dict[tuple[str, str], dict[str, Any]]) -> dict[str, Any]:
    """The pod that starts a night."""
    found: dict[str, Any] = objects["CronJob", "daybook-nightly"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return found


def start(pod: dict[str, Any], folder: Path, state: str) -> tuple[int, list[str]]:
    """Runs the start script with a stand-in for kubectl that reports `state`; its exit code and its calls."""
    (folder / "kubectl").write_text(STAND_IN, encoding="utf-8")
    (folder / "kubectl").chmod(0o755)
    calls = folder / "calls"
    (container,) = pod["containers"]
    ended = subprocess.run(
        [*container["command"], *container["args"]],
        env={"PATH": f"{folder}:{os.environ['PATH']}", "CALLS": str(calls), "STATE": state},
        check=False,
        capture_output=True,
        timeout=30,
    )
    return ended.returncode, calls.read_text(encoding="utf-8").splitlines()


def test_a_first_night_is_created(pod: dict[str, Any], tmp_path: Path) -> None:
    code, calls = start(pod, tmp_path, "")
    assert code == 0
    assert calls[1:] == ["create -f /nightly/rayjob.yaml"]


@pytest.mark.parametrize("state", ["Complete", "Failed"])
def test_a_finished_night_makes_room_for_the_next(pod: dict[str, Any], tmp_path: Path, state: str) -> None:
    code, calls = start(pod, tmp_path, f"daybook-nightly/{state}")
    assert code == 0
    assert [call.split()[0] for call in calls] == ["get", "delete", "create"]
    assert "rayjob daybook-nightly --wait" in calls[1]


@pytest.mark.parametrize("state", ["", "Initializing", "Running", "Retrying", "Suspended"])
def test_a_night_that_still_runs_is_left_alone(pod: dict[str, Any], tmp_path: Path, state: str) -> None:
    code, calls = start(pod, tmp_path, f"daybook-nightly/{state}")
    assert code == 1
    assert [call.split()[0] for call in calls] == ["get"]


def test_the_start_may_do_what_its_script_does_and_no_more(
    objects: dict[tuple[str, str], dict[str, Any]], pod: dict[str, Any]
) -> None:
    binding = objects["RoleBinding", "daybook-schedule"]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": pod["serviceAccountName"]}]
    assert binding["roleRef"]["name"] == "daybook-schedule"
    (rule,) = objects["Role", "daybook-schedule"]["rules"]
    assert (rule["apiGroups"], rule["resources"]) == (["ray.io"], ["rayjobs"])
    assert {"get", "create", "delete"} <= set(rule["verbs"]) <= {"get", "list", "watch", "create", "delete"}


def test_the_accounts_of_the_run_exist_with_a_role_instead_of_keys(
    objects: dict[tuple[str, str], dict[str, Any]],
) -> None:
    cluster = load("deploy/rayjob.yaml")["spec"]["rayClusterSpec"]
    for group in [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]:
        account = objects["ServiceAccount", group["template"]["spec"]["serviceAccountName"]]
        assert account["metadata"]["annotations"]["eks.amazonaws.com/role-arn"].startswith("arn:aws:iam::")
    assert [secrets(item) for item in objects.values()] == [[]] * len(objects)


def test_a_missed_hour_is_caught_up_and_starts_do_not_overlap(
    objects: dict[tuple[str, str], dict[str, Any]],
) -> None:
    spec = objects["CronJob", "daybook-nightly"]["spec"]
    assert spec["concurrencyPolicy"] == "Forbid"
    assert spec["timeZone"] == "Etc/UTC"
    assert spec["startingDeadlineSeconds"] >= 3600
    assert len(spec["schedule"].split()) == 5


def test_the_schedule_creates_the_ray_job_of_the_checkout() -> None:
    kustomization = load("deploy/kustomization.yaml")
    assert kustomization["resources"] == ["schedule.yaml"]
    assert kustomization["configMapGenerator"] == [{"name": "daybook-nightly", "files": ["rayjob.yaml"]}]


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kubectl_builds_it_and_points_the_schedule_at_the_hashed_copy() -> None:
    built = subprocess.run(
        ["kubectl", "kustomize", str(ROOT / "deploy")], check=True, capture_output=True, text=True, timeout=60
    )
    items = {item["kind"]: item for item in yaml.safe_load_all(built.stdout)}
    config = items["ConfigMap"]
    assert config["data"] == {"rayjob.yaml": (ROOT / "deploy" / "rayjob.yaml").read_text(encoding="utf-8")}
    pod = items["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["volumes"][0]["configMap"]["name"] == config["metadata"]["name"] != "daybook-nightly"
    assert all(item["metadata"]["namespace"] == "daybook" for item in items.values())

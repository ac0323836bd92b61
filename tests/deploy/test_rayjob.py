"""deploy/rayjob.yaml: the shape KubeRay takes, and what a nightly run relies on."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest
import yaml

from tests.deploy.documents import in_bytes, load, ray_version, secrets

DAY_SECONDS: Final = 24 * 3600

# Field names of ray.io/v1 as KubeRay's API reference lists them for 1.6 and 1.7. An unknown field is dropped by the API
# server without an error, so a misspelt deadline would be no deadline.
JOB_FIELDS: Final = {
    "activeDeadlineSeconds",
    "backoffLimit",
    "clusterSelector",
    "deletionStrategy",
    "entrypoint",
    "entrypointNumCpus",
    "entrypointNumGpus",
    "entrypointResources",
    "jobId",
    "managedBy",
    "metadata",
    "rayClusterSpec",
    "runtimeEnvYAML",
    "shutdownAfterJobFinishes",
    "submissionMode",
    "submitterConfig",
    "submitterPodTemplate",
    "suspend",
    "ttlSecondsAfterFinished",
}
CLUSTER_FIELDS: Final = {
    "authOptions",
    "autoscalerOptions",
    "enableInTreeAutoscaling",
    "gcsFaultToleranceOptions",
    "headGroupSpec",
    "headServiceAnnotations",
    "managedBy",
    "rayVersion",
    "suspend",
    "workerGroupSpecs",
}
AUTOSCALER_FIELDS: Final = {
    "env",
    "envFrom",
    "idleTimeoutSeconds",
    "image",
    "imagePullPolicy",
    "resources",
    "securityContext",
    "upscalingMode",
    "version",
    "volumeMounts",
}
HEAD_FIELDS: Final = {
    "enableIngress",
    "headService",
    "labels",
    "rayStartParams",
    "resources",
    "serviceType",
    "template",
}
WORKER_FIELDS: Final = {
    "groupName",
    "idleTimeoutSeconds",
    "labels",
    "maxReplicas",
    "minReplicas",
    "numOfHosts",
    "rayStartParams",
    "replicas",
    "resources",
    "scaleStrategy",
    "suspend",
    "template",
}


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    """The whole RayJob."""
    loaded: dict[str, Any] = load("deploy/rayjob.yaml")
    return loaded


@pytest.fixture(scope="module")
def spec(manifest: dict[str, Any]) -> dict[str, Any]:
    """The RayJob's spec."""
    found: dict[str, Any] = manifest["spec"]
    return found


def groups(spec: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The head and each worker group by name."""
    cluster = spec["rayClusterSpec"]
    return {"head": cluster["headGroupSpec"]} | {group["groupName"]: group for group in cluster["workerGroupSpecs"]}


def container(group: dict[str, Any]) -> dict[str, Any]:
    """The Ray container of a group, its only one."""
    (only,) = group["template"]["spec"]["containers"]
    assert isinstance(only, dict)
    return only


def test_it_is_a_ray_job_with_a_name_kuberay_takes(manifest: dict[str, Any]) -> None:
    assert (manifest["apiVersion"], manifest["kind"]) == ("ray.io/v1", "RayJob")
    # KubeRay derives names of clusters and services from it, hence its limit of 47 characters.
    assert re.fullmatch(r"[a-z]([-a-z0-9]{0,45}[a-z0-9])?", manifest["metadata"]["name"])


def test_every_field_exists_in_kuberay(spec: dict[str, Any]) -> None:
    cluster = spec["rayClusterSpec"]
    assert spec.keys() <= JOB_FIELDS
    assert spec["submitterConfig"].keys() == {"backoffLimit"}
    assert cluster.keys() <= CLUSTER_FIELDS
    assert cluster["autoscalerOptions"].keys() <= AUTOSCALER_FIELDS
    assert cluster["headGroupSpec"].keys() <= HEAD_FIELDS
    assert all(group.keys() <= WORKER_FIELDS for group in cluster["workerGroupSpecs"])


def test_the_entrypoint_is_the_nightly_job_with_everything_written_out(spec: dict[str, Any]) -> None:
    words = spec["entrypoint"].split()
    assert words[:3] == ["python", "-m", "jobs.nightly"]
    options = dict(zip(words[3::2], words[4::2], strict=True))
    assert options.keys() == {"--corpus", "--root", "--config", "--deadline"}
    # The job ends itself, with a report, before the cluster is taken from under it.
    assert 0 < float(options["--deadline"]) < spec["activeDeadlineSeconds"] - 600
    assert options["--root"].startswith("s3://")
    # The submitter's shell reads this line before the head does.
    assert not set(spec["entrypoint"]) & set("$`\"'\\\n")


def test_a_submitter_that_starts_again_follows_the_running_job(spec: dict[str, Any]) -> None:
    assert spec["submissionMode"] == "K8sJobMode"
    assert spec["submitterConfig"]["backoffLimit"] >= 1


def test_all_attempts_end_before_the_next_night(spec: dict[str, Any]) -> None:
    attempts = spec["backoffLimit"] + 1
    assert attempts > 1
    assert attempts * (spec["activeDeadlineSeconds"] + spec["ttlSecondsAfterFinished"]) < DAY_SECONDS


def test_the_cluster_goes_when_the_job_is_done(spec: dict[str, Any]) -> None:
    assert spec["shutdownAfterJobFinishes"] is True
    assert 0 < spec["ttlSecondsAfterFinished"] <= 3600


def test_the_cluster_runs_the_ray_of_the_image_with_autoscaling_and_a_token(spec: dict[str, Any]) -> None:
    cluster = spec["rayClusterSpec"]
    assert cluster["rayVersion"] == ray_version()
    assert cluster["enableInTreeAutoscaling"] is True
    assert cluster["authOptions"] == {"mode": "token"}
    assert 300 <= cluster["autoscalerOptions"]["idleTimeoutSeconds"] <= 900


def test_nothing_runs_on_the_head_but_the_driver(spec: dict[str, Any]) -> None:
    head = groups(spec)["head"]
    assert head["rayStartParams"]["num-cpus"] == "0"
    assert head["template"]["spec"]["nodeSelector"] == {"karpenter.sh/capacity-type": "on-demand"}
    assert head["template"]["metadata"]["annotations"]["karpenter.sh/do-not-disrupt"] == "true"


def test_start_parameters_are_strings(spec: dict[str, Any]) -> None:
    for group in groups(spec).values():
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())


def test_workers_grow_from_none_on_spot_nodes(spec: dict[str, Any]) -> None:
    workers = {name: group for name, group in groups(spec).items() if name != "head"}
    assert set(workers) == {"cpu", "gpu"}
    for group in workers.values():
        assert group["replicas"] == group["minReplicas"] == 0 < group["maxReplicas"]
        assert group["template"]["spec"]["nodeSelector"] == {"karpenter.sh/capacity-type": "spot"}


def test_only_the_gpu_group_asks_for_a_gpu_and_has_its_image(spec: dict[str, Any]) -> None:
    for name, group in groups(spec).items():
        gpus = container(group)["resources"]["limits"].get("nvidia.com/gpu")
        assert gpus == ("1" if name == "gpu" else None)
        assert container(group)["image"].endswith("-gpu" if name == "gpu" else "-cpu")


@pytest.mark.parametrize("name", ["head", "cpu", "gpu"])
def test_shared_memory_holds_the_object_store_and_fits_the_pod(spec: dict[str, Any], name: str) -> None:
    group = groups(spec)[name]
    (volume,) = [volume for volume in group["template"]["spec"]["volumes"] if volume["name"] == "shm"]
    assert volume["emptyDir"]["medium"] == "Memory"
    shared = in_bytes(volume["emptyDir"]["sizeLimit"])
    memory = in_bytes(container(group)["resources"]["limits"]["memory"])
    assert int(group["rayStartParams"]["object-store-memory"]) < shared < memory / 2
    assert {"name": "shm", "mountPath": "/dev/shm"} in container(group)["volumeMounts"]


@pytest.mark.parametrize("name", ["head", "cpu", "gpu"])
def test_pods_are_unprivileged_and_get_what_they_ask_for(spec: dict[str, Any], name: str) -> None:
    pod = groups(spec)[name]["template"]["spec"]
    only = container(groups(spec)[name])
    # Autoscaler v2 refuses other policies.
    assert pod["restartPolicy"] == "Never"
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert only["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    assert only["resources"]["requests"] == only["resources"]["limits"]


@pytest.mark.parametrize("name", ["head", "cpu", "gpu"])
def test_every_pod_reads_the_corpus_and_finds_the_root(spec: dict[str, Any], name: str) -> None:
    only = container(groups(spec)[name])
    environment = {variable["name"]: variable["value"] for variable in only["env"]}
    assert f"--root {environment['DAYBOOK_ROOT']}" in spec["entrypoint"]
    assert {"name": "corpus", "mountPath": "/corpus", "readOnly": True} in only["volumeMounts"]
    mounted = {mount["name"] for mount in only["volumeMounts"]}
    assert mounted == {volume["name"] for volume in groups(spec)[name]["template"]["spec"]["volumes"]}


def test_rights_come_from_accounts_and_no_key_is_named_anywhere(spec: dict[str, Any]) -> None:
    accounts = {name: group["template"]["spec"]["serviceAccountName"] for name, group in groups(spec).items()}
    assert accounts == {"head": "daybook-head", "cpu": "daybook-worker", "gpu": "daybook-worker"}
    assert secrets(spec) == []


def test_the_runtime_environment_installs_and_uploads_nothing(spec: dict[str, Any]) -> None:
    environment = yaml.safe_load(spec["runtimeEnvYAML"])
    assert environment.keys() == {"env_vars"}
    assert environment["env_vars"] == load("deploy/runtime_env.yaml")["env_vars"]

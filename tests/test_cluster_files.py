"""cluster.yaml: valid for Ray's launcher, and what a nightly run on it relies on."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.documents import ROOT, in_bytes, load, secrets

WORKERS = ("cpu", "gpu", "model")


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The schema in Ray's own wheel."""
    ray: Any = importlib.import_module("ray")
    text = (Path(ray.__file__).parent / "autoscaler" / "ray-schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@pytest.fixture
def cluster() -> dict[str, Any]:
    """cluster.yaml, a fresh copy for each test."""
    loaded: dict[str, Any] = load("cluster.yaml")
    return loaded


def errors(document: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    """What jsonschema finds wrong, as messages."""
    validator = importlib.import_module("jsonschema").Draft7Validator(schema)
    return [error.message for error in validator.iter_errors(document)]


def option(options: list[str], name: str) -> str:
    """The value of a docker option written `--name=value`; fails where it is not given exactly once."""
    (found,) = [given.split("=", 1)[1] for given in options if given.startswith(f"--{name}=")]
    return found


def object_store_bytes(commands: list[str]) -> int:
    """What the start commands give the object store."""
    (found,) = [int(match[1]) for command in commands if (match := re.search(r"--object-store-memory=(\d+)", command))]
    return found


def test_the_file_satisfies_rays_schema(cluster: dict[str, Any], schema: dict[str, Any]) -> None:
    assert errors(cluster, schema) == []


@pytest.mark.parametrize(
    ("where", "key", "value"),
    [
        ((), "autoscaling_mode", "aggressive"),
        (("docker",), "shm_size", "18g"),
        (("available_node_types", "cpu"), "spot", True),
        (("available_node_types", "cpu", "resources"), "CPU", -1),
        (("available_node_types", "cpu", "resources"), "CPU", 0.5),
    ],
)
def test_the_schema_finds_a_misspelt_or_impossible_setting(
    cluster: dict[str, Any], schema: dict[str, Any], where: tuple[str, ...], key: str, value: object
) -> None:
    place = cluster
    for step in where:
        place = place[step]
    place[key] = value
    assert errors(cluster, schema)


def test_with_rays_defaults_filled_in_it_is_still_valid_and_nothing_is_installed_at_start(
    cluster: dict[str, Any], schema: dict[str, Any]
) -> None:
    prepared = importlib.import_module("ray.autoscaler._private.util").prepare_config(cluster)
    assert errors(prepared, schema) == []
    assert [prepared[f"{node}setup_commands"] for node in ("", "head_", "worker_")] == [[], [], []]
    assert not [command for command in prepared["initialization_commands"] if "pip" in command]


def test_the_head_offers_no_cpu_and_is_not_spot(cluster: dict[str, Any]) -> None:
    head = cluster["available_node_types"][cluster["head_node_type"]]
    assert head["resources"] == {"CPU": 0}
    assert head["max_workers"] == 0
    assert "InstanceMarketOptions" not in head["node_config"]


def test_workers_start_from_none_and_state_their_resources(cluster: dict[str, Any]) -> None:
    types = cluster["available_node_types"]
    assert set(types) == {"head", *WORKERS}
    assert [types[name]["min_workers"] for name in WORKERS] == [0, 0, 0]
    assert types["cpu"]["resources"].keys() == {"CPU"}
    assert types["gpu"]["resources"].keys() == {"CPU", "GPU"}
    assert types["model"]["resources"].keys() == {"CPU", "GPU", "accelerator_type:L40S"}
    assert all(amount > 0 for name in WORKERS for amount in types[name]["resources"].values())
    assert sum(types[name]["max_workers"] for name in WORKERS) <= cluster["max_workers"]


def test_every_worker_is_spot_and_the_way_back_to_on_demand_is_written_down(cluster: dict[str, Any]) -> None:
    for name in WORKERS:
        assert cluster["available_node_types"][name]["node_config"]["InstanceMarketOptions"] == {"MarketType": "spot"}
    comments = [line for line in (ROOT / "cluster.yaml").read_text(encoding="utf-8").splitlines() if "#" in line]
    assert any("idempotent" in line for line in comments)
    assert any("On demand instead" in line for line in comments)


def test_machines_have_instance_profiles_and_no_key_is_named_anywhere(cluster: dict[str, Any]) -> None:
    profiles = {
        name: node["node_config"]["IamInstanceProfile"]["Name"]
        for name, node in cluster["available_node_types"].items()
    }
    assert {profiles[name] for name in WORKERS} != {profiles["head"]} and len({profiles[name] for name in WORKERS}) == 1
    assert secrets(cluster) == []
    assert all(
        node["node_config"]["MetadataOptions"] == {"HttpTokens": "required"}
        for node in cluster["available_node_types"].values()
    )


@pytest.mark.parametrize(
    ("where", "key", "value"),
    [
        ("auth", "ssh_private_key", "~/.ssh/somebody"),
        ("provider", "aws_credentials", {"aws_access_key_id": "x"}),
        ("docker", "run_options", ["--env=AWS_SECRET_ACCESS_KEY=x"]),
        ("docker", "run_options", ["--env=ID=AKIAABCDEFGHIJKLMNOP"]),
    ],
)
def test_a_key_would_be_found(cluster: dict[str, Any], where: str, key: str, value: object) -> None:
    cluster[where][key] = value
    assert secrets(cluster)


def test_idle_machines_are_given_back_after_five_to_fifteen_minutes(cluster: dict[str, Any]) -> None:
    assert 5 <= cluster["idle_timeout_minutes"] <= 15
    assert cluster["provider"]["cache_stopped_nodes"] is False


@pytest.mark.parametrize("node", ["head", "worker"])
def test_shared_memory_holds_the_object_store(cluster: dict[str, Any], node: str) -> None:
    shared = in_bytes(option(cluster["docker"][f"{node}_run_options"], "shm-size"))
    stored = object_store_bytes(cluster[f"{node}_start_ray_commands"])
    assert stored < shared < 2 * stored


def test_the_root_comes_from_the_environment_and_the_corpus_is_mounted_read_only(cluster: dict[str, Any]) -> None:
    options = cluster["docker"]["run_options"]
    assert "--env=DAYBOOK_ROOT=s3://your-bucket/daybook" in options
    assert option(options, "volume").endswith(":/corpus:ro")
    assert any("--read-only" in command for command in cluster["initialization_commands"])


def test_images_are_baked_and_named_by_tag_one_for_each_kind_of_node(cluster: dict[str, Any]) -> None:
    image = cluster["docker"]["image"]
    (gpu_image,) = {cluster["available_node_types"][name]["docker"]["worker_image"] for name in ("gpu", "model")}
    assert re.fullmatch(r".+:\d+\.\d+\.\d+-cpu", image)
    assert gpu_image == image.removesuffix("-cpu") + "-gpu"


def test_the_dashboard_is_reachable_only_through_a_tunnel(cluster: dict[str, Any]) -> None:
    (start,) = [command for command in cluster["head_start_ray_commands"] if "--head" in command]
    assert "--dashboard-host=127.0.0.1" in start
    assert "--autoscaling-config=~/ray_bootstrap_config.yaml" in start


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """A stand-in for AWS inside this process, with the two instance profiles; skips where moto is not installed."""
    moto = pytest.importorskip("moto")
    boto3 = pytest.importorskip("boto3")
    # Ray writes the key pair it makes to ~/.ssh.
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "stand-in")
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    # Ray uses boto3's session of the process; the next test must not inherit one with these credentials.
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    with moto.mock_aws():
        for profile in ("daybook-head", "daybook-worker"):
            boto3.client("iam").create_instance_profile(InstanceProfileName=profile)
        yield boto3


def test_rays_aws_provider_starts_these_machines(cluster: dict[str, Any], aws: Any) -> None:
    util = importlib.import_module("ray.autoscaler._private.util")
    bootstrap = importlib.import_module("ray.autoscaler._private.aws.config").bootstrap_aws
    provider_class = importlib.import_module("ray.autoscaler._private.aws.node_provider").AWSNodeProvider
    ready = bootstrap(util.prepare_config(cluster))
    provider = provider_class(ready["provider"], ready["cluster_name"])
    for name, node in ready["available_node_types"].items():
        provider.create_node(node["node_config"], {"ray-user-node-type": name}, 1)

    reservations = aws.client("ec2").describe_instances()["Reservations"]
    machines = [machine for reservation in reservations for machine in reservation["Instances"]]
    started = {
        next(tag["Value"] for tag in machine["Tags"] if tag["Key"] == "ray-user-node-type"): (
            machine["InstanceType"],
            machine.get("InstanceLifecycle", "on demand"),
            machine["IamInstanceProfile"]["Arn"].rsplit("/", 1)[1],
        )
        for machine in machines
    }
    assert started == {
        "head": ("m6i.xlarge", "on demand", "daybook-head"),
        "cpu": ("m6i.4xlarge", "spot", "daybook-worker"),
        "gpu": ("g6.4xlarge", "spot", "daybook-worker"),
        "model": ("g6e.12xlarge", "spot", "daybook-worker"),
    }


def test_stated_resources_are_those_of_the_instance_types(cluster: dict[str, Any], aws: Any) -> None:
    for name in WORKERS:
        node = cluster["available_node_types"][name]
        kind = node["node_config"]["InstanceType"]
        (machine,) = aws.client("ec2").describe_instance_types(InstanceTypes=[kind])["InstanceTypes"]
        gpus = sum(gpu["Count"] for gpu in machine.get("GpuInfo", {}).get("Gpus", []))
        counted = {kind: amount for kind, amount in node["resources"].items() if kind in ("CPU", "GPU")}
        assert counted == {"CPU": machine["VCpuInfo"]["DefaultVCpus"]} | ({"GPU": gpus} if gpus else {})
        memory = machine["MemoryInfo"]["SizeInMiB"] << 20
        assert in_bytes(option(cluster["docker"]["worker_run_options"], "shm-size")) < memory / 2

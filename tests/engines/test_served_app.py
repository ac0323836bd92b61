"""What a model takes of a cluster and what Ray Serve LLM is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from ray_tasks.engines.served_app import (
    app_config,
    bundles,
    engine_arguments,
    last_words,
    loading_words,
    shortage,
    taken_from,
)
from ray_tasks.engines.settings import ChatSettings, ServeSettings
from ray_tasks.engines.weights import Weights
from ray_tasks.errors import UsageError

GPU_MACHINE = {"CPU": 16.0, "GPU": 2.0, "accelerator_type:L4": 1.0}


def serve(**values: Any) -> ServeSettings:
    """Settings of a served model."""
    return ServeSettings(**values)


def config_of(settings: ServeSettings, **values: Any) -> dict[str, Any]:
    """The configuration of the one model, and that of the ingress under `ingress`."""
    weights = Weights("/weights", "", Path("/weights"), **values)
    config = app_config(ChatSettings(model="gemma", serve=settings), weights, {"callback_class": "x"})
    return {**config["llm_configs"][0], "ingress": config["ingress_deployment_config"]}


def test_a_replica_on_the_cpu_reserves_cpus_and_no_accelerator() -> None:
    config = config_of(serve(gpus=0, cpus=2))
    assert config["placement_group_config"]["bundles"] == [{"CPU": 2}]
    assert config["accelerator_type"] is None
    assert config["log_engine_metrics"] is False


def test_white_space_that_fills_json_is_forbidden() -> None:
    rules = engine_arguments(serve(gpus=0))["structured_outputs_config"]
    assert rules == {"backend": "xgrammar", "disable_any_whitespace": True}


def test_the_users_rules_for_json_win() -> None:
    mine = {"structured_outputs_config": {"backend": "guidance", "disable_any_whitespace": False}}
    assert engine_arguments(serve(gpus=0, engine=mine)) == mine
    auto = {"structured_outputs_config": {"backend": "auto"}}
    assert engine_arguments(serve(gpus=0, engine=auto)) == auto, "vLLM refuses the rule with other backends"


def test_several_gpus_split_the_tensors_on_one_machine() -> None:
    config = config_of(serve(gpus=2, cpus=4, accelerator="L4"))
    assert config["engine_kwargs"]["tensor_parallel_size"] == 2
    assert config["placement_group_config"]["strategy"] == "STRICT_PACK"
    assert [bundle["GPU"] for bundle in config["placement_group_config"]["bundles"]] == [1, 1]


def test_stages_of_a_pipeline_may_be_machines_apart() -> None:
    config = config_of(serve(gpus=4, engine={"pipeline_parallel_size": 2}))
    assert config["engine_kwargs"]["tensor_parallel_size"] == 2
    assert config["placement_group_config"]["strategy"] == "PACK"


def test_gpus_and_their_split_have_to_agree() -> None:
    with pytest.raises(UsageError, match="tensor_parallel_size"):
        engine_arguments(serve(gpus=4, engine={"tensor_parallel_size": 2}))
    with pytest.raises(UsageError, match="whole number"):
        engine_arguments(serve(gpus=1.5))


def test_the_ingress_stays_with_the_gpus_that_are_named() -> None:
    assert config_of(serve(accelerator="L4"))["ingress"]["ray_actor_options"]["resources"] == {
        "accelerator_type:L4": 0.001
    }


def test_replicas_keep_off_the_hub_and_have_the_users_environment() -> None:
    env = config_of(serve(env={"A": "b"}))["runtime_env"]["env_vars"]
    assert env == {"HF_HUB_OFFLINE": "1", "A": "b"}
    hub = app_config(
        ChatSettings(model="g", serve=serve()), Weights("owner/model", "r", Path("/x")), {"callback_class": "x"}
    )
    assert hub["llm_configs"][0]["runtime_env"]["env_vars"]["HF_HUB_OFFLINE"] == "0"


def test_a_replica_that_reserves_nothing_still_has_a_place() -> None:
    assert bundles(serve(gpus=0, cpus=0)) == [{"CPU": 0.001}]


@pytest.mark.parametrize(
    ("settings", "machines", "fits"),
    [
        ({"gpus": 0, "cpus": 1}, [{"CPU": 2.0}], True),
        ({"gpus": 0, "cpus": 2}, [{"CPU": 2.0}], False),
        ({"gpus": 0, "cpus": 2}, [{"CPU": 2.0}, {"CPU": 1.0}], True),
        ({"gpus": 0, "cpus": 3}, [{"CPU": 2.0}, {"CPU": 2.0}], False),
        ({"gpus": 1}, [{"CPU": 2.0}], False),
        ({"gpus": 2}, [GPU_MACHINE], True),
        ({"gpus": 1, "replicas": 3}, [GPU_MACHINE], False),
        ({"gpus": 1, "accelerator": "L4"}, [GPU_MACHINE], True),
        ({"gpus": 1, "accelerator": "H100"}, [GPU_MACHINE], False),
        ({"gpus": 0.5, "replicas": 4}, [GPU_MACHINE], True),
        ({"gpus": 0}, [], False),
    ],
)
def test_what_fits(settings: dict[str, Any], machines: list[dict[str, float]], fits: bool) -> None:
    assert (shortage(serve(**settings), machines, spare_cpus=1) is None) == fits


def test_a_shortage_names_what_is_wanted_and_what_there_is() -> None:
    said = shortage(serve(gpus=1, accelerator="H100"), [GPU_MACHINE], spare_cpus=0)
    assert said is not None
    assert "1 GPU" in said
    assert "H100" in said
    assert "L4" in said


def test_of_a_traceback_the_error_is_left() -> None:
    trace = "Traceback (most recent call last):\n  File x\nValueError: no such model: a/b\n\nDuring handling ..."
    assert last_words(trace) == "ValueError: no such model: a/b"
    assert last_words("") == "no reason given"


def test_long_messages_of_ray_become_short_ones() -> None:
    waiting = "Deployment 'x' has 1 replicas that have taken more than 30s to be scheduled. This may be ..."
    assert loading_words(waiting, serve(gpus=0, cpus=2)) == "waiting for its processes (2 CPU)"
    assert loading_words("", serve()) == "loading"
    assert "MemoryError: no room" in loading_words("The replica failed to start\nMemoryError: no room", serve())


def test_secrets_come_from_the_jobs_environment_and_are_in_no_setting() -> None:
    settings = serve(gpus=0, env={"VLLM_CPU_KVCACHE_SPACE": "1"}, env_from=("HF_TOKEN",))
    taken = taken_from(settings, {"HF_TOKEN": "s3cret", "PATH": "/bin"})
    assert taken == {"HF_TOKEN": "s3cret"}
    app = app_config(ChatSettings(model="m", serve=settings), Weights("/w", "", Path("/w")), {}, taken)
    environment = app["llm_configs"][0]["runtime_env"]["env_vars"]
    assert (environment["HF_TOKEN"], environment["VLLM_CPU_KVCACHE_SPACE"]) == ("s3cret", "1")
    assert "s3cret" not in settings.model_dump_json()
    with pytest.raises(UsageError, match="export it"):
        taken_from(settings, {})
    with pytest.raises(ValidationError, match="env_from"):
        serve(env={"HF_TOKEN": "s3cret"})

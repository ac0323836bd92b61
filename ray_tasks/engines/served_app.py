"""What Ray Serve LLM is told about a model, and what a copy of it takes of a cluster. Pure: nothing is started here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ray_tasks.engines.settings import ChatSettings, ServeSettings
from ray_tasks.engines.weights import Weights
from ray_tasks.errors import UsageError

START_TRIES: Final = 2
"""How often a replica may fail to start. Ray's default of 20 would load a model that cannot run for an hour."""

SLIVER: Final = 0.001
"""The share of a named resource that pins a process to machines which have it, without using it up."""

WITHOUT_SPACES: Final = ("xgrammar", "guidance")
"""The backends for JSON in vLLM 0.29 that can forbid white space between the parts of a JSON document."""


def app_config(
    settings: ChatSettings, weights: Weights, callback: Mapping[str, Any], taken: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The arguments of `ray.serve.llm.build_openai_app` for a model with these weights.

    `callback` fetches them to each machine (ray_tasks/engines/weights_on_node.py). `taken` is what replicas get of
    the job's environment (see taken_from). Raises UsageError for settings that contradict each other.
    """
    serve = _started(settings)
    where = bundles(serve)
    model = {
        "model_loading_config": {"model_id": settings.model, "model_source": str(weights.folder)},
        "accelerator_type": serve.accelerator,
        "placement_group_config": {"bundles": where, "strategy": _strategy(serve)},
        "engine_kwargs": engine_arguments(serve),
        # Ray's own counters of the engine; they need a dashboard to be seen and cost time in every step of decoding.
        "log_engine_metrics": False,
        # A replica loads what was fetched, and does not look whether a hub has something newer.
        "runtime_env": {"env_vars": {"HF_HUB_OFFLINE": "0" if weights.from_hub else "1", **serve.env, **(taken or {})}},
        "callback_config": dict(callback),
        "deployment_config": {
            "num_replicas": serve.replicas,
            "max_constructor_retry_count": START_TRIES,
            # The replica itself only passes requests on to the engine that its bundles are for.
            "ray_actor_options": {"num_cpus": 0},
            "graceful_shutdown_timeout_s": 5,
            "graceful_shutdown_wait_loop_s": 1,
        },
    }
    ingress = {"num_replicas": 1, "ray_actor_options": {"num_cpus": 0, "resources": pin(serve)}}
    return {"llm_configs": [model], "ingress_deployment_config": ingress}


def taken_from(serve: ServeSettings | None, environment: Mapping[str, str]) -> dict[str, str]:
    """What replicas get of the environment of the job; raises UsageError for a variable that is not set there."""
    if serve is None:
        return {}
    if missing := [name for name in serve.env_from if name not in environment]:
        raise UsageError(f"serve.env_from: {', '.join(missing)} is not set in the environment of this job; export it")
    return {name: environment[name] for name in serve.env_from}


def engine_arguments(serve: ServeSettings) -> dict[str, Any]:
    """vLLM's arguments: the user's, and where these are silent, what makes JSON safe and several GPUs useful.

    Gemma fills its budget with white space inside JSON unless the grammar forbids it.
    """
    arguments = dict(serve.engine)
    json_rules = {"backend": "xgrammar", **arguments.get("structured_outputs_config", {})}
    if json_rules["backend"] in WITHOUT_SPACES:
        json_rules.setdefault("disable_any_whitespace", True)
    arguments["structured_outputs_config"] = json_rules
    if serve.gpus > 1 and serve.gpus != int(serve.gpus):
        raise UsageError(f"serve.gpus: {serve.gpus:g}: give a whole number, or a part of one GPU")
    stages = int(arguments.get("pipeline_parallel_size", 1))
    if serve.gpus > 1:
        arguments.setdefault("tensor_parallel_size", int(serve.gpus) // stages)
    workers = int(arguments.get("tensor_parallel_size", 1)) * stages
    if serve.gpus and workers != max(1, int(serve.gpus)):
        raise UsageError(
            f"serve.gpus: {serve.gpus:g}, but serve.engine splits the model over {workers} GPUs "
            "(tensor_parallel_size x pipeline_parallel_size); make the two agree"
        )
    return arguments


def bundles(serve: ServeSettings) -> list[dict[str, float]]:
    """What one replica takes: one bundle for each GPU, or one of CPUs; the CPUs are in the first.

    A replica that reserves nothing still needs a place, so it takes a sliver of a CPU.
    """
    pinned = pin(serve)
    if not serve.gpus:
        return [{"CPU": serve.cpus or SLIVER, **pinned}]
    share = min(serve.gpus, 1.0)
    first = {"GPU": share, **({"CPU": serve.cpus} if serve.cpus else {}), **pinned}
    return [first, *({"GPU": share, **pinned} for _ in range(int(serve.gpus) - 1))]


def pin(serve: ServeSettings) -> dict[str, float]:
    """The resource that ties a process to machines with the configured type of GPU; nothing where none is named."""
    return {f"accelerator_type:{serve.accelerator}": SLIVER} if serve.accelerator else {}


def shortage(serve: ServeSettings, machines: Sequence[Mapping[str, float]], *, spare_cpus: float) -> str | None:
    """Why these machines (Ray's resources of each) can never hold all replicas, in words; None if they can.

    `spare_cpus` must stay free for the work that asks the model, or nobody would ever ask. The bundles are laid out one
    by one on the first machine with room, which finds a place wherever all bundles are alike.
    """
    free = [dict(machine) for machine in machines]
    for number in range(serve.replicas):
        for bundle in bundles(serve):
            place = next((one for one in free if all(one.get(kind, 0) >= n for kind, n in bundle.items())), None)
            if place is None:
                which = f"replica {number + 1} of {serve.replicas}" if serve.replicas > 1 else "the model"
                return f"{which} takes {_words(bundle)} of one machine, and there is {_offer(machines)}"
            for kind, amount in bundle.items():
                place[kind] -= amount
    left = sum(machine.get("CPU", 0) for machine in free)
    if left < spare_cpus:
        return (
            f"the model takes all but {left:g} of the CPUs, and the work that asks it needs {spare_cpus:g}: "
            "there would be nobody to ask it"
        )
    return None


def last_words(message: str, most: int = 600) -> str:
    """What a traceback of a replica comes down to: its last line that names an error, else its last line."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"[\w.]*(?:Error|Exception|Exit)\b.*:", line)]
    return (errors or lines or ["no reason given"])[-1][:most]


def loading_words(said: str, serve: ServeSettings) -> str:
    """What the messages of an application that is not up yet come down to."""
    if "failed to start" in said or "Error" in said:
        return f"starting again after: {last_words(said)}"
    if "to be scheduled" in said:
        wanted = [_words(bundle) for bundle in bundles(serve)]
        return f"waiting for its processes ({' beside '.join(wanted)})"
    return "loading"


def _started(settings: ChatSettings) -> ServeSettings:
    if settings.serve is None:
        raise UsageError(f"no endpoint for the model {settings.model}: give `serve` in the configuration, or urls")
    return settings.serve


def _strategy(serve: ServeSettings) -> str:
    """Tensors split over a network are slower than one GPU; only the stages of a pipeline may be machines apart."""
    return "PACK" if int(serve.engine.get("pipeline_parallel_size", 1)) > 1 else "STRICT_PACK"


def _words(bundle: Mapping[str, float]) -> str:
    parts = [f"{amount:g} {kind}" for kind, amount in bundle.items() if ":" not in kind]
    return " and ".join(parts + [f"a {kind.partition(':')[2]}" for kind in bundle if ":" in kind])


def _offer(machines: Sequence[Mapping[str, float]]) -> str:
    offers = {
        f"{machine.get('CPU', 0):g} CPU, {machine.get('GPU', 0):g} GPU"
        + "".join(f" ({kind.partition(':')[2]})" for kind in machine if kind.startswith("accelerator_type:"))
        for machine in machines
    }
    return "only " + "; ".join(sorted(offers)) if offers else "no machine"

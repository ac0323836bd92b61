"""A model on Ray Serve LLM for the length of a block: started on the caller's Ray, waited for, asked once, taken down.

Each block has an application of its own, with a name and a route that no other has, so that several jobs can share a
cluster. On a cluster that others started, Ray Serve itself stays when the block ends: another job's model may be
arriving on it, and all that idles is a controller and a proxy on the head, which take no CPUs.

All calls go to the proxy on the head. Ray runs the others only beside replicas, where they come and go with them, and
the machines that ask are mostly not those that answer.
"""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import ray
from ray.exceptions import RayError, RayTaskError

from ray_tasks.engines.first_call import FirstCallError, first_call
from ray_tasks.engines.serve_front import forget_front, front_url
from ray_tasks.engines.served_app import app_config, last_words, loading_words, pin, shortage, taken_from
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.engines.watch import Watch
from ray_tasks.engines.weights import find_weights
from ray_tasks.errors import DaybookError, UsageError

POLL_S: Final = 1.0
SAY_EVERY_S: Final = 15.0

SPARE_CPUS: Final = 1.0
"""What a Ray of one machine must have left beside the replicas: at least one worker has to ask them."""


class ServeError(DaybookError):
    """The model did not come up."""


@contextmanager
def serving(settings: ChatSettings, say: Callable[[str], None]) -> Iterator[ChatSettings]:
    """The settings with `urls` filled in, of a model that answers for the length of the block.

    Needs a running Ray. Settings that have urls are handed on untouched. `say` is told what is waited for. Raises
    UsageError where the settings are at fault or this machine cannot hold the model, and ServeError where it does not
    come up within serve.ready_s seconds, with what the replica said.
    """
    if settings.urls:
        yield settings
        return
    if settings.serve is None:
        raise UsageError(f"no endpoint for the model {settings.model}: give `serve` in the configuration, or urls")
    joined = os.environ.get("RAY_ADDRESS", "local") not in ("", "local")
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
    lacking = shortage(settings.serve, machines, spare_cpus=0 if joined else SPARE_CPUS)
    if lacking and not joined:
        raise UsageError(f"{lacking}; lower serve.cpus, serve.gpus or serve.replicas, or give Ray more with --cpus")
    if lacking:
        say(f"{lacking}: waiting for the cluster to grow")
    model = _Model(settings, front_url(joined), joined, say)
    hurried = False
    try:
        model.bring_up()
        yield settings.model_copy(update={"urls": (model.url,)})
    except BaseException as error:
        hurried = not isinstance(error, Exception)  # whoever sent SIGTERM or pressed Ctrl-C will not wait for long
        raise
    finally:
        model.take_down(hurried=hurried)


class _Model:
    """One application on Ray Serve, from before it is there to after it is gone."""

    def __init__(self, settings: ChatSettings, front: str, joined: bool, say: Callable[[str], None]) -> None:
        assert settings.serve is not None
        self._settings, self._serve, self._joined, self._say = settings, settings.serve, joined, say
        self._name = f"daybook-{secrets.token_hex(4)}"
        self.url = f"{front}/{self._name}/v1"
        self._watch = Watch(self._name) if joined else None
        self._deploying = _deploy.options(resources=pin(settings.serve)).remote(
            settings, self._name, taken_from(settings.serve, os.environ)
        )

    def bring_up(self) -> None:
        """Waits until the model answers a call; raises ServeError, or UsageError where the settings are at fault."""
        started = said = time.monotonic()
        last = ""
        while (stage := self._stage()) is not None:
            now = time.monotonic()
            if now - started > self._serve.ready_s:
                raise ServeError(
                    f"the model {self._settings.model} was not up within {self._serve.ready_s:g} s ({stage}); "
                    "give it longer with serve.ready_s, or machines that can hold it"
                )
            if stage != last or now - said > SAY_EVERY_S:
                self._say(f"{self._settings.model}: {stage} ({now - started:.0f} s)")
                last, said = stage, now
            time.sleep(POLL_S)
        self._say(f"{self._settings.model} answers after {time.monotonic() - started:.0f} s")

    def _stage(self) -> str | None:
        """What the model is at; None when it has answered a call."""
        from ray import serve

        if not ray.wait([self._deploying], timeout=0)[0]:
            return "waiting for a machine that can start it"
        self._check_deployed()
        app = serve.status().applications.get(self._name)
        if app is None:
            return "starting"
        said = "\n".join(deployment.message for deployment in app.deployments.values())
        if app.status == "DEPLOY_FAILED":
            raise ServeError(f"the model {self._settings.model} did not start: {last_words(said or app.message)}")
        if app.status != "RUNNING":
            return loading_words(said, self._serve)
        try:
            first_call(self.url, self._settings.model)
        except FirstCallError as error:
            if error.final:
                raise ServeError(f"the model {self._settings.model} is up, but cannot be asked: {error}") from error
            return f"waiting for its first answer: {error}"
        return None

    def _check_deployed(self) -> None:
        try:
            ray.get(self._deploying)
        except RayTaskError as error:
            cause = error.cause
            if isinstance(cause, DaybookError):
                raise cause from None
            if isinstance(cause, ImportError):
                raise UsageError(
                    f"Ray Serve LLM cannot be imported on the machine that is to run the model ({cause}); install vllm "
                    "there (on a cluster: the image with the extra gpu), or name a running server with urls"
                ) from error
            raise UsageError(f"Ray Serve LLM refuses the settings of the model: {last_words(str(cause))}") from error

    def take_down(self, *, hurried: bool) -> None:
        """Removes the application. `hurried`: without waiting until its replicas have ended."""
        from ray import serve

        if not ray.is_initialized():
            return
        try:
            ray.cancel(self._deploying, force=True)  # one that still waits for a machine would deploy after all
            serve.delete(self._name, _blocking=not hurried)
        except (RayError, RuntimeError, TimeoutError) as error:  # Ray has ended, and the model with it
            logging.getLogger(__name__).warning("the model %s may still be up: %s", self._settings.model, error)
        finally:
            forget_front()
            if self._watch:
                self._watch.end()


@ray.remote(num_cpus=0, max_retries=0, max_calls=1)
def _deploy(settings: ChatSettings, name: str, taken: Mapping[str, str]) -> None:
    """Hands the model to Ray Serve, without waiting for it. `taken` is what replicas get of the job's environment.

    A task on a machine with the right GPU, since making the application imports vLLM, which takes a GPU's packages,
    many seconds and a gigabyte of memory: nothing that a driver on the head should have to bear. Its process ends with
    it (max_calls), and the memory is free again.
    """
    from ray import serve
    from ray.serve.llm import build_openai_app

    assert settings.serve is not None
    weights = find_weights(settings.serve.source or settings.model, settings.revision)
    callback: dict[str, Any] = {
        "callback_class": "ray_tasks.engines.weights_on_node.FetchWeights",
        "callback_kwargs": {"weights": weights},
    }
    app = build_openai_app(app_config(settings, weights, callback, taken))
    target = serve.RunTarget(app, name=name, route_prefix=f"/{name}")
    serve.run_many([target], wait_for_ingress_deployment_creation=False, wait_for_applications_running=False)

"""A stand-in for a model on Ray Serve: it starts in a second, and can also fail to start or never be ready."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from ray_tasks.engines.settings import ChatSettings


def deploy(settings: ChatSettings, name: str, taken: Mapping[str, str]) -> None:
    """Does what ray_tasks.engines.serve does with a real model, with one that behaves as its name says."""
    from ray import serve

    options: dict[str, Any] = {
        "max_constructor_retry_count": 1,
        "ray_actor_options": {"num_cpus": 0},
        "graceful_shutdown_timeout_s": 1,
    }
    stand_in: Any = serve.deployment(StandIn, **options)
    app = stand_in.bind(settings.model)
    target = serve.RunTarget(app, name=name, route_prefix=f"/{name}")
    serve.run_many([target], wait_for_ingress_deployment_creation=False, wait_for_applications_running=False)


class StandIn:
    """Answers every request with one word; `broken` never starts, `endless` starts for ever, `strict` refuses."""

    def __init__(self, model: str) -> None:
        if model == "broken":
            raise RuntimeError("the weights are of another model")
        if model == "endless":
            time.sleep(3600)
        self._model = model

    async def __call__(self, request: Request) -> Any:
        """The body of a chat completion."""
        from starlette.responses import JSONResponse

        if self._model == "strict":
            return JSONResponse({"error": {"message": "no chat template"}}, 400)
        return {"model": (await request.json())["model"], "choices": [{"message": {"content": "hi"}}]}

"""Whether the configured endpoints answer, know the model and give what steps ask for: what `doctor` says of them."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from typing import Any, Final

from pydantic import BaseModel, Field

from ray_tasks.engines.client import open_chat
from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import ChatError, ChatRequest, Image, Message, RejectedError
from ray_tasks.engines.requests import PassingFault, get_models, open_api
from ray_tasks.engines.settings import ChatSettings

LONGEST_S: Final = 60.0
"""Seconds that one request of a probe may take."""

NAMED: Final = 10
"""Models of an endpoint that a message names."""


class Ready(BaseModel):
    """What a probe asks for."""

    word: str = Field(description="the word `ready`")


@dataclass(frozen=True)
class EndpointCheck:
    """What was found at one endpoint: the models it names, the seconds and tokens of one real call, and what is wrong.

    `problems` are sentences that name the remedy; without any, all is well.
    """

    url: str
    models: tuple[str, ...]
    seconds: float | None
    tokens: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether calls can go there."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return {**asdict(self), "ok": self.ok}


def check_endpoint(settings: ChatSettings, *, picture: Image | None = None) -> tuple[EndpointCheck, ...]:
    """A check of every configured endpoint, each with one real call for JSON, and about a picture where one is given.

    Raises UsageError where no endpoint is configured, and nothing else. Nothing is cached, and of faults only unusable
    replies are asked for again, as in a build.
    """
    open_chat(settings)
    return tuple(_check(_alone(settings, url), picture) for url in settings.urls)


def _alone(settings: ChatSettings, url: str) -> ChatSettings:
    changes = {
        "urls": (url,),
        "attempts": 1,
        "outage_s": 0.0,
        "timeout_s": min(settings.timeout_s, LONGEST_S),
        "cache": False,
        "transcripts": False,
    }
    return settings.model_copy(update=changes)


def _check(settings: ChatSettings, picture: Image | None) -> EndpointCheck:
    url = settings.urls[0]
    with open_chat(settings) as chat:
        try:
            models = chat.run(_models(settings))
        except PassingFault as fault:
            return EndpointCheck(url, (), None, 0, (f"{url}: {fault}; {_fault_remedy(fault, settings)}",))
        if models and settings.model not in models:
            return EndpointCheck(url, models, None, 0, (_unknown_model(settings, models),))
        counts, started = CallCounts(), time.monotonic()
        try:
            chat.run(chat.ask(_request(picture, settings), counts))
        except ChatError as error:
            return EndpointCheck(url, models, None, counts.tokens, (str(error),))
        return EndpointCheck(url, models, round(time.monotonic() - started, 3), counts.tokens, ())


async def _models(settings: ChatSettings) -> tuple[str, ...]:
    """The models that the endpoint names; none where it refuses to, as some do: then the call shows what is wrong."""
    try:
        async with open_api(settings.urls[0], settings, 1) as api:
            data = await get_models(api, settings)
    except RejectedError:
        return ()
    try:
        return tuple(str(model["id"]) for model in json.loads(data)["data"])
    except (ValueError, LookupError, TypeError) as error:
        raise PassingFault("bad_body", "it does not speak the OpenAI protocol at /models") from error


def _request(picture: Image | None, settings: ChatSettings) -> ChatRequest:
    images = () if picture is None else (picture,)
    look = "Look at the picture. " if images else ""
    text = f"{look}Answer with the word `ready`, as JSON, under the name `word`."
    return ChatRequest((Message("user", text, images),), "doctor", Ready, sampling=settings.sampling())


def _unknown_model(settings: ChatSettings, models: tuple[str, ...]) -> str:
    more = f" and {len(models) - NAMED} more" if len(models) > NAMED else ""
    return (
        f"{settings.urls[0]} does not serve {settings.model} but {', '.join(models[:NAMED])}{more}: set `model` to the "
        "name under which it is served, or start the server with that name (--served-model-name)"
    )


def _fault_remedy(fault: PassingFault, settings: ChatSettings) -> str:
    if not fault.connected:
        return "start the server, or mend the address (host, port, and /v1 at the end)"
    if fault.kind == "timeout":
        return f"see whether it is still loading or overloaded, or raise timeout_s (now {settings.timeout_s:g})"
    return "see that the address is that of an OpenAI-compatible API, ends in /v1, and that its server's log is clean"

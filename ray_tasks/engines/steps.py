"""What steps share that ask a model for many things: asking at once, data in prompts, identities for cache keys."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeVar

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import Chat, RejectedError
from ray_tasks.engines.prompts import Prompt
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.storage.shards import content_key

T = TypeVar("T")

MOST_REJECTED: Final = 4
"""Calls that may all be rejected for what they hold: as many as a step makes about one caption that is alone."""


class ChatRunner(Chat, Protocol):
    """A chat with an event loop of its own, so that a stage that waits can use it."""

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine that asks this chat."""
        ...


async def gather(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results in order; where one raises, the others are cancelled and waited for before it is raised on."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def check_taken(calls: CallCounts, where: str) -> None:
    """Raises RejectedError where the endpoint is at fault and not the data: key or model are unknown to it, if only
    from some moment on, or it rejected more than MOST_REJECTED calls and answered none.

    A rejected call may be too long for the model, or offend a filter; that is what became of its rows.
    """
    denied, rejected = calls.failed[RejectedError.denied_kind], calls.failed[RejectedError.kind]
    if denied or (rejected > MOST_REJECTED and not calls.answered):
        taken = f"{calls.answered or 'none'} of {calls.answered + denied + rejected}"
        raise RejectedError(
            f"{where}: the endpoint took {taken} requests; check the model's name, the key and the longest"
            " context that it is started with (`daybook doctor --config` makes a real call)"
        )


def as_data(value: Any) -> str:
    """A value as JSON on one line without angle brackets, so that no text can close the section that holds it."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")


def as_told(modality: str, speaker: str | None, text: str) -> dict[str, str | None]:
    """What was seen, or who said what, under the names that all prompts use."""
    return {"seen": text} if modality == "visual" else {"speaker": speaker, "said": text}


def step_identity(
    settings: ChatSettings, version: str, prompts: Sequence[Prompt], parameters: Mapping[str, object]
) -> str:
    """All that decides what a step makes of its input, for cache keys: the model, the code around it, and step_digest.

    Neither endpoints nor anything about speed is part of it.
    """
    return f"{settings.identity} {version} {step_digest(settings, prompts, parameters)}"


def step_digest(settings: ChatSettings, prompts: Sequence[Prompt], parameters: Mapping[str, object]) -> str:
    """A hash of how the model is asked in a step.

    That is how it draws, how JSON is asked for, whether it thinks, after how many unusable replies a call is given up,
    the texts of the prompts and the parameters.
    """
    draw = (settings.temperature, settings.top_p, settings.seed, settings.max_tokens)
    asked = (settings.structured, settings.thinking, settings.reply_attempts)
    return content_key(draw, asked, [prompt.digest for prompt in prompts], sorted(parameters.items()))[:16]

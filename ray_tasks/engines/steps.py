"""What steps share that ask a model for many things: asking at once, data in prompts, identities for cache keys."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import Chat, RejectedError
from ray_tasks.engines.prompts import Prompt
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.storage.shards import content_key

T = TypeVar("T")


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
    """Raises RejectedError where calls were rejected and none was answered: the endpoint is at fault, not the data.

    A single rejected call may be too long for the model, or offend a filter; that is what became of its rows.
    """
    rejected = calls.failed[RejectedError.kind]
    if rejected and not calls.answered:
        raise RejectedError(
            f"{where}: the endpoint took none of {rejected} requests; check the model's name, the key and the longest"
            " context that it is started with (`daybook doctor --config` makes a real call)"
        )


def as_data(value: Any) -> str:
    """A value as JSON on one line without angle brackets, so that no text can close the section that holds it."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")


def step_identity(
    settings: ChatSettings, version: str, prompts: Sequence[Prompt], parameters: Mapping[str, object]
) -> str:
    """All that decides what a step makes of its input, for cache keys.

    That is the model and its revision, how it draws, how JSON is asked for, whether it thinks, the texts of the
    prompts, the parameters and the version of the code around them; and neither endpoints nor anything about speed.
    """
    draw = (settings.temperature, settings.top_p, settings.seed, settings.max_tokens)
    asked = (settings.structured, settings.thinking)
    digest = content_key(draw, asked, [prompt.digest for prompt in prompts], sorted(parameters.items()))
    return f"{settings.identity} {version} {digest[:16]}"

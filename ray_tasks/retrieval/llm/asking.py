"""How agents ask their model, what they note of it, and how long a text is for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from pydantic import BaseModel

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import (
    ChatError,
    ChatReply,
    ChatRequest,
    Message,
    RejectedError,
    Tool,
    UnreachableError,
)
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.engines.steps import ChatRunner

PACKAGE: Final = "ray_tasks.retrieval.llm"
AGENTS_VERSION: Final = "agents-2"
"""To be raised with every change of how replies are read or requests are put together."""


@dataclass
class Books:
    """What one step of one question took: replies that were used, their tokens, and notes with how often they apply."""

    counts: CallCounts
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    noted: Counter[str] = field(default_factory=Counter)

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes as an answer keeps them: ``time_unreadable``, or ``time_unreadable:2`` where it applies twice."""
        return tuple(note if number == 1 else f"{note}:{number}" for note, number in self.noted.items() if number)


class Asker:
    """Asks one model. `opening` opens the client, at the first question and not before."""

    def __init__(self, settings: ChatSettings, opening: Callable[[], ChatRunner]) -> None:
        self.settings = settings
        self._opening = opening

    @cached_property
    def chat(self) -> ChatRunner:
        """The client."""
        return self._opening()

    async def ask(
        self,
        messages: Sequence[Message],
        purpose: str,
        books: Books,
        *,
        schema: type[BaseModel] | None = None,
        tools: tuple[Tool, ...] = (),
    ) -> ChatReply:
        """The reply, booked; raises ChatError."""
        request = ChatRequest(tuple(messages), purpose, schema, tools, self.settings.sampling())
        reply = await self.chat.ask(request, books.counts)
        books.calls += 1
        books.tokens_in += reply.tokens_in
        books.tokens_out += reply.tokens_out
        return reply


def ends_all(error: ChatError) -> bool:
    """Whether a failure is that of the endpoint and not of a reply: then no question can be answered now."""
    return isinstance(error, UnreachableError) or error.kind == RejectedError.denied_kind


def tokens_of(text: str) -> int:
    """About how many tokens a text has, rather too many than too few: three bytes of UTF-8 to a token."""
    return len(text.encode(errors="replace")) // 3 + 1

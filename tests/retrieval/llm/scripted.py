"""Scripted models and small memories for the tests of the agents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from ray_tasks.engines.messages import ChatReply, ChatRequest, ToolCall
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.retrieval.llm.asking import Asker
from ray_tasks.retrieval.llm.method import AgentMethod
from ray_tasks.retrieval.registry import make_method
from ray_tasks.retrieval.settings import RetrievalSettings
from tests.chat_server.scripted import Scripted, ScriptedChat
from tests.retrieval.small_memory import embed

T = TypeVar("T")
MODEL = ChatSettings(model="test-model", max_tokens=256)
ALL = RetrievalSettings(draft="llm", curate="llm", respond="llm")


class ScriptedRunner(ScriptedChat):
    """A scripted chat with an event loop for each run."""

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The coroutine's result."""
        return asyncio.run(coroutine)

    def of(self, purpose: str) -> list[ChatRequest]:
        """The requests of one step."""
        return [request for request in self.requests if request.purpose == purpose]


def runner(**by_purpose: Callable[[ChatRequest], Scripted] | Scripted | list[Scripted]) -> ScriptedRunner:
    """A chat that answers each step by a function, always the same, or by a list, whose last reply stays."""
    left = {purpose: list(said) if isinstance(said, list) else [said] for purpose, said in by_purpose.items()}

    def script(request: ChatRequest) -> Scripted:
        said = left[request.purpose]
        reply = said.pop(0) if len(said) > 1 else said[0]
        return reply(request) if callable(reply) else reply

    return ScriptedRunner(script)


def calls(*named: tuple[str, dict[str, Any]], text: str = "") -> ChatReply:
    """A turn with tool calls."""
    made = tuple(ToolCall(f"x{number}", name, arguments) for number, (name, arguments) in enumerate(named))
    return ChatReply(text, None, made, tokens_in=100, tokens_out=10)


def find(query: str, time: str = "", tool: str = "search_action_utterance") -> tuple[str, dict[str, Any]]:
    """A search."""
    return tool, {"query": query, **({"time_query": time} if time else {})}


DONE: tuple[str, dict[str, Any]] = ("answer", {})


def method(chat: ScriptedRunner, settings: RetrievalSettings = ALL, model: ChatSettings = MODEL) -> AgentMethod:
    """The method with this chat behind its agents."""
    made = make_method("egocite", embed, settings, model=model, chat=lambda: chat)
    assert isinstance(made, AgentMethod)
    return made


def asker(chat: ScriptedRunner) -> Asker:
    """An asker of this chat."""
    return Asker(MODEL, lambda: chat)

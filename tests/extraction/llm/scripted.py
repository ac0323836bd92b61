"""An extractor whose model is a function of the request."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from ray_tasks.engines.messages import ChatRequest
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.extraction.llm.extractor import LlmExtractor
from ray_tasks.extraction.llm.parameters import Parameters
from tests.chat_server.scripted import Scripted, ScriptedChat

T = TypeVar("T")
Script = Callable[[ChatRequest], Scripted]


class ScriptedRunner(ScriptedChat):
    """A scripted chat that runs coroutines, as the client does."""

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The coroutine's result."""
        return asyncio.run(coroutine)

    def of(self, purpose: str) -> list[ChatRequest]:
        """The requests of one step."""
        return [request for request in self.requests if request.purpose == purpose]


def scripted(script: Script, *, parameters: Parameters | None = None) -> tuple[LlmExtractor, ScriptedRunner]:
    """An extractor on a script, and the chat that it asks."""
    chat = ScriptedRunner(script)
    return LlmExtractor(ChatSettings(model="scripted", cache=False), lambda: chat, parameters), chat


def entry(line: int, kind: str, text: str, *, resolved: bool = True) -> dict[str, Any]:
    """A statement as the model writes it."""
    return {"line": line, "kind": kind, "resolved": resolved, "text": text}


def entries(*made: dict[str, Any]) -> dict[str, Any]:
    """A reply on a caption."""
    return {"entries": list(made)}


def correction(*made: tuple[int, str]) -> dict[str, Any]:
    """A reply to a corrective question."""
    return {"corrections": [{"entry": number, "text": text} for number, text in made]}


def groups(*blocks: tuple[int, int]) -> dict[str, Any]:
    """A reply on a window."""
    return {"groups": [{"first": first, "last": last} for first, last in blocks]}


def data_of(request: ChatRequest) -> str:
    """The data section of the first question in a request: what is in its last tags."""
    text = next(message.text for message in request.messages if message.role == "user")
    found = re.findall(r"<(?:caption|captions)>\n(.*?)\n</(?:caption|captions)>", text, re.DOTALL)
    assert len(found) == 1, text
    return str(found[0])

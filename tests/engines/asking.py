"""Short ways to ask the test server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from ray_tasks.engines.client import ChatClient
from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import ChatReply, ChatRequest, Message
from ray_tasks.engines.settings import ChatSettings
from tests.chat_server import ChatServer


class Greeting(BaseModel):
    """A small schema."""

    word: str
    number: int


def settings_for(*servers: ChatServer | str, **changes: Any) -> ChatSettings:
    """Settings that never wait for long."""
    urls = tuple(server if isinstance(server, str) else server.url for server in servers)
    values = {
        "model": "test-model",
        "urls": urls,
        "longest_wait_s": 0.02,
        "outage_s": 0.0,
        "timeout_s": 20.0,
        **changes,
    }
    return ChatSettings(**values)


def say(text: str = "Hello", **changes: Any) -> ChatRequest:
    """A request of one turn."""
    return ChatRequest((Message("user", text),), **{"purpose": "greeting", **changes})


def ask(client: ChatClient, request: ChatRequest, counts: CallCounts | None = None) -> ChatReply:
    """One call."""
    return client.run(client.ask(request, CallCounts() if counts is None else counts))


def ask_all(client: ChatClient, requests: Iterable[ChatRequest], counts: CallCounts) -> list[ChatReply | BaseException]:
    """Calls at the same time: replies, and errors in the place of those that failed."""

    async def together() -> list[ChatReply | BaseException]:
        return await asyncio.gather(*(client.ask(one, counts) for one in requests), return_exceptions=True)

    return client.run(together())

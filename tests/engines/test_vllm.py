"""The way of production on a machine without a GPU: Ray Serve LLM, vLLM, a real Gemma, and the chat client."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import urllib.request
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel

from ray_tasks.engines.client import ChatClient
from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import ChatRequest, Message, Sampling, TruncatedError
from ray_tasks.engines.settings import ChatSettings
from tests.engines.live import served

__all__ = ["served"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


class Place(BaseModel):
    """A small schema whose every reply comes to an end."""

    kind: Literal["town", "river", "hill"]
    near_water: bool


def test_the_model_continues_a_sentence_sensibly(served: ChatSettings) -> None:
    body = {"model": served.model, "prompt": "The capital of France is", "max_tokens": 24, "temperature": 0}
    text = str(_post(f"{served.urls[0]}/completions", body)["choices"][0]["text"])  # type: ignore[index]
    assert "France" in text or "Paris" in text
    assert any(word in text.split() for word in ("the", "a", "of"))


def test_a_reply_is_json_of_the_schema_without_white_space_for_filling(served: ChatSettings) -> None:
    counts = CallCounts()
    with ChatClient(served) as client:
        reply = client.run(client.ask(_request("Tell of the place where Mara swims."), counts))
    assert isinstance(reply.parsed, Place)
    assert "\n" not in reply.text
    assert "  " not in reply.text
    assert counts.answered == 1
    assert 0 < counts.tokens_out < 40


def test_words_that_do_not_end_are_a_counted_failure(served: ChatSettings) -> None:
    counts = CallCounts()
    endless = ChatRequest((Message("user", "Go on."),), "test", sampling=Sampling(max_tokens=4))
    with ChatClient(served) as client, pytest.raises(TruncatedError):
        client.run(client.ask(endless, counts))
    assert counts.balanced


def test_killing_the_replica_only_delays_the_calls(served: ChatSettings) -> None:
    """Calls are under way when the process of the replica is killed; Ray Serve starts another, and all are answered."""
    counts = CallCounts()
    patient = served.model_copy(update={"attempts": 60, "concurrency": 4})
    app = served.urls[0].split("/")[-2]

    async def ask_all() -> list[object]:
        calls = [asyncio.create_task(client.ask(_request(f"Place {n}: ", 32), counts)) for n in range(24)]
        while counts.answered < 4:
            await asyncio.sleep(0.05)
        os.kill(_replica(app), signal.SIGKILL)
        return [reply.parsed for reply in await asyncio.gather(*calls)]

    with ChatClient(patient) as client:
        places = client.run(ask_all())
    assert len(places) == 24
    assert all(isinstance(place, Place) for place in places)
    assert counts.answered == counts.calls == 24
    assert counts.retries.total() > 0, "the kill came when nothing was under way"
    assert counts.balanced


def _request(text: str, most: int = 40) -> ChatRequest:
    return ChatRequest((Message("user", text),), "test", schema=Place, sampling=Sampling(max_tokens=most))


def _post(url: str, body: dict[str, object]) -> dict[str, object]:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as answer:
        parsed: dict[str, object] = json.load(answer)
    return parsed


def _replica(app: str) -> int:
    """The process of the application's replica that holds the engine; Ray writes both names into its title."""
    for status in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            title = status.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has just ended
            continue
        if title.startswith(f"ray::ServeReplica:{app}:LLMServer"):
            return int(status.parent.name)
    raise AssertionError(f"no process of a replica of {app}")

"""The response cache: what decides a key, and what is kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from ray_tasks.engines.messages import ChatReply, ChatRequest, Image, Message, Sampling, Tool, ToolCall
from ray_tasks.engines.reply_cache import ReplyCache, object_key, request_key
from ray_tasks.storage.local import LocalStore
from tests.engines.asking import Greeting, say, settings_for

SETTINGS = settings_for("http://localhost/v1")
BASE = ChatRequest(
    (
        Message("system", "Be short."),
        Message("user", "What is this?", (Image(b"one"),)),
        Message("assistant", "", tool_calls=(ToolCall("c", "look", {"at": 1}),)),
        Message("tool", "a cup", call_id="c"),
    ),
    "greeting",
    Greeting,
    (Tool("look", "Looks.", {"type": "object"}),),
    Sampling(0.5, 0.9, 100, 1),
)


class Farewell(BaseModel):
    """Another schema."""

    word: str
    number: float


def _message(place: int, **changes: Any) -> Callable[[ChatRequest], ChatRequest]:
    def change(request: ChatRequest) -> ChatRequest:
        messages = list(request.messages)
        messages[place] = replace(messages[place], **changes)
        return replace(request, messages=tuple(messages))

    return change


@pytest.mark.parametrize(
    "change",
    [
        _message(0, text="Be long."),
        _message(0, role="user"),
        _message(1, images=(Image(b"two"),)),
        _message(1, images=(Image(b"one"), Image(b"one"))),
        _message(1, images=(Image(b"one", "image/png"),)),
        _message(2, tool_calls=(ToolCall("c", "look", {"at": 2}),)),
        _message(3, call_id="d"),
        lambda request: replace(request, messages=request.messages[:-1]),
        lambda request: replace(request, schema=Farewell),
        lambda request: replace(request, schema=None),
        lambda request: replace(request, tools=()),
        lambda request: replace(request, tools=(Tool("look", "Looks.", {"type": "object", "required": []}),)),
        lambda request: replace(request, sampling=Sampling(0.6, 0.9, 100, 1)),
        lambda request: replace(request, sampling=Sampling(0.5, 0.8, 100, 1)),
        lambda request: replace(request, sampling=Sampling(0.5, 0.9, 101, 1)),
        lambda request: replace(request, sampling=Sampling(0.5, 0.9, 100, 2)),
        lambda request: replace(request, sampling=Sampling(0.5, 0.9, 100, None)),
    ],
)
def test_each_part_of_a_request_decides_its_key(change: Callable[[ChatRequest], ChatRequest]) -> None:
    assert request_key(change(BASE), SETTINGS) != request_key(BASE, SETTINGS)


@pytest.mark.parametrize(
    ("setting", "decides"),
    [
        ({"model": "other"}, True),
        ({"revision": "abc"}, True),
        ({"structured": "prompt"}, True),
        ({"thinking": True}, True),
        ({"urls": ("http://elsewhere/v1",)}, False),
        ({"attempts": 9, "timeout_s": 9.0, "concurrency": 9, "transcripts": True}, False),
    ],
)
def test_of_the_settings_the_model_and_how_it_is_asked_decide(setting: dict[str, Any], decides: bool) -> None:
    changed = request_key(BASE, SETTINGS.model_copy(update=setting)) != request_key(BASE, SETTINGS)
    assert changed is decides


def test_the_purpose_decides_nothing() -> None:
    assert request_key(replace(BASE, purpose="farewell"), SETTINGS) == request_key(BASE, SETTINGS)


def test_a_reply_comes_back_whole(tmp_path: Path) -> None:
    cache = ReplyCache(LocalStore(tmp_path))
    reply = ChatReply('{"word": "你好", "number": 2}', Greeting(word="你好", number=2), (), 7, 8)
    assert cache.read("ab12", say(schema=Greeting)) is None
    cache.write("ab12", reply)
    assert cache.read("ab12", say(schema=Greeting)) == replace(reply, cached=True)
    calling = ChatReply("", None, (ToolCall("c", "look", {"at": [1, None]}),), 1, 2)
    cache.write("cd34", calling)
    assert cache.read("cd34", say(schema=Greeting)) == replace(calling, cached=True)


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda data: data[:-3],
        lambda _: b"[]",
        lambda _: b"null",
        lambda _: b"{}",
        lambda data: b"\xff" + data,
        lambda data: data.replace(b"hi", b"ho"),
        lambda data: data.replace(b"[7, 8]", b"[7, 9]"),
        lambda data: data.replace(b"ab12", b"ab13"),
        lambda data: json.dumps({**json.loads(data), "parsed": None}).encode(),
        lambda _: b"[" * 100_000,
    ],
)
def test_a_damaged_entry_is_none(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    store = LocalStore(tmp_path)
    cache = ReplyCache(store)
    cache.write("ab12", ChatReply('{"word": "hi", "number": 2}', Greeting(word="hi", number=2), (), 7, 8))
    store.write(object_key("ab12"), damage(store.read(object_key("ab12"))))
    assert cache.read("ab12", say(schema=Greeting)) is None

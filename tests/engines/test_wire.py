"""Bodies of requests and answers."""

from __future__ import annotations

import base64
import contextlib
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.engines.messages import (
    ChatError,
    ChatReply,
    EmptyReplyError,
    Image,
    InvalidJsonError,
    Message,
    RefusedError,
    Sampling,
    Tool,
    ToolCall,
    TruncatedError,
)
from ray_tasks.engines.wire import NotAnAnswerError, Usage, parse_answer, read_reply, request_body, without_images
from tests.engines.asking import Greeting, say, settings_for

SETTINGS = settings_for("http://localhost/v1")
LOOK_UP = Tool("look_up", "Finds an hour.", {"type": "object", "properties": {"hour": {"type": "integer"}}})
PICTURE = Image(b"\xff\xd8 a picture", "image/jpeg")


def _choice(content: Any = "Hello", finish: str = "stop", **message: Any) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}


def _read(choice: dict[str, Any], schema: bool = False, tools: tuple[Tool, ...] = (), **changes: Any) -> ChatReply:
    settings = SETTINGS.model_copy(update=changes)
    return read_reply(choice, Usage(3, 4, told=True), say(schema=Greeting if schema else None, tools=tools), settings)


def test_a_request_names_model_messages_and_sampling() -> None:
    body = request_body(say("你好 {braces}", sampling=Sampling(0.5, 0.9, 77, 5)), SETTINGS)
    assert body == {
        "model": "test-model",
        "messages": [{"role": "user", "content": "你好 {braces}"}],
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 77,
    }


def test_a_schema_is_asked_for_in_the_way_of_the_endpoint() -> None:
    wanted = request_body(say(schema=Greeting), SETTINGS)["response_format"]
    assert wanted["type"] == "json_schema"
    assert wanted["json_schema"]["strict"] is True
    assert wanted["json_schema"]["schema"]["required"] == ["word", "number"]


def test_a_schema_is_asked_for_in_words() -> None:
    settings = SETTINGS.model_copy(update={"structured": "prompt"})
    messages = (Message("system", "Be short."), Message("user", "Hello", (PICTURE,)))
    body = request_body(replace(say(schema=Greeting), messages=messages), settings)
    assert "response_format" not in body
    assert body["messages"][0]["content"] == "Be short."
    assert '"number"' in body["messages"][1]["content"][-1]["text"]
    assert '"number"' in request_body(say(schema=Greeting), settings)["messages"][0]["content"]
    assert request_body(say(), settings)["messages"] == [{"role": "user", "content": "Hello"}]


@pytest.mark.parametrize(("thinking", "sent"), [(None, None), (True, True), (False, False)])
def test_thinking_is_spoken_of_only_where_it_is_set(thinking: bool | None, sent: bool | None) -> None:
    body = request_body(say(), SETTINGS.model_copy(update={"thinking": thinking}))
    assert body.get("chat_template_kwargs", {}).get("enable_thinking") is sent


def test_images_follow_the_text_as_data_urls() -> None:
    request = replace(say(), messages=(Message("user", "What is this?", (PICTURE, Image(b"png", "image/png"))),))
    body = request_body(request, SETTINGS)
    text, first, second = body["messages"][0]["content"]
    assert text == {"type": "text", "text": "What is this?"}
    kind, _, data = first["image_url"]["url"].partition(";base64,")
    assert (kind, base64.b64decode(data)) == ("data:image/jpeg", PICTURE.data)
    assert second["image_url"]["url"].startswith("data:image/png;base64,")
    shown = json.dumps(without_images(body))
    assert data not in shown
    assert "What is this?" in shown


def test_tools_their_calls_and_their_results_are_sent() -> None:
    call = ToolCall("c1", "look_up", {"hour": 9})
    messages = (
        Message("user", "When?"),
        Message("assistant", "", tool_calls=(call,)),
        Message("tool", "9", call_id="c1"),
    )
    body = request_body(replace(say(), messages=messages, tools=(LOOK_UP,)), SETTINGS)
    assert body["tools"][0]["function"]["parameters"] == LOOK_UP.parameters
    assert json.loads(body["messages"][1]["tool_calls"][0]["function"]["arguments"]) == {"hour": 9}
    assert body["messages"][2] == {"role": "tool", "content": "9", "tool_call_id": "c1"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html>Bad day</html>",
        b"null",
        b"[]",
        b"{}",
        b'{"choices": []}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": "Hello"}]}',
        b'{"object": "error", "message": "no"}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_a_body_that_is_no_answer_is_told_apart(data: bytes) -> None:
    with pytest.raises(NotAnAnswerError, match="not a chat completion"):
        parse_answer(data)


def test_halves_of_characters_never_leave_a_reply() -> None:
    assert _read(_choice("The lamp is on. \ud83d")).text == "The lamp is on. ?"
    with pytest.raises(RefusedError) as caught:
        _read(_choice(refusal="No. \ud83d"))
    str(caught.value).encode()
    with pytest.raises(InvalidJsonError):
        _read(_choice('{"word": "a \ud83d", "number": 1}'), schema=True)


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11}, (5, 6, True)),
        ({"prompt_tokens": 5.0, "completion_tokens": 6, "prompt_tokens_details": {"cached_tokens": 2}}, (5, 6, True)),
        ({"prompt_tokens": 5}, (5, 0, False)),
        ({"prompt_tokens": None, "completion_tokens": "6"}, (0, 0, False)),
        ({"prompt_tokens": -5, "completion_tokens": True}, (0, 0, False)),
        ({"prompt_tokens": 1e400, "completion_tokens": 6}, (0, 6, False)),
        ({}, (0, 0, False)),
        (None, (0, 0, False)),
        (7, (0, 0, False)),
    ],
)
def test_tokens_are_counted_only_where_they_are_told(usage: Any, counted: tuple[int, int, bool]) -> None:
    _, found = parse_answer(json.dumps({"choices": [_choice()], "usage": usage}).encode())
    assert (found.tokens_in, found.tokens_out, found.told) == counted


def test_a_reply_is_its_text_and_its_tokens() -> None:
    assert _read(_choice("早上好")) == ChatReply("早上好", tokens_in=3, tokens_out=4)
    assert _read(_choice([{"type": "text", "text": "Good "}, {"type": "text", "text": "day"}])).text == "Good day"


def test_thoughts_are_no_part_of_the_text() -> None:
    assert _read(_choice("Hello", reasoning_content="Hm.", reasoning="Hm.")).text == "Hello"
    assert _read(_choice("<think>\nHm {}.\n</think>\n\nHello")).text == "Hello"
    assert _read(_choice("Hm.</think>Hello"), thinking=True).text == "Hello"
    assert _read(_choice("She wrote </think> on it.")).text == "She wrote </think> on it."


def test_a_reply_of_the_schema_is_parsed() -> None:
    text = '{"word": "hi", "number": 2}'
    assert _read(_choice(text), schema=True).parsed == Greeting(word="hi", number=2)
    assert _read(_choice(f"Here:\n```json\n{text}\n```"), schema=True, structured="prompt").parsed is not None
    with pytest.raises(InvalidJsonError):
        _read(_choice(f"Here:\n```json\n{text}\n```"), schema=True)


def test_a_tool_call_has_parsed_arguments() -> None:
    call = {"id": "c7", "type": "function", "function": {"name": "look_up", "arguments": '{"hour": 9}'}}
    reply = _read(_choice(None, "tool_calls", tool_calls=[call]), schema=True, tools=(LOOK_UP,))
    assert reply.tool_calls == (ToolCall("c7", "look_up", {"hour": 9}),)
    assert (reply.text, reply.parsed) == ("", None)


def test_a_tool_that_was_not_offered_is_left_to_whoever_offered_others() -> None:
    calls = [{"id": name, "function": {"name": name, "arguments": "{}"}} for name in ("erase", "look_up")]
    reply = _read(_choice(None, tool_calls=calls), tools=(LOOK_UP,))
    assert [call.name for call in reply.tool_calls] == ["erase", "look_up"]
    with pytest.raises(InvalidJsonError, match="no tools were offered"):
        _read(_choice(None, tool_calls=calls))


@pytest.mark.parametrize("arguments", ["", None, {}, "{}"])
def test_a_tool_without_arguments_may_be_called_with_nothing(arguments: Any) -> None:
    call = {"function": {"name": "look_up", "arguments": arguments}}
    assert _read(_choice(None, tool_calls=[call]), tools=(LOOK_UP,)).tool_calls == (ToolCall("call_0", "look_up", {}),)


@pytest.mark.parametrize(
    ("choice", "error"),
    [
        (_choice("", "stop"), EmptyReplyError),
        (_choice(" \n", "stop"), EmptyReplyError),
        (_choice(None, "stop"), EmptyReplyError),
        (_choice("Hel", "length"), TruncatedError),
        (_choice('{"word": "hi", "number": 2}', "length"), TruncatedError),
        (_choice(None, "stop", refusal="I would rather not."), RefusedError),
        (_choice("", "content_filter"), RefusedError),
        (_choice(None, tool_calls=[{"function": {"name": "look_up", "arguments": "{hour: 9}"}}]), InvalidJsonError),
        (_choice(None, tool_calls=[{"function": {"name": "look_up", "arguments": "[9]"}}]), InvalidJsonError),
        (_choice(None, tool_calls=["look_up"]), InvalidJsonError),
        (_choice(None, tool_calls=[{"function": {"name": ["look_up"], "arguments": "{}"}}]), InvalidJsonError),
        (_choice(None, tool_calls=[{"function": {"name": "look_up", "arguments": 7}}]), InvalidJsonError),
        (_choice(None, tool_calls=7), EmptyReplyError),
        (_choice(7), EmptyReplyError),
    ],
)
def test_a_reply_of_no_use_has_its_own_error(choice: dict[str, Any], error: type[ChatError]) -> None:
    with pytest.raises(error):
        _read(choice, tools=(LOOK_UP,))


def test_what_came_instead_of_json_is_kept_with_the_error() -> None:
    with pytest.raises(InvalidJsonError, match="number: Field required") as caught:
        _read(_choice('{"word": "hi"}'), schema=True)
    assert caught.value.text == '{"word": "hi"}'


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["function", "name", "id", "text"]), inner)
    ),
    max_leaves=6,
)


@given(JSON, JSON, JSON, JSON, JSON)
def test_no_answer_whatever_it_holds_ends_in_another_error(
    content: Any, calls: Any, refusal: Any, finish: Any, usage: Any
) -> None:
    message = {"content": content, "tool_calls": calls, "refusal": refusal}
    data = json.dumps({"choices": [{"message": message, "finish_reason": finish}], "usage": usage}).encode()
    choice, told = parse_answer(data)
    with contextlib.suppress(ChatError):
        assert isinstance(read_reply(choice, told, say(schema=Greeting, tools=(LOOK_UP,)), SETTINGS).text, str)

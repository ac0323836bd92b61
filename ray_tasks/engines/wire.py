"""Chat requests as the bodies that OpenAI-compatible endpoints take, and their answers as replies or errors."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ray_tasks.engines.json_text import decode, find_model, read_model
from ray_tasks.engines.messages import (
    ChatReply,
    ChatRequest,
    EmptyReplyError,
    InvalidJsonError,
    Message,
    RefusedError,
    Tool,
    ToolCall,
    TruncatedError,
)
from ray_tasks.engines.requests import SHOWN
from ray_tasks.engines.schemas import schema_text, strict_schema
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.strict_json import MalformedJsonError

_JSON_REMEDIES = {
    "json_schema": "where the endpoint does not keep to a JSON schema, set `structured: prompt`",
    "prompt": "a larger model helps, or `structured: json_schema` where the endpoint knows it",
}


class NotAnAnswerError(ValueError):
    """A body that is not the answer of a chat endpoint, for example a gateway's page."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the endpoint tells them; `told` is false where it does not."""

    tokens_in: int = 0
    tokens_out: int = 0
    told: bool = False


def request_body(request: ChatRequest, settings: ChatSettings) -> dict[str, Any]:
    """The JSON body of a request, without its seed."""
    sampling = request.sampling
    body: dict[str, Any] = {
        "model": settings.model,
        "messages": [_message(message) for message in request.messages],
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
    }
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.schema is not None and settings.structured == "json_schema":
        wanted = {"name": request.schema.__name__, "schema": strict_schema(request.schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": wanted}
    elif request.schema is not None:
        _ask_in_words(body["messages"], schema_text(request.schema))
    if settings.thinking is not None:
        body["chat_template_kwargs"] = {"enable_thinking": settings.thinking}
    return body


def without_images(body: Mapping[str, Any]) -> dict[str, Any]:
    """A body with the digest of each image in its place."""
    messages = [
        {**message, "content": [_digest(part) for part in message["content"]]}
        if isinstance(message["content"], list)
        else message
        for message in body["messages"]
    ]
    return {**body, "messages": messages}


def parse_answer(data: bytes) -> tuple[dict[str, Any], Usage]:
    """The first choice of an answer, with its message, and its tokens; raises NotAnAnswerError."""
    try:
        answer = json.loads(data)
        choice = answer["choices"][0]
        if not isinstance(choice["message"], dict):
            raise TypeError("its message is none")
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        said = data[:SHOWN].decode(errors="replace").strip()
        raise NotAnAnswerError(f"its body is not a chat completion: {said!r}") from error
    return choice, _usage(answer.get("usage"))


def read_reply(choice: Mapping[str, Any], usage: Usage, request: ChatRequest, settings: ChatSettings) -> ChatReply:
    """The reply of a choice; raises RefusedError, TruncatedError, EmptyReplyError or InvalidJsonError."""
    message, finish = choice["message"], choice.get("finish_reason")
    if message.get("refusal") or finish == "content_filter":
        raise RefusedError(
            f"the model declined: {_whole(str(message.get('refusal') or finish))[:SHOWN]}; another model may not"
        )
    if finish == "length":
        raise TruncatedError(
            f"the reply was cut at max_tokens = {request.sampling.max_tokens}; raise max_tokens or ask for less at once"
        )
    text = _text(message.get("content"))
    text = answer_after_thinking(text, opened=settings.thinking is True)
    calls = _tool_calls(message.get("tool_calls"), request.tools)
    if not text.strip() and not calls:
        raise EmptyReplyError("the reply is empty; see that the endpoint uses the model's own chat template")
    parsed = None
    if request.schema is None:
        text = _whole(text)
    elif not calls:
        read = read_model if settings.structured == "json_schema" else find_model
        try:
            parsed = read(text, request.schema)
        except MalformedJsonError as error:
            raise InvalidJsonError(
                f"the reply is not the JSON that was asked for: {error}; {_JSON_REMEDIES[settings.structured]}", text
            ) from error
    return ChatReply(text, parsed, calls, usage.tokens_in, usage.tokens_out)


def answer_after_thinking(text: str, *, opened: bool) -> str:
    """A text without the thoughts that some endpoints leave in front; `opened`: even if only their end is marked."""
    thoughts, end, answer = text.partition("</think>")
    marked = thoughts.lstrip().startswith("<think>") or (opened and "<think>" not in thoughts)
    return answer.lstrip() if end and marked else text


def _message(message: Message) -> dict[str, Any]:
    sent: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.images:
        texts = [{"type": "text", "text": message.text}] if message.text else []
        urls = [
            f"data:{image.media_type};base64,{base64.b64encode(image.data).decode('ascii')}" for image in message.images
        ]
        sent["content"] = [*texts, *({"type": "image_url", "image_url": {"url": url}} for url in urls)]
    if message.tool_calls:
        sent["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments), ensure_ascii=False)},
            }
            for call in message.tool_calls
        ]
    if message.call_id is not None:
        sent["tool_call_id"] = message.call_id
    return sent


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _ask_in_words(messages: list[dict[str, Any]], schema: str) -> None:
    """Adds the wish for JSON to the last turn of the user."""
    wish = f"Answer with one JSON value of this JSON schema and with nothing else:\n{schema}"
    for message in reversed(messages):
        if message["role"] == "user":
            if isinstance(message["content"], list):
                message["content"].append({"type": "text", "text": wish})
            else:
                message["content"] = f"{message['content']}\n\n{wish}"
            return
    messages.append({"role": "user", "content": wish})


def _digest(part: Mapping[str, Any]) -> Mapping[str, Any]:
    if part["type"] != "image_url":
        return part
    url = part["image_url"]["url"]
    return {"type": "image", "sha256": hashlib.sha256(url.encode()).hexdigest(), "characters": len(url)}


def _text(content: Any) -> str:
    """The text of a reply, which some endpoints send in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _whole(text: str) -> str:
    """A text in which halves of characters, which a model can end on and no file can hold, are question marks."""
    return text.encode(errors="replace").decode()


def _tool_calls(calls: Any, tools: tuple[Tool, ...]) -> tuple[ToolCall, ...]:
    """The calls of a turn. Where tools were offered, whoever asked tells a model of a name that is none of theirs."""
    if not isinstance(calls, list):
        return ()
    return tuple(_tool_call(call, turn, offered=bool(tools)) for turn, call in enumerate(calls))


def _tool_call(call: Any, turn: int, *, offered: bool) -> ToolCall:
    try:
        name, text = call["function"]["name"], call["function"].get("arguments")
        arguments = text if isinstance(text, dict) else decode(text or "{}")
    except (MalformedJsonError, LookupError, TypeError, AttributeError) as error:
        raise InvalidJsonError(f"the arguments of a tool call are not JSON: {error}", json.dumps(call)) from error
    if not offered or not isinstance(name, str) or not isinstance(arguments, dict):
        what = "its name is no text or its arguments are no object" if offered else "no tools were offered"
        raise InvalidJsonError(f"a tool call is wrong: {what}", json.dumps(call))
    return ToolCall(str(call.get("id") or f"call_{turn}"), name, arguments)


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    read, written = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    return Usage(read or 0, written or 0, told=read is not None and written is not None)


def _count(value: Any) -> int | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if number and 0 <= value < 2**53 else None

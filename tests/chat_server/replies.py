"""Scripted replies as the protocol's bodies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reply:
    """What the model says. Tokens are counted in words, unless `usage` says otherwise.

    With another `status` than 200 the text is the error's message.
    """

    text: str | None = None
    tool_calls: Sequence[tuple[str, str]] = ()
    finish_reason: str | None = None
    refusal: str | None = None
    reasoning: str | None = None
    usage: Mapping[str, Any] | str | None = "words"
    status: int = 200


Script = Callable[[dict[str, Any]], "str | dict[str, Any] | list[Any] | Reply"]


def as_reply(value: str | dict[str, Any] | list[Any] | Reply) -> Reply:
    """A script's result: a text, something to be written as JSON, or a reply."""
    if isinstance(value, Reply):
        return value
    return Reply(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def text_of(body: Mapping[str, Any]) -> str:
    """All text of a request's messages, one message a line."""
    return "\n".join(_text(message.get("content")) for message in body["messages"])


def images_of(body: Mapping[str, Any]) -> list[str]:
    """The data URLs of a request's images."""
    return [
        part["image_url"]["url"]
        for message in body["messages"]
        if isinstance(message.get("content"), list)
        for part in message["content"]
        if part["type"] == "image_url"
    ]


def schema_of(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """The JSON schema that a request asks for, if any."""
    wanted = body.get("response_format") or {}
    return wanted["json_schema"]["schema"] if wanted.get("type") == "json_schema" else None


def default_script(body: dict[str, Any]) -> str | dict[str, Any]:
    """The least that fits: an example of the schema, or "ok"."""
    schema = schema_of(body)
    return json.dumps(example(schema, schema.get("$defs", {}))) if schema else "ok"


def example(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Any:
    """A small value of a JSON schema."""
    if "$ref" in schema:
        return example(defs[schema["$ref"].rsplit("/", 1)[1]], defs)
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return example(schema[choice][0], defs)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {name: example(part, defs) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [example(schema["items"], defs)] * schema.get("minItems", 0)
    simple = {"string": "word", "integer": schema.get("minimum", 0), "number": schema.get("minimum", 0.0)}
    return simple.get(str(kind), False if kind == "boolean" else None)


def usage_of(body: Mapping[str, Any], reply: Reply) -> dict[str, Any] | None:
    """The tokens of a reply as the server tells them: words, and 256 for an image."""
    if reply.usage != "words":
        return dict(reply.usage) if isinstance(reply.usage, Mapping) else None
    read = len(text_of(body).split()) + 256 * len(images_of(body))
    said = " ".join([reply.text or "", *(arguments for _, arguments in reply.tool_calls)])
    written = len(said.split())
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def completion(body: Mapping[str, Any], reply: Reply, number: int) -> dict[str, Any]:
    """The body of an answer to /v1/chat/completions."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.refusal is not None:
        message["refusal"] = reply.refusal
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = [
            {"id": f"call_{number}_{turn}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for turn, (name, arguments) in enumerate(reply.tool_calls)
        ]
    finish = reply.finish_reason or ("tool_calls" if reply.tool_calls else "stop")
    answer = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    usage = usage_of(body, reply)
    return answer if usage is None else {**answer, "usage": usage}


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if part["type"] == "text")
    return content or ""

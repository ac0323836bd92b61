"""The response cache: ``replies/{aa}/{hash}.json``, by all of a request that decides its reply."""

from __future__ import annotations

import hashlib
import json
from typing import Final

from ray_tasks.engines.messages import ChatReply, ChatRequest, ToolCall
from ray_tasks.engines.schemas import schema_text
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.storage.shards import content_key
from ray_tasks.storage.store import MissingObjectError, ObjectStore
from ray_tasks.strict_json import MalformedJsonError, parse_json

FORM: Final = 1
"""Raised when what is kept, or how a reply is read, changes."""


def request_key(request: ChatRequest, settings: ChatSettings) -> str:
    """The hash of model, revision, messages with their images, schema, tools, sampling and way of asking.

    Neither the purpose nor the endpoints are part of it.
    """
    messages = [
        (
            message.role,
            message.text,
            [(image.media_type, hashlib.sha256(image.data).hexdigest()) for image in message.images],
            [(call.call_id, call.name, dict(call.arguments)) for call in message.tool_calls],
            message.call_id,
        )
        for message in request.messages
    ]
    sampling = request.sampling
    schema = None if request.schema is None else (request.schema.__name__, schema_text(request.schema))
    return content_key(
        FORM,
        settings.model,
        settings.revision,
        messages,
        schema,
        [(tool.name, tool.description, dict(tool.parameters)) for tool in request.tools],
        (sampling.temperature, sampling.top_p, sampling.max_tokens, sampling.seed),
        (settings.structured if schema else None, settings.thinking),
    )


def object_key(key: str) -> str:
    """Where the reply to a request lies."""
    return f"replies/{key[:2]}/{key}.json"


class ReplyCache:
    """Whole replies in a store."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def read(self, key: str, request: ChatRequest) -> ChatReply | None:
        """The reply to a request, or None where there is none that is whole; raises StoreError."""
        try:
            return _parse(self._store.read(object_key(key)), key, request)
        except MissingObjectError:
            return None

    def write(self, key: str, reply: ChatReply) -> None:
        """Keeps a reply; raises StoreError."""
        body = {
            "request": key,
            "text": reply.text,
            "parsed": None if reply.parsed is None else reply.parsed.model_dump_json(),
            "tool_calls": [[call.call_id, call.name, dict(call.arguments)] for call in reply.tool_calls],
            "tokens": [reply.tokens_in, reply.tokens_out],
        }
        data = json.dumps({**body, "check": content_key(body)}, ensure_ascii=False).encode()
        self._store.write(object_key(key), data, durable=False)


def _parse(data: bytes, key: str, request: ChatRequest) -> ChatReply | None:
    """The inverse of write; None for anything that was not written so."""
    try:
        body = parse_json(data)
        if body.pop("check") != content_key(body) or body["request"] != key:
            return None
        calls = tuple(ToolCall(*call) for call in body["tool_calls"])
        parsed = request.schema.model_validate_json(body["parsed"]) if request.schema and body["parsed"] else None
        read, written = body["tokens"]
        return ChatReply(body["text"], parsed, calls, read, written, cached=True)
    except (MalformedJsonError, ValueError, KeyError, TypeError, AttributeError):
        return None

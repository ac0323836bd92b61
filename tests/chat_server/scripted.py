"""A Chat without HTTP, for tests of what is asked and of what is made of the replies."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ValidationError

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import ChatError, ChatReply, ChatRequest, InvalidJsonError

Scripted = str | dict[str, Any] | list[Any] | BaseModel | ChatReply | ChatError


class ScriptedChat:
    """Answers by a function of the request: text, something written as JSON, a whole reply, or an error to raise.

    Books calls as the client does, with the words of texts for tokens.
    """

    def __init__(self, function: Callable[[ChatRequest], Scripted]) -> None:
        self._function = function
        self.requests: list[ChatRequest] = []

    async def ask(self, request: ChatRequest, counts: CallCounts) -> ChatReply:
        """The scripted reply; raises what the script returns as an error, and InvalidJsonError as the client does."""
        self.requests.append(request)
        counts.calls += 1
        counts.attempts += 1
        counts.images += sum(len(message.images) for message in request.messages)
        try:
            reply = _reply(request, self._function(request))
        except ChatError as error:
            counts.failed[error.kind] += 1
            raise
        counts.answered += 1
        counts.tokens_in += reply.tokens_in
        counts.tokens_out += reply.tokens_out
        return reply


def _reply(request: ChatRequest, said: Scripted) -> ChatReply:
    if isinstance(said, ChatError):
        raise said
    if isinstance(said, ChatReply):
        return said
    if isinstance(said, BaseModel):
        said = said.model_dump_json()
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    parsed = None
    if request.schema is not None:
        try:
            parsed = request.schema.model_validate_json(text)
        except ValidationError as error:
            raise InvalidJsonError(f"the script's reply is not a {request.schema.__name__}: {error}", text) from error
    read = sum(len(message.text.split()) for message in request.messages)
    return ChatReply(text, parsed, tokens_in=read, tokens_out=len(text.split()))

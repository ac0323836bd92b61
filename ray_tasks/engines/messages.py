"""What is asked of a chat endpoint, what comes back, and what can be wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from ray_tasks.engines.counts import CallCounts
from ray_tasks.errors import DaybookError

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Image:
    """An encoded picture, sent inline."""

    data: bytes = field(repr=False)
    media_type: str = "image/jpeg"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asks for; `arguments` as parsed from its JSON."""

    call_id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that is offered; `parameters` is the JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. `images` follow the text of a user's turn; `call_id` says which tool call a tool's turn answers."""

    role: Role
    text: str
    images: tuple[Image, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the model draws its words; `seed` makes a draw repeatable where the engine keeps to it."""

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 1024
    seed: int | None = 0


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call. `schema`: the reply must be JSON of this model. `purpose` names the step, for books and transcripts."""

    messages: tuple[Message, ...]
    purpose: str
    schema: type[BaseModel] | None = None
    tools: tuple[Tool, ...] = ()
    sampling: Sampling = field(default_factory=Sampling)


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A reply that is whole: `parsed` where a schema was asked for; tokens as the endpoint counted them."""

    text: str
    parsed: BaseModel | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0
    cached: bool = False


class Chat(Protocol):
    """Whatever answers chat requests: a client of real endpoints, or a script in a test."""

    async def ask(self, request: ChatRequest, counts: CallCounts) -> ChatReply:
        """The reply, with the call booked in `counts`; raises ChatError."""
        ...


class ChatError(DaybookError):
    """A call that gave no usable reply. `kind` is the word under which it is counted."""

    kind = "failed"


class UnreachableError(ChatError):
    """No endpoint answered within the allowed attempts."""

    kind = "unreachable"


class EngineFaultError(ChatError):
    """A request on which the endpoint breaks or hangs every time, while it answers others."""

    kind = "engine_fault"


class RejectedError(ChatError):
    """The endpoint will never take this request (a 4xx other than 408 and 429): repeating it is useless.

    `denied`: nor any other, since it does not know the key or the model. That is counted under a word of its own.
    """

    kind = "rejected"
    denied_kind = "denied"

    def __init__(self, message: str, *, denied: bool = False) -> None:
        super().__init__(message)
        if denied:
            self.kind = self.denied_kind


class RefusedError(ChatError):
    """The model declined to answer."""

    kind = "refused"


class TruncatedError(ChatError):
    """The reply ran into max_tokens (finish_reason = length)."""

    kind = "truncated"


class InvalidJsonError(ChatError):
    """The reply is not JSON of the schema that was asked for; `text` is what came."""

    kind = "invalid_json"

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class EmptyReplyError(ChatError):
    """The reply holds neither text nor a tool call."""

    kind = "empty"

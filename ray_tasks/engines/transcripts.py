"""Transcripts: one JSON file for each call, with its request and all that came of it, for people to read."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ray_tasks.engines.messages import ChatReply, ChatRequest
from ray_tasks.engines.wire import without_images
from ray_tasks.strict_json import MalformedJsonError, parse_json

_UNFIT = re.compile(r"[^\w+=@:-]+")


@dataclass
class Transcript:
    """What happened in a call: the request (digests for images), every attempt's answer or fault, and the end."""

    purpose: str
    key: str
    body: Mapping[str, Any]
    attempts: list[dict[str, Any]] = field(default_factory=list)
    started: float = field(default_factory=time.time)

    @classmethod
    def of(cls, request: ChatRequest, key: str, body: Mapping[str, Any]) -> Transcript:
        """The transcript of a call that begins."""
        return cls(request.purpose, key, without_images(body))

    def attempt(self, url: str, seed: int | None, seconds: float, fault: str | None, said: bytes | None) -> None:
        """Adds an attempt: where, with which seed, how long, what was wrong with it, and the body that came, if any."""
        answer = None if said is None else _readable(said)
        attempt = {"endpoint": url, "seed": seed, "seconds": round(seconds, 3), "fault": fault, "answer": answer}
        self.attempts.append(attempt)

    def file(self, prefix: str, reply: ChatReply | None, failure: str | None) -> tuple[str, bytes]:
        """Its object key and its content."""
        purpose = _UNFIT.sub("-", self.purpose).strip("-") or "call"
        calls = [] if reply is None else [{"name": c.name, "arguments": dict(c.arguments)} for c in reply.tool_calls]
        content = {
            "purpose": self.purpose,
            "request_hash": self.key,
            "started": round(self.started, 3),
            "request": self.body,
            "attempts": self.attempts,
            "cached": reply is not None and reply.cached,
            "reply": reply and {"text": reply.text, "tool_calls": calls},
            "failure": failure,
        }
        name = f"{prefix.rstrip('/')}/{purpose}/{self.key[:16]}-{uuid.uuid4().hex[:8]}.json"
        return name, json.dumps(content, ensure_ascii=False, indent=1).encode(errors="backslashreplace")


def _readable(said: bytes) -> Any:
    try:
        return parse_json(said)
    except MalformedJsonError:
        return said.decode(errors="replace")

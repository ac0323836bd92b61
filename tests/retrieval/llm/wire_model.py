"""Models for the chat server that play the agents' part, and what their requests were about."""

from __future__ import annotations

import json
from typing import Any

from tests.chat_server import Reply, schema_of, text_of


def asked_of(body: dict[str, Any]) -> dict[str, Any]:
    """The question that a request is about."""
    asked: dict[str, Any] = json.loads(section_of(body, "question"))
    return asked


def section_of(body: dict[str, Any], name: str) -> str:
    """What stands between a section's marks, where they last stand."""
    return text_of(body).rsplit(f"<{name}>\n", 1)[1].split(f"\n</{name}>")[0]


def purpose_of(body: dict[str, Any]) -> str:
    """Which agent asks: draft, curate or respond."""
    schema = schema_of(body) or {"properties": {}}
    if body.get("tools") or "action" in schema["properties"]:
        return "draft"
    return "curate" if "keep" in schema["properties"] else "respond"


def obliging(body: dict[str, Any]) -> str | dict[str, Any] | Reply:
    """A model that searches for the question, then for its first choice, keeps the latest ten and answers the last."""
    if body.get("tools"):
        asked = asked_of(body)
        turns = sum(message["role"] == "assistant" for message in body["messages"])
        if turns == 2:
            return Reply(tool_calls=[("answer", "{}")])
        query = json.dumps({"query": asked["question"] if turns == 0 else asked.get("choices", {}).get("A", "terrace")})
        wide = json.dumps({"query": asked["question"], "time_query": "DAY1 to now"})
        return Reply(tool_calls=[("search_action_utterance", query), ("search_activity", wide)])
    if purpose_of(body) == "curate":
        numbers = [json.loads(line)["id"] for line in section_of(body, "pool").splitlines()]
        return {"qualifier": "none", "keep": numbers[-10:]}
    letters = list(asked_of(body).get("choices", {"": ""}))
    return {"reason": "So it is told.", "cited": [], "answer": letters[-1] or "Nothing much."}

"""What the drafting agent can do in a turn (EgoCITE Appendix B.3, Figure 19), and how its calls are read.

A model calls tools, or writes one JSON action where its engine has no tools. Both are read into the same actions; what
cannot be read becomes a complaint that says what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from ray_tasks.engines.json_text import decode
from ray_tasks.engines.messages import ChatReply, Tool, ToolCall
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.strict_json import MalformedJsonError

SEARCH_FINE: Final = "search_action_utterance"
SEARCH_ACTIVITY: Final = "search_activity"
SEARCH_CONVERSATION: Final = "search_conversation"
CURATE: Final = "curate_index"
ANSWER: Final = "answer"

_WRITTEN_CALL = re.compile(r"<tool_call>(.{1,4000}?)</tool_call>", re.DOTALL)
LONGEST_QUERY: Final = 300
MOST_KEPT: Final = 100

ActionName = Literal["search_action_utterance", "search_activity", "search_conversation", "curate_index", "answer"]
_VIEWS_OF: Final[dict[str, tuple[str, ...]]] = {
    SEARCH_FINE: ("action", "utterance"),
    SEARCH_ACTIVITY: ("activity",),
    SEARCH_CONVERSATION: ("conversation",),
}
_ABOUT: Final = {
    SEARCH_FINE: "Searches short actions and single utterances: who handles which thing, goes where, says what.",
    SEARCH_ACTIVITY: "Searches activities of one to ten minutes: what several people do together, where and with what.",
    SEARCH_CONVERSATION: "Searches conversations of some minutes: who talks with whom about which topic.",
    CURATE: "Keeps only the listed items of the pool and removes the others.",
    ANSWER: "Ends the search. The pool goes on to another agent, which answers the question. Takes no arguments.",
}
_QUERY: Final = {"type": "string", "description": "A few telling words in English: people, act, object, place, topic."}
_TIME: Final = {
    "type": "string",
    "description": "When it most likely happened: `DAY1 11:15`, `DAY2`, `DAY2 12:00 to DAY2 18:00`. Leave it out if "
    "nothing speaks for a time.",
}


@dataclass(frozen=True, slots=True)
class Search:
    """A search of some views, with the time as the model wrote it ("" where it named none)."""

    tool: str
    views: tuple[str, ...]
    query: str
    time_text: str = ""


@dataclass(frozen=True, slots=True)
class Curate:
    """Items of the pool to keep, by number."""

    keep: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of drafting."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """A call that cannot be done, and what the model is told about it."""

    told: str


Action = Search | Curate | Finish | Complaint


class Step(BaseModel):
    """One action, for engines without tools. Fields that an action does not need are left empty."""

    model_config = ConfigDict(extra="forbid")

    thought: Annotated[str, Field(max_length=600)]
    action: ActionName
    query: Annotated[str, Field(max_length=LONGEST_QUERY)]
    time_query: Annotated[str, Field(max_length=200)]
    keep: Annotated[list[Annotated[int, Field(ge=0, le=9999)]], Field(max_length=MOST_KEPT)]

    def as_call(self) -> ToolCall:
        """The tool call that it stands for."""
        arguments: dict[str, Any] = {"query": self.query, "time_query": self.time_query, "keep": self.keep}
        return ToolCall("", self.action, arguments)


def searches_of(settings: RetrievalSettings) -> dict[str, tuple[str, ...]]:
    """The searches that are offered, with the views that each one looks into."""
    offered = {tool: tuple(view for view in views if view in settings.views) for tool, views in _VIEWS_OF.items()}
    return {tool: views for tool, views in offered.items() if views}


def names_of(settings: RetrievalSettings) -> tuple[str, ...]:
    """The names of all tools that are offered."""
    return (*searches_of(settings), *((CURATE,) if settings.curate_tool else ()), ANSWER)


def tools_of(settings: RetrievalSettings) -> tuple[Tool, ...]:
    """The tools as an endpoint is told of them; the same in every round, so that prompts begin alike."""
    return tuple(Tool(name, _ABOUT[name], _parameters(name)) for name in names_of(settings))


def describe_tools(settings: RetrievalSettings) -> str:
    """The tools in words, for engines without them."""
    needs = {CURATE: "needs keep", ANSWER: "needs nothing else"}
    return "\n".join(
        f"- {name}: {_ABOUT[name]} It {needs.get(name, 'needs query and may have time_query')}."
        for name in names_of(settings)
    )


def _parameters(name: str) -> dict[str, Any]:
    if name == ANSWER:
        return {"type": "object", "properties": {}}
    if name == CURATE:
        keep = {"type": "array", "items": {"type": "integer"}, "description": "Numbers of the items to keep."}
        return {"type": "object", "properties": {"keep": keep}, "required": ["keep"]}
    return {"type": "object", "properties": {"query": _QUERY, "time_query": _TIME}, "required": ["query"]}


def calls_of(reply: ChatReply) -> list[ToolCall]:
    """The calls of a reply: its own, its JSON action, or such as stand in its text where no engine took them out."""
    if isinstance(reply.parsed, Step):
        return [reply.parsed.as_call()]
    if reply.tool_calls:
        return list(reply.tool_calls)
    calls: list[ToolCall] = []
    for text in _WRITTEN_CALL.findall(reply.text):
        try:
            call = decode(text)
        except MalformedJsonError:
            continue
        if isinstance(call, dict) and isinstance(call.get("name"), str):
            arguments = call.get("arguments")
            calls.append(ToolCall("", call["name"], arguments if isinstance(arguments, dict) else {}))
    return calls


def read_call(call: ToolCall, settings: RetrievalSettings) -> Action:
    """What a call asks for; a Complaint where that cannot be done."""
    names = names_of(settings)
    name = call.name.strip().rsplit(".", 1)[-1]
    if name not in names:
        return Complaint(f"There is no tool {call.name[:60]!r}. Call one of: {', '.join(names)}.")
    if name == ANSWER:
        return Finish()
    if name == CURATE:
        keep = numbers_of(call.arguments.get("keep"))
        return Curate(keep) if keep else Complaint("curate_index needs keep: a list of at least one item's number.")
    query = " ".join(_text(call.arguments.get("query")).split())
    if not query:
        return Complaint(f"{name} needs query: a few words to search for.")
    return Search(
        name, searches_of(settings)[name], query[:LONGEST_QUERY], _time_text(call.arguments.get("time_query"))
    )


def numbers_of(value: object) -> tuple[int, ...]:
    """Numbers of items in any shape that models write them: 3, "3", "E3", [3, "[4]"], "3, 4"; each once, in order."""
    parts = value if isinstance(value, list | tuple) else [value]
    found: dict[int, None] = {}
    for part in parts:
        if isinstance(part, bool) or part is None:
            continue
        if isinstance(part, int | float):
            found.update({int(part): None} if abs(part) < 1e6 else {})
        else:
            found.update({int(digits): None for digits in re.findall(r"(?<!\d)\d{1,6}(?!\d)", str(part))})
    return tuple(found)


def _text(value: object) -> str:
    """An argument that should be text; a list of words is one."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(_text(part) for part in value)
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _time_text(value: object) -> str:
    """A time in any shape: a text, a number, a list of two, or an object with a start and an end."""
    if isinstance(value, Mapping):
        value = [part for part in value.values() if part not in (None, "")]
    if isinstance(value, list | tuple):
        return " to ".join(_text(part) for part in value if part not in (None, ""))
    return " ".join(_text(value).split())

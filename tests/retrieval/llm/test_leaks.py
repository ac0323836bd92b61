"""Nothing from after a question reaches a prompt, a trace or an answer, whoever does which step.

Checked on the server's log: requests are the same, byte for byte, as if nothing later had been recorded.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, get_args

import pytest

from ray_tasks.corpus.week_time import format_week_time, parse_week_time
from ray_tasks.engines.client import ChatClient, open_chat
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.registry import make_method
from ray_tasks.retrieval.settings import Agent, RetrievalSettings
from ray_tasks.retrieval.trace import Trace, Traceable
from ray_tasks.retrieval.types import Question
from tests.chat_server import ChatServer, Reply, text_of
from tests.chat_server.replies import Script
from tests.retrieval.llm.wire_model import asked_of, obliging, purpose_of
from tests.retrieval.small_memory import Clip, Coarse, a_week, ask, clock, embed, make_memory

SECRET = "SECRET"
QUESTIONS = (
    ask("Who repaired the lantern?", clock(2, 12, 0), "Tobi", "Mara", "Me", "Nuri", name="between recordings"),
    ask("Where is the passport?", clock(3, 19, 0, 20), "In the blue drawer", "On the roof", name="within a caption"),
    ask("Who usually waters the fern?", clock(2, 19, 39, 30), "Mara", "Tobi", "Nuri", name="at the end of a caption"),
    ask("What did I slice last?", clock(1, 10, 0, 30), "Bread", name="on the first minute"),
    ask("What happened on the second day?", clock(3, 19, 30), name="free"),
)
WIDE = tuple(
    Coarse(view, parse_week_time(clock(day, 10, 0)), parse_week_time(clock(day, 10, 9, 30)), text)
    for day in (1, 2, 3)
    for view, text in (("activity", "I tidy the terrace with Nuri"), ("conversation", "Mara and I talk about fern"))
)
EXAMPLE = '"cited": ["DAY1 11:09:42"]'
"""How a reply is to look, as it is told again where one cannot be read."""
TIMES = re.compile(r"DAY\d+ \d\d:\d\d:\d\d")


@lru_cache
def memories(question: Question) -> tuple[WearerMemory, WearerMemory, WearerMemory]:
    """What was recorded by the question; the whole week; and the week with its answer planted after the question.

    Planted are captions and atoms that begin before it and end after it, or lie after it, right behind it and far away;
    activities and conversations of seconds and of hours across it; and captions within an honest activity which ends
    just before the question, that end just after it.
    """
    at = question.at_ms
    texts = tuple(f"{SECRET} {question.text} {choice}" for _, choice in question.choices or (("", ""),))
    spoken = tuple(f"Mara: {text}" for text in texts)
    starts = (at - 29_000, at - 10_000, at - 1, at + 1, at + 1_000, at + 60_000, at + 86_400_000)
    future = [Clip(format_week_time(start), texts, spoken) for start in starts]
    straddling = [
        Coarse(view, start, end, text)
        for text in texts
        for view in ("activity", "conversation")
        for start, end in (
            (at - 36_000_000, at + 1),
            (at - 3_600_000, at + 1),
            (at - 60_000, at + 300_000),
            (at, at + 1),
            (at + 1, at + 60_000),
        )
    ]
    honest = Coarse("activity", at - 60_000, at - 5_000, f"{question.text} I look at the lantern, passport and fern")
    week = [*a_week(), *(Clip(format_week_time(at - before), ("I look at the fern",)) for before in (60_000, 35_000))]
    wide = (honest, *WIDE)
    return (
        make_memory(week, wide, until=at),
        make_memory(week, wide),
        make_memory([*week, *future], [*wide, *straddling]),
    )


def curious(body: dict[str, Any]) -> Any:
    """A model that searches for what was planted, at the times at which it was planted, and cites what is to come."""
    if purpose_of(body) == "draft":
        turns = sum(message["role"] == "assistant" for message in body["messages"])
        query = f"{SECRET} {asked_of(body)['question']}"
        tools = ("search_action_utterance", "search_conversation", "search_activity", "answer")
        times = ("DAY1 to DAY9", "now", "tomorrow", "")
        tool, time = tools[turns], times[turns]
        arguments = {"query": query, "time_query": time}
        if not body.get("tools"):
            return {"thought": "", "action": tool, "keep": [], **arguments}
        return Reply(tool_calls=[(tool, json.dumps(arguments))])
    if purpose_of(body) == "respond":
        letter = next(iter(asked_of(body).get("choices", {"": ""}))) or "Nothing."
        return {"reason": "So it is told.", "cited": ["DAY9 10:00:00", "now", "DAY1 10:00:00"], "answer": letter}
    return obliging(body)


@dataclass(frozen=True)
class Witness:
    """A server with its log, and a client of it that keeps no replies."""

    server: ChatServer
    chat: ChatClient

    def trace(
        self, name: str, settings: RetrievalSettings, question: Question, memory: WearerMemory
    ) -> tuple[Trace, list[dict[str, Any]]]:
        """How a question is answered, and what the server was asked for it."""
        method = make_method(name, embed, settings, model=self.chat.settings, chat=lambda: self.chat)
        assert isinstance(method, Traceable)
        self.server.requests.clear()
        return method.trace(question, memory), list(self.server.requests)


@contextmanager
def witness(script: Script) -> Iterator[Witness]:
    """A server that answers by a script."""
    with ChatServer(script) as server:
        settings = ChatSettings(model="test-model", urls=(server.url,), outage_s=0, reply_attempts=1)
        with open_chat(settings) as chat:
            yield Witness(server, chat)


def check(script: Script, name: str, settings: RetrievalSettings) -> int:
    """Asks all questions of all memories and compares; tells how many requests there were."""
    with witness(script) as seen:
        return sum(_check_one(seen, name, settings, question) for question in QUESTIONS)


def _check_one(seen: Witness, name: str, settings: RetrievalSettings, question: Question) -> int:
    (early, early_log), *others = (seen.trace(name, settings, question, memory) for memory in memories(question))
    for trace, log in others:
        assert log == early_log
        assert trace == early
        assert list(trace.lines()) == list(early.lines())
    for item in (*early.pool, *early.curated, *early.shown, *early.answer.evidence):
        assert item.end_ms <= question.at_ms
    assert all(end <= question.at_ms for _, end in early.answer.cited)
    messages = [message for body in early_log for message in body["messages"] if message["role"] != "assistant"]
    assert not any(SECRET in message["content"] for message in messages)
    told = "\n".join(message["content"] for message in messages if message["role"] in ("user", "tool"))
    for time in TIMES.findall(told.replace(EXAMPLE, "")):
        assert parse_week_time(time.replace(":", "") + "00") <= question.at_ms
    return len(early_log)


STEPS = [
    (*mixed, mode)
    for mixed in itertools.product(get_args(Agent), repeat=3)
    for mode in (("calls", "json") if mixed[0] == "llm" else ("auto",))
    if "llm" in mixed
]


@pytest.mark.parametrize(("draft", "curate", "respond", "mode"), STEPS)
def test_for_every_combination_of_model_and_rules(draft: Agent, curate: Agent, respond: Agent, mode: str) -> None:
    settings = RetrievalSettings(draft=draft, curate=curate, respond=respond, tool_mode=mode)  # type: ignore[arg-type]
    assert check(curious, "egocite", settings)


@pytest.mark.parametrize(("name", "respond"), [("egocite", "rules"), ("caption-rag", "llm"), ("caption-rag", "rules")])
def test_for_the_rules_and_for_the_baseline(name: str, respond: Agent) -> None:
    assert bool(check(curious, name, RetrievalSettings(respond=respond))) is (respond == "llm")


@pytest.mark.parametrize(
    "script",
    [lambda _: Reply(refusal="no"), lambda _: "Bananas are yellow.", lambda _: Reply("{", finish_reason="length")],
    ids=["refuses", "babbles", "is cut"],
)
def test_for_what_takes_the_place_of_a_model_that_fails(script: Script) -> None:
    assert check(script, "egocite", RetrievalSettings(draft="llm", curate="llm", respond="llm"))


def test_what_is_planted_is_found_as_soon_as_it_has_ended() -> None:
    """So the checks above could fail."""
    settings = RetrievalSettings(draft="llm", curate="llm", respond="llm")
    with witness(curious) as seen:
        for question, name in itertools.product(QUESTIONS, ("egocite", "caption-rag")):
            later = Question("later", question.wearer, question.at_ms + 600_000, question.text, question.choices)
            trace, log = seen.trace(name, settings, later, memories(question)[2])
            assert any(SECRET in item.text for item in trace.curated)
            assert any(SECRET in text_of(body).split("<captions>")[-1] for body in log if purpose_of(body) == "respond")

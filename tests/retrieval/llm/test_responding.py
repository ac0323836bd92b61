"""The response agent: captions of the evidence within a bound, one question more where the reply cannot be read."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from ray_tasks.corpus.week_time import parse_week_time
from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import (
    ChatRequest,
    EmptyReplyError,
    InvalidJsonError,
    RefusedError,
    RejectedError,
    TruncatedError,
    UnreachableError,
)
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.agents import Reply
from ray_tasks.retrieval.llm.asking import tokens_of
from ray_tasks.retrieval.llm.captions import shown_captions
from ray_tasks.retrieval.llm.responding import LlmResponder
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.types import Evidence, Question
from tests.retrieval.llm.scripted import ScriptedRunner, asker, runner
from tests.retrieval.small_memory import a_week, ask, clock, make_memory

LANTERN = ask("Who repaired the lantern?", clock(2, 12, 0), "Tobi", "Mara", "Me", "Nuri")
FREE = ask("Who repaired the lantern?", clock(2, 12, 0))
START = parse_week_time(clock(1, 10, 20))
SEEN = Evidence("a", "action", START, START + 30_000, "Mara repairs the lantern with a screwdriver", 0.9)
MINUTES = Evidence("b", "activity", START - 300_000, START + 300_000, "Mara and I tidy the terrace", 0.5)
JSON = RetrievalSettings(respond="llm")
PROSE = RetrievalSettings(respond="llm", answer_form="prose")


@pytest.fixture(scope="module")
def memory() -> WearerMemory:
    return make_memory(a_week())


def respond(
    chat: ScriptedRunner,
    memory: WearerMemory,
    *evidence: Evidence,
    question: Question = LANTERN,
    chosen: RetrievalSettings = JSON,
) -> Reply:
    return asyncio.run(LlmResponder(asker(chat), chosen).respond(question, evidence, memory, CallCounts()))


def said(answer: str, *cited: str, reason: str = "Mara has the screwdriver.") -> dict[str, Any]:
    return {"reason": reason, "cited": list(cited), "answer": answer}


def captions_of(request: ChatRequest) -> list[dict[str, str]]:
    section = request.messages[1].text.split("<captions>\n")[1].split("\n</captions>")[0]
    return [json.loads(line) for line in section.splitlines()]


def test_the_evidence_is_shown_as_its_captions_in_order_of_time(memory: WearerMemory) -> None:
    chat = runner(respond=said("B", "DAY1 10:20:00", "DAY2 09:00:00"))
    reply = respond(chat, memory, SEEN, MINUTES)
    assert (reply.choice, reply.status, reply.text) == ("B", "answered", "Mara has the screwdriver.")
    assert reply.cited == ((START, START + 30_000),)
    assert reply.notes == ("cited_not_shown",)
    assert reply.calls == 1
    (request,) = chat.requests
    shown = captions_of(request)
    assert len(shown) == 20
    assert [row["time"] for row in shown] == sorted(row["time"] for row in shown)
    assert {"time": "DAY1 10:20:00-10:20:30", "caption": SEEN.text} in shown
    assert [caption.view for caption in reply.shown] == ["caption"] * 20
    assert '"D": "Nuri"' in request.messages[1].text
    assert "DAY2 12:00:00" in request.messages[1].text


def test_captions_that_end_after_the_question_are_never_shown(memory: WearerMemory) -> None:
    question = ask("Who repaired the lantern?", "DAY1 10201000", "Tobi", "Mara")
    wide = Evidence("w", "activity", START - 60_000, question.at_ms, "We tidy the terrace", 0.5)
    instant = Evidence("i", "action", START + 5_000, START + 6_000, "Mara takes a screwdriver", 0.9)
    later = Evidence("l", "action", START + 60_000, START + 90_000, "Mara sings", 0.9)
    shown, _ = shown_captions(memory, [wide, instant, later], question.at_ms, 10_000)
    assert all(one.end_ms <= question.at_ms for one in shown)
    assert "Mara takes a screwdriver" in [one.text for one in shown]
    assert not any("repairs the lantern" in one.text or "sings" in one.text for one in shown)


def test_what_has_no_room_is_left_out_from_the_least_item_on_and_counted(memory: WearerMemory) -> None:
    chosen = RetrievalSettings(respond="llm", context_tokens=1000)
    chat = runner(respond=said("B"))
    reply = respond(chat, memory, SEEN, MINUTES, chosen=chosen)
    shown = captions_of(chat.requests[0])
    assert 0 < len(shown) < 20
    assert reply.notes == (f"captions_left_out:{20 - len(shown)}",)
    assert any("lantern" in row["caption"] for row in shown)
    assert sum(tokens_of(message.text) for message in chat.requests[0].messages) <= 1000


def test_nothing_to_go_by_is_declined_without_a_call(memory: WearerMemory) -> None:
    chat = runner(respond=said("B"))
    assert respond(chat, memory).status == "declined"
    assert chat.requests == []


@pytest.mark.parametrize("error", [TruncatedError("cut"), EmptyReplyError("none"), InvalidJsonError("bad", "hm")])
def test_an_unreadable_reply_is_asked_for_once_more(memory: WearerMemory, error: Any) -> None:
    chat = runner(respond=[error, said("B")])
    reply = respond(chat, memory, SEEN)
    assert (reply.choice, reply.status) == ("B", "answered")
    assert "respond_again" in reply.notes
    assert f"respond_{error.kind}" in reply.notes
    again = chat.requests[1].messages
    assert [message.role for message in again] == ["system", "user", "assistant", "user"]
    assert "cannot be read" in again[3].text
    assert "Reply with JSON only" in again[3].text


def test_a_reply_that_stays_unreadable_is_counted_and_no_letter_is_guessed(memory: WearerMemory) -> None:
    chat = runner(respond=InvalidJsonError("bad", "Mara, or Tobi?"))
    reply = respond(chat, memory, SEEN)
    assert (reply.choice, reply.status) == (None, "unparsed")
    assert len(chat.requests) == 2
    assert "respond_unparsed" in reply.notes


def test_prose_in_the_place_of_json_is_read_if_it_states_a_letter(memory: WearerMemory) -> None:
    reply = respond(runner(respond=InvalidJsonError("bad", "Mara it is.\nAnswer: B")), memory, SEEN)
    assert (reply.choice, reply.status) == ("B", "answered")
    assert reply.notes == ("respond_invalid_json",)


def test_prose_ends_in_its_letter_and_the_last_one_counts(memory: WearerMemory) -> None:
    text = "Answer: A. Wait. At DAY1 10:20:00 Mara has the screwdriver.\nAnswer: B"
    chat = runner(respond=text)
    reply = respond(chat, memory, SEEN, chosen=PROSE)
    assert (reply.choice, reply.status, reply.cited) == ("B", "answered", ((START, START + 30_000),))
    assert chat.requests[0].schema is None
    reply = respond(runner(respond=["Either A or B.", "Answer: C"]), memory, SEEN, chosen=PROSE)
    assert reply.choice == "C"


def test_refusals_and_rejections_are_what_they_are(memory: WearerMemory) -> None:
    refused = respond(runner(respond=RefusedError("no, sorry")), memory, SEEN)
    assert (refused.choice, refused.status, refused.notes) == (None, "declined", ("respond_refused",))
    rejected = respond(runner(respond=RejectedError("400: too long")), memory, SEEN)
    assert (rejected.choice, rejected.status, rejected.error) == (None, "error", "400: too long")
    with pytest.raises(UnreachableError):
        respond(runner(respond=UnreachableError("away")), memory, SEEN)


def test_labels_of_the_question_are_kept_whatever_they_are(memory: WearerMemory) -> None:
    question = Question("q", "P1_INES", LANTERN.at_ms, LANTERN.text, (("1", "Tobi"), ("2", "Mara"), ("3", "Mara")))
    chat = runner(respond=said("C"))
    assert respond(chat, memory, SEEN, question=question).choice == "3"
    assert '"C": "Mara"' in chat.requests[0].messages[1].text
    many = Question("q", "P1_INES", LANTERN.at_ms, LANTERN.text, tuple((str(n), f"choice {n}") for n in range(30)))
    assert respond(chat, memory, SEEN, question=many).status == "error"


def test_free_questions_are_answered_in_words(memory: WearerMemory) -> None:
    reply = respond(runner(respond=said("Mara did.")), memory, SEEN, question=FREE)
    assert (reply.choice, reply.status, reply.text) == (None, "answered", "Mara did.")
    reply = respond(runner(respond="Mara did."), memory, SEEN, question=FREE, chosen=PROSE)
    assert (reply.status, reply.text) == ("answered", "Mara did.")

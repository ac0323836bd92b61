"""The test server's plan of faults, and the scripted chat."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from ray_tasks.engines.client import ChatClient
from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import InvalidJsonError, RefusedError
from tests.chat_server import FAULTS, ChatServer, FaultPlan, ScriptedChat
from tests.chat_server.faults import identity_of
from tests.engines.asking import Greeting, ask_all, say, settings_for


def test_faults_are_a_function_of_plan_request_and_times_seen() -> None:
    plan, same = FaultPlan(0.5, FAULTS, seed=3), FaultPlan(0.5, FAULTS, seed=3)
    asked = [(f"request {n}", seen) for n in range(50) for seen in range(4)]
    assert [plan.choose(*one) for one in asked] == [same.choose(*one) for one in reversed(asked)][::-1]
    assert [plan.choose(*one) for one in asked] != [FaultPlan(0.5, FAULTS, seed=4).choose(*one) for one in asked]


def test_faults_have_their_share_and_all_kinds() -> None:
    drawn = Counter(FaultPlan(0.2, FAULTS).choose(f"{n}", 0) for n in range(5000))
    assert 0.18 < 1 - drawn[None] / 5000 < 0.22
    assert set(drawn) == {None, *FAULTS}


def test_there_are_never_more_faults_in_a_row_than_planned() -> None:
    plan = FaultPlan(1.0, FAULTS, in_a_row=2)
    assert [plan.choose("x", seen) is None for seen in range(6)] == [False, False, True, False, False, True]


def test_how_words_are_drawn_is_no_part_of_what_is_asked() -> None:
    assert identity_of({"model": "m", "seed": 1, "temperature": 0}) == identity_of({"model": "m", "seed": 2})
    assert identity_of({"model": "m"}) != identity_of({"model": "n"})


def test_a_script_that_fails_fails_the_test() -> None:
    def script(body: dict[str, Any]) -> str:
        raise LookupError("a mistake in the script")

    def work() -> None:
        with ChatServer(script) as server, ChatClient(settings_for(server, attempts=1)) as chat:
            ask_all(chat, [say()], CallCounts())

    with pytest.raises(LookupError, match="a mistake in the script"):
        work()


def test_a_script_answers_and_is_booked() -> None:
    counts, chat = CallCounts(), ScriptedChat(lambda request: {"word": request.messages[0].text, "number": 1})
    reply = asyncio.run(chat.ask(say("你好", schema=Greeting), counts))
    assert reply.parsed == Greeting(word="你好", number=1)
    assert (counts.calls, counts.answered, len(chat.requests)) == (1, 1, 1)
    assert counts.balanced


def test_a_scripts_error_is_raised_and_booked() -> None:
    counts = CallCounts()
    with pytest.raises(RefusedError):
        asyncio.run(ScriptedChat(lambda _: RefusedError("no")).ask(say(), counts))
    with pytest.raises(InvalidJsonError):
        asyncio.run(ScriptedChat(lambda _: "no JSON").ask(say(schema=Greeting), counts))
    assert counts.failed == Counter(refused=1, invalid_json=1)
    assert counts.balanced

"""The sampling agent: one call, at most 15 kept, and the policy in code where the model fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ray_tasks.corpus.week_time import day_of
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
from ray_tasks.retrieval.agents import Curation
from ray_tasks.retrieval.curator import RuleCurator
from ray_tasks.retrieval.llm.asking import tokens_of
from ray_tasks.retrieval.llm.policy import PolicyCurator
from ray_tasks.retrieval.llm.sampling import LlmCurator
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.types import Evidence, Question
from tests.retrieval.llm.scripted import ScriptedRunner, asker, runner
from tests.retrieval.small_memory import ask, clock

NOW = clock(3, 20, 0)
LAST = ask("When was the last time I watered the fern?", NOW, "Yesterday", "Today")
FIRST = ask("When did I first water the fern?", NOW, "Yesterday", "Today")
HABIT = ask("Who usually waters the fern?", NOW, "Mara", "Tobi")
HOUR = 3_600_000
POOL = [
    Evidence(f"item{n}", "action", n * HOUR, n * HOUR + 30_000, f"I water the fern {n}", 0.5 + (n % 7) / 100)
    for n in range(1, 61)
]


def curate(
    chat: ScriptedRunner,
    question: Question = LAST,
    pool: Sequence[Evidence] = POOL,
    chosen: RetrievalSettings | None = None,
) -> Curation:
    chosen = chosen or RetrievalSettings(curate="llm")
    return asyncio.run(LlmCurator(asker(chat), chosen, policy()).curate(question, pool, CallCounts()))


def policy() -> PolicyCurator:
    return PolicyCurator(RuleCurator(RetrievalSettings()))


def kept(*numbers: int, qualifier: str = "last") -> dict[str, Any]:
    return {"qualifier": qualifier, "keep": list(numbers)}


def pool_of(request: ChatRequest) -> list[dict[str, Any]]:
    section = request.messages[1].text.split("<pool>\n")[1].split("\n</pool>")[0]
    return [json.loads(line) for line in section.splitlines()]


def names(curation: Curation) -> list[str]:
    return [item.item_id for item in curation.kept]


def test_the_items_that_the_model_keeps_are_kept_in_order_of_time() -> None:
    chat = runner(curate=kept(58, 3, 40, 3))
    curation = curate(chat)
    assert names(curation) == ["item3", "item40", "item58"]
    assert curation.notes == ()
    assert curation.calls == 1
    assert curation.tokens_in > 0
    (request,) = chat.requests
    assert [row["id"] for row in pool_of(request)] == list(range(1, 61))
    assert '"asked_at": "DAY3 20:00:00"' in request.messages[1].text
    assert '"B": "Today"' in request.messages[1].text


def test_a_pool_that_may_be_kept_whole_needs_no_call() -> None:
    chat = runner(curate=kept(1))
    assert names(curate(chat, pool=POOL[:15][::-1])) == [item.item_id for item in POOL[:15]]
    assert chat.requests == []


@pytest.mark.parametrize(
    "error",
    [
        TruncatedError("cut"),
        InvalidJsonError("no JSON", "oh"),
        EmptyReplyError("none"),
        RefusedError("no"),
        RejectedError("too long"),
    ],
)
def test_where_the_model_fails_the_policy_in_code_curates_and_that_is_counted(error: Any) -> None:
    curation = curate(runner(curate=error))
    assert curation.notes == (f"curate_fallback_{error.kind}",)
    assert curation.kept == policy().curate(LAST, POOL)
    assert len(curation.kept) == 15
    assert names(curation) != [item.item_id for item in POOL[:15]]


@pytest.mark.parametrize("said", [kept(), kept(999, 1000)])
def test_a_curation_to_none_is_no_curation(said: dict[str, Any]) -> None:
    curation = curate(runner(curate=said))
    assert "curate_fallback_none" in curation.notes
    assert curation.kept == policy().curate(LAST, POOL)


def test_unknown_numbers_are_left_out_and_counted() -> None:
    curation = curate(runner(curate=kept(5, 70, 71)))
    assert names(curation) == ["item5"]
    assert curation.notes == ("curate_unknown_item:2",)


def test_of_too_many_the_policy_keeps_15_of_those_that_the_model_chose() -> None:
    curation = curate(runner(curate=kept(*range(1, 31))))
    assert len(curation.kept) == 15
    assert {item.item_id for item in curation.kept} <= {f"item{n}" for n in range(1, 31)}
    assert curation.notes == ("curate_too_many",)
    assert curation.kept == policy().curate(LAST, POOL[:30])


def test_an_endpoint_that_is_away_is_no_reason_to_go_on() -> None:
    for error in (UnreachableError("away"), RejectedError("who?", denied=True)):
        with pytest.raises(type(error)):
            curate(runner(curate=error))


def test_nothing_that_ends_after_the_question_is_shown_or_kept() -> None:
    early = ask("When did I water the fern?", clock(2, 10, 0))
    chat = runner(curate=kept(*range(1, 16)))
    curation = curate(chat, early)
    assert all(item.end_ms <= early.at_ms for item in curation.kept)
    assert len(pool_of(chat.requests[0])) == sum(item.end_ms <= early.at_ms for item in POOL)


def test_a_pool_that_has_no_room_is_shown_with_its_best_items() -> None:
    chosen = RetrievalSettings(curate="llm", context_tokens=1800)
    chat = runner(curate=kept(1))
    curation = curate(chat, chosen=chosen)
    shown = pool_of(chat.requests[0])
    assert 0 < len(shown) < 60
    assert f"curate_items_left_out:{60 - len(shown)}" in curation.notes
    assert sum(tokens_of(message.text) for message in chat.requests[0].messages) <= 1800
    assert any(row["text"].endswith(" 6") for row in shown)


def test_the_policy_prefers_the_latest_the_earliest_and_a_spread_over_days() -> None:
    alike = [Evidence(item.item_id, item.view, item.start_ms, item.end_ms, item.text, 0.5) for item in POOL]
    assert [item.item_id for item in policy().curate(LAST, alike)] == [f"item{n}" for n in range(46, 61)]
    assert [item.item_id for item in policy().curate(FIRST, alike)] == [f"item{n}" for n in range(1, 16)]
    days = [day_of(item.start_ms) for item in policy().curate(HABIT, POOL)]
    assert min(days.count(day) for day in (1, 2, 3)) >= 3


def test_the_policy_gives_items_back_with_their_own_scores() -> None:
    assert set(policy().curate(LAST, POOL)) <= set(POOL)
    assert policy().curate(LAST, []) == ()


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(0, 99_999), max_size=60), st.integers(0, 60))
def test_any_choice_of_numbers_gives_a_curation(numbers: list[int], size: int) -> None:
    curation = curate(runner(curate=kept(*numbers)), pool=POOL[:size])
    assert len(curation.kept) == min(size, 15) or len(curation.kept) == len({n for n in numbers if 1 <= n <= size})
    assert [item.start_ms for item in curation.kept] == sorted(item.start_ms for item in curation.kept)

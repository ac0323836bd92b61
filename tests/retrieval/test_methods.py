"""Whole methods: they find, answer, keep the future out, and give the same answer however they are asked."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from ray_tasks.corpus.week_time import format_week_time, parse_week_time
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.registry import METHODS, UnknownMethodError, make_method
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.types import Answer, Question
from ray_tasks.rows import VIEWS
from tests.retrieval.small_memory import Clip, Coarse, a_week, ask, clock, embed, make_memory

COARSE = [
    Coarse(view, parse_week_time(clock(day, hour, 0)), parse_week_time(clock(day, hour, 9, 30)), text)
    for day in (1, 2, 3)
    for hour in (10, 15)
    for view, text in (
        ("activity", f"I tidy the terrace with Nuri {day}"),
        ("conversation", "Mara and I talk about fern"),
    )
]
QUESTIONS = [
    ask("Who repaired the lantern?", clock(1, 12, 0), "Tobi", "Mara", "Me", "Nuri", name="lantern"),
    ask(
        "When was the last time I sliced the pineapple?",
        clock(3, 12, 0),
        "Yesterday afternoon",
        "This morning",
        "Last night",
        name="when",
    ),
    ask(
        "What did I do after the last time I sliced the pineapple?",
        clock(3, 12, 0),
        "Wash the knife",
        "Sing",
        name="after",
    ),
    ask("Who usually waters the fern?", clock(2, 19, 30), "Mara", "Tobi", "Nuri", name="habit"),
    ask("Where is the passport?", clock(3, 19, 0), "In the blue drawer", "On the roof", "In the jar", name="passport"),
    ask("What will we plant on the roof?", clock(3, 15, 0), "Tomatoes", "Ferns", "Kites", name="plan"),
    ask("Who did not open the jar?", clock(3, 19, 30), "Nuri", "Tobi", name="not"),
    ask("What happened on the second day?", clock(3, 19, 30), name="free"),
    ask("Who sang?", clock(1, 9, 0), "Mara", "Tobi", name="too early"),
]


@pytest.fixture(scope="module")
def memory() -> WearerMemory:
    return make_memory(a_week(), COARSE)


def answers(method: str, questions: Sequence[Question], memory: WearerMemory) -> dict[str, Answer]:
    return {answer.question_id: answer for answer in make_method(method, embed).answer_many(list(questions), memory)}


def test_egocite_finds_and_answers(memory: WearerMemory) -> None:
    found = answers("egocite", QUESTIONS, memory)
    right = {"lantern": "B", "when": "A", "after": "A", "habit": "A", "passport": "A", "plan": "A", "not": "B"}
    assert {name: found[name].choice for name in right} == right
    assert any("passport" in item.text for item in found["passport"].evidence)
    assert found["free"].choice is None
    assert found["free"].text


@pytest.mark.parametrize("method", METHODS)
def test_answers_keep_the_contract(method: str, memory: WearerMemory) -> None:
    for question in QUESTIONS:
        answer = make_method(method, embed).answer(question, memory)
        times = [item.start_ms for item in answer.evidence]
        assert times == sorted(times)
        assert len({item.item_id for item in answer.evidence}) == len(times) <= 15
        assert all(item.end_ms <= question.at_ms for item in answer.evidence)
        assert all(item.view in (*VIEWS, "caption") for item in answer.evidence)
        labels = [label for label, _ in question.choices]
        if answer.evidence and labels:
            assert answer.choice in labels
            assert sum(chance for _, chance in answer.probabilities) == pytest.approx(1)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_remembered_is_declined(method: str, memory: WearerMemory) -> None:
    answer = make_method(method, embed).answer(QUESTIONS[-1], memory)
    assert (answer.status, answer.choice, answer.evidence) == ("declined", None, ())
    empty = make_method(method, embed).answer(QUESTIONS[0], make_memory([]))
    assert empty.status == "declined"


@pytest.mark.parametrize("method", METHODS)
def test_alone_in_a_batch_and_in_another_order_the_answers_are_the_same(method: str, memory: WearerMemory) -> None:
    together = answers(method, QUESTIONS, memory)
    shuffled = random.Random(4).sample(QUESTIONS * 9, len(QUESTIONS) * 9)
    assert answers(method, shuffled, memory) == together
    for question in QUESTIONS:
        assert make_method(method, embed).answer(question, memory) == together[question.question_id]


@pytest.mark.parametrize("method", METHODS)
def test_a_memory_that_ends_at_the_question_gives_the_same_bits(method: str, memory: WearerMemory) -> None:
    whole = answers(method, QUESTIONS, memory)
    for question in QUESTIONS:
        cut = make_memory(a_week(), COARSE, until=question.at_ms)
        assert make_method(method, embed).answer(question, cut) == whole[question.question_id]


@pytest.mark.parametrize("method", METHODS)
def test_the_answer_planted_in_the_future_of_every_view_changes_nothing(method: str, memory: WearerMemory) -> None:
    before = answers(method, QUESTIONS, memory)
    for question in QUESTIONS:
        texts = [f"{question.text} {choice} {choice}" for _, choice in question.choices] or [question.text]
        start = question.at_ms - 10_000
        future = Clip(format_week_time(start), tuple(texts), tuple(f"Mara: {text}" for text in texts))
        wide = [
            Coarse(view, start - 60_000, question.at_ms + 1, text)
            for text in texts
            for view in ("activity", "conversation")
        ]
        haunted = make_memory([*a_week(), future], [*COARSE, *wide])
        assert make_method(method, embed).answer(question, haunted) == before[question.question_id]


def test_fewer_items_are_kept_where_settings_say_so(memory: WearerMemory) -> None:
    for method in METHODS:
        answer = make_method(method, embed, RetrievalSettings(evidence=3)).answer(QUESTIONS[0], memory)
        assert len(answer.evidence) == 3


def test_an_unknown_method_is_named_with_those_that_exist() -> None:
    with pytest.raises(UnknownMethodError, match="'telepathy'; choose one of egocite, caption-rag"):
        make_method("telepathy", embed)


def test_methods_tell_their_names() -> None:
    assert [make_method(name, embed).name for name in METHODS] == list(METHODS)

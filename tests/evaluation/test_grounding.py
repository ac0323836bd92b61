"""Whether an answer is grounded: by a field of a retrieved record, or by a sentence of a retrieved text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ray_tasks.corpus.week_time import parse_week_time
from ray_tasks.evaluation.aggregate import summarise
from ray_tasks.evaluation.answers import ScoredAnswer
from ray_tasks.evaluation.grounding import is_grounded
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.retrieval.types import Answer, Evidence, Question

NOON = parse_week_time("DAY2 12000000")


def ask(text: str, *choices: str) -> Question:
    """A question of Mara, asked at noon of the second day."""
    return Question("1", "B1_MARA", NOON, text, tuple(zip("ABCD", choices, strict=False)))


def found(choice: str | None, *texts: str, at: str = "DAY2 11000000", **more: Any) -> Answer:
    """An answer with captions."""
    start = parse_week_time(at)
    evidence = tuple(Evidence(str(n), "caption", start, start + 30_000, text, 0.5) for n, text in enumerate(texts))
    return Answer("1", choice, evidence, **more)


def test_a_sentence_holds_what_was_chosen() -> None:
    question = ask("What happened at the market?", "Distribute coins", "Buy fish", "Walk over the market")
    assert is_grounded(question, found("A", "I sit down.\nTobi distributes the coins."))
    assert not is_grounded(question, found("A", "Tobi distributes leaflets.\nI count coins."))
    assert not is_grounded(question, found("B", "Tobi distributes the coins."))
    only_the_question = ask("What happened at the market?", "At the market", "Elsewhere")
    assert not is_grounded(only_the_question, found("A", "I am at the market."))


def test_people_are_named_and_times_lie_in_what_was_found() -> None:
    who = ask("Who sang?", "Tobi", "Ines and me", "Nuri")
    assert is_grounded(who, found("A", "Tobi sings."))
    assert is_grounded(who, found("B", "I sing with Ines."))
    assert not is_grounded(who, found("B", "Ines sings with Nuri."))
    when = ask("When did I sing?", "This morning", "Yesterday evening", "Last night")
    assert is_grounded(when, found("A", "I sing."))
    assert not is_grounded(when, found("B", "I sing."))


def test_a_field_of_a_record_counts_only_if_it_was_retrieved() -> None:
    question = ask("What did I slice?", "Pineapple", "Bread")
    assert is_grounded(question, found("A", "I sit.", fields=("object: pineapple",), basis="object: pineapple"))
    assert not is_grounded(
        question, found("A", "I slice a pineapple.", fields=("object: kite",), basis="object: bread")
    )
    assert not is_grounded(question, found("A", "I slice a pineapple.", fields=("object: kite",)))


@pytest.mark.parametrize(
    "answer",
    [
        found(None, "Pineapple."),
        found("D", "Pineapple."),
        found("A"),
        found("A", "Pineapple.", status="declined"),
    ],
)
def test_nothing_chosen_or_nothing_retrieved_is_not_grounded(answer: Answer) -> None:
    assert not is_grounded(ask("What did I slice?", "Pineapple", "Bread"), answer)


def test_grounded_accuracy_is_over_right_answers(
    make_question: Callable[..., BenchmarkQuestion], score: Callable[..., ScoredAnswer]
) -> None:
    options = ("Pineapple", "Bread")
    asked = [make_question(str(n), text="What did I slice?", options=options, key="A") for n in range(4)]
    replies = [("A", "A pineapple."), ("A", "A kite."), ("B", "Some bread."), ("A", "Pineapple")]
    told = [
        Answer(str(number), choice, (Evidence("x", "caption", 0, 500_000, text, 1.0),))
        for number, (choice, text) in enumerate(replies)
    ]
    scored = [score(question, answer) for question, answer in zip(asked, told, strict=True)]
    assert [answer.grounded for answer in scored] == [True, False, False, True]
    summary = summarise(scored)
    assert summary.grounded_accuracy.percent == pytest.approx(200 / 3)
    assert summary.grounded_accuracy.n == 3
    assert summary.grounded.percent == 50.0
    assert score(make_question(key=None), told[0]).grounded is None

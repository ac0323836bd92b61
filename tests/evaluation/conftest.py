"""Builders of invented questions, evidence and answers for the evaluation tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ray_tasks.evaluation.answers import ScoredAnswer, score_answer
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.retrieval.types import Answer, Evidence, Question

OPTIONS = ("the basil", "the tomatoes", "the fern", "nothing")


@pytest.fixture(scope="session")
def make_question() -> Callable[..., BenchmarkQuestion]:
    """A question of Mara's week, asked at 1,000,000 ms unless told otherwise."""

    def make(
        question_id: str = "1",
        *,
        text: str = "What do I water first?",
        options: tuple[str, ...] = OPTIONS,
        key: str | None = "A",
        targets: tuple[int, ...] = (500_000,),
        at_ms: int = 1_000_000,
        category: str = "HabitInsight",
        wearer: str = "B1_MARA",
        flags: tuple[str, ...] = (),
        original_id: int | str | None = None,
    ) -> BenchmarkQuestion:
        choices = tuple(zip("ABCDEF", options, strict=False))
        question = Question(question_id, wearer, at_ms, text, choices)
        return BenchmarkQuestion(question, key, targets, category, category, flags, original_id)

    return make


@pytest.fixture(scope="session")
def make_evidence() -> Callable[..., Evidence]:
    """An item from `start_ms` to `end_ms`."""

    def make(start_ms: int, end_ms: int, view: str = "action", item_id: str | None = None) -> Evidence:
        return Evidence(item_id or f"{view}:{start_ms}", view, start_ms, end_ms, "I water the basil.", 0.5)

    return make


@pytest.fixture(scope="session")
def make_answer(make_evidence: Callable[..., Evidence]) -> Callable[..., Answer]:
    """An answer with evidence given as (start_ms, end_ms) pairs."""

    def make(
        question_id: str = "1", choice: str | None = "A", spans: tuple[tuple[int, int], ...] = (), **more: Any
    ) -> Answer:
        return Answer(question_id, choice, tuple(make_evidence(*span) for span in spans), **more)

    return make


@pytest.fixture(scope="session")
def score() -> Callable[..., ScoredAnswer]:
    """score_answer with the names that make no difference filled in."""

    def run(question: BenchmarkQuestion, answer: Answer, seconds: float = 0.1) -> ScoredAnswer:
        return score_answer(question, answer, benchmark="egolifeqa", method="test", seconds=seconds)

    return run

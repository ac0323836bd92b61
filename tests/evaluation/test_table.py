"""The tables for a terminal."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable

import pytest
from rich.console import Console, RenderableType

from ray_tasks.evaluation.answers import ScoredAnswer
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.evaluation.runner import Evaluation
from ray_tasks.evaluation.table import render_evaluation
from ray_tasks.ledger import Ledger
from ray_tasks.retrieval.types import Answer

Build = Callable[..., Evaluation]


@pytest.fixture
def build(
    make_question: Callable[..., BenchmarkQuestion],
    make_answer: Callable[..., Answer],
    score: Callable[..., ScoredAnswer],
) -> Build:
    def run(*choices: str | None, flags: tuple[str, ...] = ()) -> Evaluation:
        questions = [make_question(str(number), flags=flags) for number in range(len(choices))]
        answers = [
            score(question, make_answer(question.question.question_id, choice, ((480_000, 510_000),)))
            for question, choice in zip(questions, choices, strict=True)
        ]
        return Evaluation("egolifeqa", "B1_MARA", "egocite", tuple(questions), tuple(answers), 1.0, 32)

    return run


def shown(renderable: RenderableType, width: int = 100) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(renderable)
    return console.export_text()


def test_rows_are_categories_the_split_and_all(build: Build) -> None:
    text = shown(render_evaluation(build("A")))
    for words in ("egolifeqa · B1_MARA · egocite", "HabitInsight", "time-aware: yes", "time-aware: no", "all", "100.0"):
        assert words in text
    assert "what was odd" not in text
    assert "time-aware: yes" in shown(render_evaluation(build("A", "B", "A", "C")), width=80)


def test_an_empty_group_shows_dashes(build: Build) -> None:
    row = next(line for line in shown(render_evaluation(build("A"))).splitlines() if "time-aware: no" in line)
    assert row.count("–") == 7


def test_accuracy_comes_with_its_interval(build: Build) -> None:
    text = shown(render_evaluation(build("A", "B", "A", "C")))
    assert "50.0 (0–100)" in text


def test_oddities_are_told_in_words(build: Build) -> None:
    evaluation = build("A", None, "B", flags=("empty_choice",))
    text = shown(render_evaluation(evaluation, Ledger(taken=4, done=3, failed=Counter({"no ID": 1}))))
    for words in (
        "what was odd",
        "an empty option",
        "unanswered: unparsed (scored wrong)",
        "asked more than once (accuracy by unique question 33.3)",
        "answered inconsistently: 0, 1, 2",
        "skipped: no ID",
    ):
        assert words in text


def test_it_fits_a_terminal_of_eighty_columns(build: Build) -> None:
    assert max(len(line) for line in shown(render_evaluation(build("A", "B")), width=80).splitlines()) <= 80


def test_words_in_brackets_are_shown_and_not_taken_for_markup(build: Build) -> None:
    assert "[red]" in shown(render_evaluation(build("A"), Ledger(taken=1, failed=Counter({"[red]": 1}))))

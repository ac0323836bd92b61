"""Figures of groups: what a gap is, what a horizon holds, what a question costs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.corpus.week_time import HOUR_MS
from ray_tasks.evaluation.grouped import (
    AFTER,
    NO_TARGET,
    by_field,
    by_gap,
    by_horizon,
    figures,
    gap_of,
    normalized_cost,
)
from tests.evaluation.results import answer

AT = 100 * HOUR_MS


def asked(*targets: tuple[float, float]) -> dict[str, Any]:
    """A question asked at 100 h, with targets given in hours before it."""
    spans = [[int(AT - start * HOUR_MS), int(AT - end * HOUR_MS)] for start, end in targets]
    return {"at_ms": AT, "targets": spans}


@pytest.mark.parametrize(
    ("question", "bin_name"),
    [
        (asked((0, 0)), "up to 1 h"),
        (asked((1, 1)), "up to 1 h"),
        (asked((1.01, 1.01)), "1 to 6 h"),
        (asked((9, 5)), "1 to 6 h"),
        (asked((24, 24)), "6 to 24 h"),
        (asked((30, 30)), "1 to 2 days"),
        (asked((90, 90), (50, 50)), "2 to 4 days"),
        (asked((97, 97)), "over 4 days"),
        (asked((-1, -1)), AFTER),
        (asked((-1, -1), (30, 30)), "1 to 2 days"),
        (asked((1, -1)), AFTER),
        (asked(), NO_TARGET),
        ({"id": 1}, NO_TARGET),
    ],
)
def test_the_gap_is_that_of_the_nearest_target_before_the_question(question: dict[str, Any], bin_name: str) -> None:
    assert gap_of(question) == bin_name


@given(st.lists(st.lists(st.floats(-10, 100), max_size=3), max_size=20))
def test_every_answer_is_in_one_bin(questions: list[list[float]]) -> None:
    answers = [asked(*((hours, hours) for hours in targets)) for targets in questions]
    assert sum(len(group) for group in by_gap(answers).values()) == len(answers)


def test_a_horizon_holds_all_questions_up_to_its_day() -> None:
    horizons = by_horizon([answer(1, True), answer(3, False), answer(3, True), {"id": 9}])
    assert {day: len(group) for day, group in horizons.items()} == {1: 1, 2: 1, 3: 3}
    assert by_horizon([{"id": 1}]) == {}


def test_groups_by_field_come_in_the_order_asked_for_and_others_after() -> None:
    answers = [{"category": name} for name in ("b", "x", "a", None, "x")]
    assert [(name, len(group)) for name, group in by_field(answers, "category", ("x", "y")).items()] == [
        ("x", 2),
        (None, 1),
        ("a", 1),
        ("b", 1),
    ]


def test_figures_leave_out_what_cannot_be_scored() -> None:
    found = figures([answer(1, True, None), answer(2, None, False), answer(3, False, True, predicted=None)], "egocite")
    assert (found["n"], found["unanswered"]) == (3, 1)
    assert (found["accuracy"]["percent"], found["accuracy"]["n"]) == (50.0, 2)
    assert (found["hit"]["percent"], found["hit"]["n"]) == (50.0, 2)
    assert found["accuracy"]["low"] <= 50.0 <= found["accuracy"]["high"]
    assert found["latency_ms"]["p50"] == 1000.0
    assert found["normalized_cost"] == 1060.0


def test_figures_of_nothing_are_none() -> None:
    found = figures([], "egocite")
    assert found["n"] == 0
    assert found["accuracy"]["percent"] is found["tokens_in"] is found["latency_ms"]["p50"] is None
    assert found["normalized_cost"] is None


def test_long_context_costs_more() -> None:
    assert normalized_cost(100, 10, "egocite") == 160
    assert normalized_cost(100, 10, "long-context") == 290
    assert normalized_cost(100, None, "egocite") is None

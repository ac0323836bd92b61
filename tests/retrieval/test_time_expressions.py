"""The labelled time expressions: all that are required are read as they are meant, nearly all of the others too."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.corpus.week_time import DAY_MS, week_ms
from ray_tasks.retrieval.time_phrases import find_windows
from tests.retrieval.time_labels import PARTS, Label, accuracy, parsed, read_labels

LABELS = read_labels()
REQUIRED, HELD_OUT = ([label for label in LABELS if label.part == part] for part in PARTS)


def test_there_are_enough_labels_and_enough_of_them_are_no_times() -> None:
    assert len({(label.text, label.at_ms, label.first_day) for label in LABELS}) == len(LABELS) >= 290
    assert sum(not label.windows for label in LABELS) >= 70


@pytest.mark.parametrize("label", REQUIRED, ids=lambda label: f"line {label.line}: {label.text}")
def test_a_required_expression_is_read_as_it_is_meant(label: Label) -> None:
    assert label.agrees(parsed(label.text, label.at_ms, label.first_day))


def test_expressions_that_were_not_looked_at_are_read_about_as_well() -> None:
    right, wrong = accuracy(HELD_OUT, parsed)
    assert right >= 0.95 * len(HELD_OUT), [label.text for label in wrong]


def test_a_label_disagrees_with_a_window_that_is_elsewhere_too_wide_or_missing() -> None:
    (label,) = read_labels("@ DAY5 16:30\nyesterday at noon = 4 12-13 in 4 11-14:30")
    good = (week_ms(4, 12 * 3_600_000), week_ms(4, 14 * 3_600_000))
    assert label.agrees([good])
    assert not label.agrees([])
    assert not label.agrees([good, good])
    assert not label.agrees([(good[0] + DAY_MS, good[1] + DAY_MS)])
    assert not label.agrees([(week_ms(4), week_ms(5))])


@given(
    text=st.lists(st.sampled_from([label.text for label in LABELS]), min_size=1, max_size=4).map(", ".join),
    at=st.integers(min_value=0, max_value=9 * DAY_MS),
    first_day=st.none() | st.dates(),
    any_day=st.booleans(),
)
def test_no_window_reaches_beyond_the_question_or_before_the_week(
    text: str, at: int, first_day: date | None, any_day: bool
) -> None:
    for window in find_windows(text, at, first_day, any_day=any_day):
        assert 0 <= window.start_ms <= window.end_ms <= at
        assert 0 < window.confidence <= 1
        assert 0 <= window.span[0] < window.span[1] <= len(text)


WORDS = (
    *(
        "at",
        "on",
        "the",
        "last",
        "first",
        "day",
        "days",
        "half",
        "past",
        "ago",
        "between",
        "from",
        "to",
        "and",
        "until",
    ),
    *(
        "3",
        "11:15",
        "25",
        "pm",
        "noon",
        "night",
        "morning",
        "every",
        "yesterday",
        "two",
        "hours",
        "Friday",
        "next",
        "~",
    ),
)


@given(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), st.integers(min_value=0, max_value=9 * DAY_MS))
def test_any_words_are_windows_before_the_question_or_none(text: str, at: int) -> None:
    for window in find_windows(text, at):
        assert 0 <= window.start_ms <= window.end_ms <= at

"""Amounts of time before a question."""

from __future__ import annotations

import re

import pytest

from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS, MINUTE_MS
from ray_tasks.retrieval.spoken_time.amounts import AGO, PAST, ago, days_ago, past

AT = 4 * DAY_MS + 16 * HOUR_MS


def ago_in(text: str) -> re.Match[str]:
    match = AGO.search(text)
    assert match, text
    return match


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("20 minutes ago", 20),
        ("half an hour ago", 30),
        ("three quarters of an hour ago", 45),
        ("two and a half hours ago", 150),
        ("an hour and twenty minutes ago", 80),
        ("2h ago", 120),
        ("a good hour ago", 60),
    ],
)
def test_the_middle_of_a_moment_ago(text: str, minutes: float) -> None:
    start, end, _ = ago(ago_in(text), AT)
    assert (start + end) // 2 == AT - minutes * MINUTE_MS


def test_less_and_more_than_an_amount_are_on_one_side_of_it() -> None:
    start, end, _ = ago(ago_in("less than an hour ago"), AT)
    assert start < AT - HOUR_MS and end == AT
    start, end, _ = ago(ago_in("more than an hour ago"), AT)
    assert start < AT - HOUR_MS and end == AT - HOUR_MS


def test_between_two_amounts_both_are_inside() -> None:
    for text in ("two or three hours ago", "2~3 hours ago", "between two and three hours ago"):
        start, end, _ = ago(ago_in(text), AT)
        assert start < AT - 3 * HOUR_MS and end > AT - 2 * HOUR_MS


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("two days ago", 2),
        ("a week ago", 7),
        ("half a day ago", None),
        ("2 days and 3 hours ago", None),
        ("an hour ago", None),
    ],
)
def test_whole_days_are_told_from_finer_amounts(text: str, days: int | None) -> None:
    assert days_ago(ago_in(text)) == days


def test_what_ends_with_the_question_reaches_back_as_far_as_it_says() -> None:
    for text, hours in (("in the last three days", 72), ("during the last half hour", 0.5), ("the past two hours", 2)):
        match = PAST.search(text)
        assert match
        assert past(match, AT)[:2] == (AT - round(hours * HOUR_MS), AT)
    assert not PAST.search("the last two cookies")
    assert not PAST.search("the last day")

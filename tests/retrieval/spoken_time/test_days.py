"""Days of the recording by their names, and weekdays where it is known which day is which."""

from __future__ import annotations

from datetime import date

import pytest

from ray_tasks.retrieval.spoken_time.days import DAYS, Days, Today, days_of

WEDNESDAY = date(2024, 5, 1)


def days_in(text: str, today: Today) -> Days | None:
    for kind, pattern in DAYS:
        match = pattern.search(text)
        if match:
            return days_of(kind, match, today)
    raise AssertionError(f"no day in {text!r}")


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("day 3", 3, 3),
        ("day three", 3, 3),
        ("the very first day", 1, 1),
        ("the 4th day", 4, 4),
        ("yesterday", 4, 4),
        ("the day before yesterday", 3, 3),
        ("the last day so far", 5, 5),
        ("the first two days", 1, 2),
        ("days 4 to 2", 2, 4),
        ("tomorrow", 6, 6),
        ("the other day", 1, 4),
    ],
)
def test_days_by_name(text: str, first: int, last: int) -> None:
    days = days_in(text, Today(5))
    assert days is not None
    assert (days.first, days.last) == (first, last)


@pytest.mark.parametrize(
    ("text", "day"),
    [("friday", 3), ("sunday", 5), ("last sunday", None), ("last wednesday", 1), ("monday", None), ("thursday", 2)],
)
def test_a_weekday_is_the_latest_one_of_the_recording(text: str, day: int | None) -> None:
    days = days_in(text, Today.of(5, text, WEDNESDAY))
    assert (days.first if days else None) == day


def test_without_a_date_a_weekday_is_no_day() -> None:
    assert days_in("friday", Today(5)) is None
    assert days_in("the weekend", Today(5)) is None


def test_the_text_may_say_which_weekday_it_is() -> None:
    assert Today.of(5, "today is sunday, and on friday we sang", None) == Today(5, 6)
    assert Today.of(5, "on friday we sang", None) == Today(5)


def test_a_weekend_ends_with_its_sunday_and_may_be_today() -> None:
    assert days_in("the weekend", Today(5, 6)) == Days(4, 5)
    assert days_in("the weekend", Today(4, 5)) == Days(4, 5)
    assert days_in("the weekend", Today(7, 1)) == Days(4, 5)

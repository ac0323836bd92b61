"""Calendar dates as days of the recording."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.evaluation.calendar_days import MONTHS, Calendar, as_days, dates_in

CALENDAR = Calendar(date(2031, 5, 1))


@pytest.mark.parametrize(
    ("text", "as_written", "converted", "left"),
    [
        ("on 2031-05-03 at 10:30", "on DAY3 at 10:30", 1, 0),
        ("May 4th, 2031 and 5 May", "DAY4 and DAY5", 2, 0),
        ("2031年5月2日 or 5月4日", "DAY2 or DAY4", 2, 0),
        ("the 3rd of May", "DAY3", 1, 0),
        ("2031-05-03T10:30:00", "DAY3 10:30:00", 1, 0),
        ("DAY3 11300000 or DAY8 23595900", "DAY3 11:30 or DAY8 23:59:59", 0, 0),
        ("2031-04-30, 2033-01-01 and 2031-13-01", "2031-04-30, 2033-01-01 and 2031-13-01", 0, 3),
        ("3/5/2031", "3/5/2031", 0, 1),
        ("You may 5 times march 3 steps", "You may 5 times march 3 steps", 0, 0),
        ("20 of the 31 eggs, 11300000", "20 of the 31 eggs, 11300000", 0, 0),
    ],
)
def test_dates_in_texts(text: str, as_written: str, converted: int, left: int) -> None:
    dated = as_days(text, CALENDAR)
    assert (dated.text, dated.converted, dated.left) == (as_written, converted, left)


def test_without_a_first_day_a_date_is_left_and_counted() -> None:
    dated = as_days("on 2031-05-03", None)
    assert (dated.text, dated.converted, dated.left) == ("on 2031-05-03", 0, 1)


def test_dates_are_found_in_any_shape() -> None:
    value = {"a": ["2031-05-02 10:00", 20310504], "b": {"c": "May 3, 2031"}, "d": None, "e": 4.5, "f": "May 9"}
    assert sorted(dates_in(value)) == [date(2031, 5, 2), date(2031, 5, 3), date(2031, 5, 4)]


@given(st.integers(1, 366))
def test_every_form_of_a_date_is_the_same_day(number: int) -> None:
    when = date.fromordinal(CALENDAR.first.toordinal() + number - 1)
    month = MONTHS[when.month - 1]
    forms = (
        when.isoformat(),
        f"{when.year}/{when.month}/{when.day}",
        f"{month} {when.day}, {when.year}",
        f"{when.day} {month[:3]} {when.year}",
        f"{when.year}年{when.month}月{when.day}日",
    )
    for form in forms:
        assert as_days(f"in the shed on {form}.", CALENDAR).text == f"in the shed on DAY{number}."

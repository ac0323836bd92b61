"""Moments in the shapes in which dated benchmarks write them."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from ray_tasks.corpus.week_time import WeekTimeError, format_week_time
from ray_tasks.evaluation.calendar_days import Calendar
from ray_tasks.evaluation.dated_moments import UndatedError, read_moments

CALENDAR = Calendar(date(2031, 5, 1))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2031-05-03", [(3,)]),
        (20310503, [(3,)]),
        ("DAY3", [(3,)]),
        ({"date": "2031-05-03", "time": 93000}, [(3, "DAY3 09300000", "DAY3 09300000")]),
        ({"date": "DAY7", "time": 23590000}, [(7, "DAY7 23590000", "DAY7 23590000")]),
        ({"date": "DAY8", "time": 0}, [(8, "DAY8 00000000", "DAY8 00000000")]),
        (
            {"date": "DAY2", "start_time": 9300007, "end_time": 10000000},
            [(2, "DAY2 09300007", "DAY2 10000000")],
        ),
        ("2031-05-03 10:00-10:30", [(3, "DAY3 10000000", "DAY3 10300000")]),
        ("DAY1 23:50 - DAY2 00:10", [(1, "DAY1 23500000", "DAY2 00100000")]),
        ("DAY1 10:00, 9:05 pm", [(1, "DAY1 10000000", "DAY1 10000000"), (1, "DAY1 21050000", "DAY1 21050000")]),
        ("DAY3 20310503", [(3, "DAY3 20310503", "DAY3 20310503")]),
        (["2031-05-01", "DAY2 10:00"], [(1,), (2, "DAY2 10000000", "DAY2 10000000")]),
        ([], []),
    ],
)
def test_moments_are_read(value: Any, expected: list[tuple[Any, ...]]) -> None:
    found = [
        (moment.day, *map(format_week_time, moment.span)) if moment.span else (moment.day,)
        for moment in read_moments(value, CALENDAR)
    ]
    assert found == expected


@pytest.mark.parametrize("value", [None, "", 7, True, "10:00", "yesterday", "2020-01-01 10:00", {"time": 9300000}])
def test_a_value_without_a_day_of_the_recording_is_refused(value: Any) -> None:
    with pytest.raises(UndatedError):
        read_moments(value, CALENDAR)


@pytest.mark.parametrize("value", ["DAY1 25:00", {"date": "DAY1", "time": 25000000}])
def test_an_impossible_clock_time_is_refused(value: Any) -> None:
    with pytest.raises(WeekTimeError):
        read_moments(value, CALENDAR)

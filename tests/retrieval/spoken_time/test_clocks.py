"""Clock times by themselves: what is one, and the halves of the day it may mean."""

from __future__ import annotations

import pytest

from ray_tasks.corpus.week_time import HOUR_MS, MINUTE_MS
from ray_tasks.retrieval.spoken_time.clocks import BARE, CLOCKS, Clock, clock_of


def clocks_in(text: str) -> list[Clock]:
    found = [(match.start(), clock_of(match)) for pattern in CLOCKS for match in pattern.finditer(text)]
    return [clock for _, clock in sorted(found, key=lambda one: one[0]) if clock is not None]


def at(hour: int, minute: int = 0) -> int:
    return hour * HOUR_MS + minute * MINUTE_MS


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("11:15", at(11, 15)),
        ("3:15", at(15, 15)),
        ("03:15", at(3, 15)),
        ("15h30", at(15, 30)),
        ("12:30", at(12, 30)),
        ("12:30 am", at(0, 30)),
        ("12 pm", at(12)),
        ("3 p.m.", at(15)),
        ("eleven am", at(11)),
        ("three o'clock", at(15)),
        ("twelve o'clock", at(12)),
        ("half past nine", at(9, 30)),
        ("quarter to one", at(12, 45)),
        ("a quarter past three", at(15, 15)),
        ("twenty to four", at(15, 40)),
        ("ten minutes before eight", at(7, 50)),
    ],
)
def test_the_usual_reading_is_that_of_somebody_awake(text: str, ms: int) -> None:
    assert [clock.usual for clock in clocks_in(text)] == [ms]


@pytest.mark.parametrize(
    "text", ["25:10", "11:75", "3:2", "half to nine", "ninety past two", "from ten to eleven", "1.50"]
)
def test_what_is_no_time_of_day_is_none(text: str) -> None:
    assert clocks_in(text) == []


def test_an_hour_without_its_half_may_be_either_and_one_after_midnight_ends_an_evening() -> None:
    assert Clock(at(9), either=True).readings == (at(9), at(21))
    assert Clock(at(0, 30), either=True).readings == (at(0, 30), at(12, 30), at(24, 30))
    assert Clock(at(1)).readings == (at(1), at(25))


def test_a_bare_number_counts_things_where_a_noun_follows() -> None:
    assert BARE.search("at 3?")
    assert BARE.search("between ten and eleven")
    assert not BARE.search("3 lemons")
    assert not BARE.search("at 3 tables")

"""Time expressions as windows, seen from day 5, 16:30."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS, format_week_time, parse_week_time, week_ms
from ray_tasks.retrieval.time_phrases import every_day, find_windows, plain

AT = parse_week_time("DAY5 16300000")

# text -> "day hh:mm - day hh:mm", or several of them, or nothing
LABELLED: list[tuple[str, str]] = [
    ("About 4 hours ago", "5 11:30 - 5 13:30"),
    ("about four hours ago", "5 11:30 - 5 13:30"),
    ("an hour ago", "5 15:15 - 5 15:45"),
    ("half an hour ago", "5 15:50 - 5 16:10"),
    ("an hour and a half ago", "5 14:37 - 5 15:22"),
    ("one and a half hours ago", "5 14:37 - 5 15:22"),
    ("5 and a half hours ago", "5 09:37 - 5 12:22"),
    ("Half a day ago", "5 01:30 - 5 07:30"),
    ("1 day 6 hours ago", "4 07:30 - 4 13:30"),
    ("2 days and 3 hours ago", "3 10:30 - 3 16:30"),
    ("two hours and 20 minutes ago", "5 13:35 - 5 14:45"),
    ("twenty minutes ago", "5 16:00 - 5 16:20"),
    ("About 20 minutes ago", "5 16:00 - 5 16:20"),
    ("twenty-five minutes ago", "5 15:55 - 5 16:15"),
    ("10 minutes earlier", "5 16:10 - 5 16:30"),
    ("90 seconds ago", "5 16:18 - 5 16:30"),
    ("a few minutes ago", "5 16:17 - 5 16:30"),
    ("several hours ago", "5 10:06 - 5 14:54"),
    ("a couple of hours ago", "5 13:18 - 5 15:42"),
    ("about 12 hours ago", "5 01:30 - 5 07:30"),
    ("two days ago", "3 02:30 - 4 04:30"),
    ("About two days ago", "3 02:30 - 4 04:30"),
    ("a day ago", "4 02:30 - 5 04:30"),
    ("four days ago", "1 02:30 - 2 04:30"),
    ("a couple of days ago", "2 02:30 - 5 04:30"),
    ("three days ago in the evening", "2 17:00 - 3 04:00"),
    ("two days ago at noon", "3 11:00 - 3 14:30"),
    ("Three nights ago", "2 17:00 - 3 04:00"),
    ("two mornings ago", "3 00:00 - 3 12:12"),
    ("yesterday", "4 00:00 - 5 04:00"),
    ("Yesterday morning", "4 00:00 - 4 12:12"),
    ("yesterday at noon", "4 11:00 - 4 14:30"),
    ("yesterday in the afternoon", "4 12:00 - 4 18:36"),
    ("yesterday evening", "4 17:00 - 5 04:00"),
    ("yesterday's lunch", "4 11:00 - 4 14:30"),
    ("lunch yesterday", "4 11:00 - 4 14:30"),
    ("after dinner yesterday", "4 16:30 - 5 04:00"),
    ("before breakfast yesterday", "4 00:00 - 4 11:00"),
    ("last night", "4 17:00 - 5 04:00"),
    ("last evening", "4 17:00 - 5 04:00"),
    ("the previous night", "4 17:00 - 5 04:00"),
    ("the night before last", "3 17:00 - 4 04:00"),
    ("the day before yesterday", "3 00:00 - 4 04:00"),
    ("the day before yesterday at noon", "3 11:00 - 3 14:30"),
    ("day before yesterday evening", "3 17:00 - 4 04:00"),
    ("The night before yesterday", "3 17:00 - 4 04:00"),
    ("the afternoon before yesterday", "3 12:00 - 3 18:36"),
    ("this morning", "5 00:00 - 5 12:12"),
    ("this afternoon", "5 12:00 - 5 16:30"),
    ("before this afternoon", "5 00:00 - 5 16:30"),
    ("today", "5 00:00 - 5 16:30"),
    ("earlier today", "5 00:00 - 5 16:30"),
    ("today at noon", "5 11:00 - 5 14:30"),
    ("at noon today", "5 11:00 - 5 14:30"),
    ("after lunch today", "5 11:00 - 5 16:30"),
    ("before lunch", "5 00:00 - 5 14:30"),
    ("during breakfast", "5 06:00 - 5 11:00"),
    ("in the morning", "5 00:00 - 5 12:12"),
    ("in the early morning", "5 00:00 - 5 09:00"),
    ("at night", "4 17:00 - 5 04:00"),
    ("at midnight", "4 22:30 - 5 04:00"),
    ("for dinner", "4 16:30 - 4 22:00"),
    ("on DAY3", "3 00:00 - 4 04:00"),
    ("Day 3", "3 00:00 - 4 04:00"),
    ("on day 2 in the morning", "2 00:00 - 2 12:12"),
    ("the morning of day 2", "2 00:00 - 2 12:12"),
    ("on the first day", "1 00:00 - 2 04:00"),
    ("on my second day at noon", "2 11:00 - 2 14:30"),
    ("the evening of the third day", "3 17:00 - 4 04:00"),
    ("the 4th day", "4 00:00 - 5 04:00"),
    ("at 3 pm", "5 14:40 - 5 15:20"),
    ("at 3:15 p.m.", "5 14:55 - 5 15:35"),
    ("at 15:30", "5 15:10 - 5 15:50"),
    ("around 9 am", "5 08:40 - 5 09:20"),
    ("at 12 am", "4 23:40 - 5 00:20"),
    ("3 o'clock", "5 14:40 - 5 15:20"),
    ("at 9 pm", "4 20:40 - 4 21:20"),
    ("yesterday at 3 pm", "4 14:40 - 4 15:20"),
    ("at 3 pm yesterday", "4 14:40 - 4 15:20"),
    ("at 10:00 on day 2", "2 09:40 - 2 10:20"),
    ("before 10 am", "5 00:00 - 5 10:00"),
    ("after 2 pm", "5 14:00 - 5 16:30"),
    ("yesterday after 6 pm", "4 18:00 - 5 04:00"),
    ("between 2 pm and 4 pm", "5 14:00 - 5 16:00"),
    ("from 14:00 to 15:00 on day 2", "2 14:00 - 2 15:00"),
    ("in the past two hours", "5 14:30 - 5 16:30"),
    ("over the last hour", "5 15:30 - 5 16:30"),
    ("in the last 3 days", "2 16:30 - 5 16:30"),
    ("within the past week", "1 00:00 - 5 16:30"),
    ("just now", "5 15:30 - 5 16:30"),
    ("a moment ago", "5 15:30 - 5 16:30"),
    ("recently", "4 16:30 - 5 16:30"),
    ("Was it yesterday morning or last night?", "4 00:00 - 4 12:12; 4 17:00 - 5 04:00"),
    ("tonight", ""),
    ("tomorrow", ""),
    ("this evening", ""),
    ("on day 9", ""),
    ("DAY10", ""),
    ("a month of honey", ""),
    ("I read 25:70 on the scale", ""),
    ("the first floor", ""),
    ("4", ""),
]


def written(ms: int) -> str:
    """``5 16:30``, as the labels are written."""
    text = format_week_time(ms)
    day, clock = text.removeprefix("DAY").split()
    return f"{day} {clock[0:2]}:{clock[2:4]}"


def test_there_are_enough_labelled_expressions() -> None:
    assert len({text for text, _ in LABELLED}) >= 95


@pytest.mark.parametrize(("text", "expected"), LABELLED)
def test_expression_gives_the_labelled_window(text: str, expected: str) -> None:
    found = [f"{written(window.start_ms)} - {written(window.end_ms)}" for window in find_windows(text, AT)]
    assert "; ".join(found) == expected


def test_tonight_is_a_window_once_the_evening_has_come() -> None:
    at = parse_week_time("DAY5 21000000")
    (window,) = find_windows("Who sang tonight?", at)
    assert (window.start_ms, window.end_ms) == (week_ms(5, 17 * HOUR_MS), at)


def test_day_labels_of_two_digits_are_read_whole() -> None:
    (window,) = find_windows("What broke on DAY10?", week_ms(12))
    assert window.start_ms == week_ms(10)


def test_a_phrase_knows_its_place_and_vague_ones_are_less_sure() -> None:
    text = "Who sang yesterday morning, and who came recently?"
    sure, unsure = find_windows(text, AT)
    assert text[slice(*sure.span)] == "yesterday morning"
    assert sure.confidence > unsure.confidence


def test_a_part_of_the_day_alone_may_be_that_of_any_day() -> None:
    windows = every_day("At noon", AT)
    assert [window.start_ms // DAY_MS + 1 for window in windows] == [1, 2, 3, 4, 5]
    assert every_day("Noodles", AT) == ()


def test_plain_text_keeps_its_length() -> None:
    assert len(plain("It’s half-past İstanbul time")) == len("It’s half-past İstanbul time")


@given(
    text=st.lists(st.sampled_from([text for text, _ in LABELLED]), min_size=1, max_size=4).map(" and ".join),
    at=st.integers(min_value=0, max_value=9 * DAY_MS),
)
def test_no_window_reaches_beyond_the_question_or_before_the_week(text: str, at: int) -> None:
    for window in find_windows(text, at):
        assert 0 <= window.start_ms <= window.end_ms <= at
        assert 0 < window.confidence <= 1

"""Week time: every way of writing it that real files and people use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.corpus.week_time import (
    DAY_MS,
    FRAME_MS,
    HOUR_MS,
    MINUTE_MS,
    SECOND_MS,
    WeekTimeError,
    day_of,
    format_clock,
    format_for_people,
    format_week_time,
    hour_of,
    parse_clock,
    parse_day,
    parse_point,
    parse_target_times,
    parse_week_time,
    week_ms,
)

DAY1_110942_8 = 11 * HOUR_MS + 9 * MINUTE_MS + 42 * SECOND_MS + 8 * FRAME_MS
frames = st.integers(min_value=0, max_value=9999 * DAY_MS // FRAME_MS - 1).map(lambda frame: frame * FRAME_MS)


def at(day: int, hour: int, minute: int = 0, second: int = 0, frame: int = 0) -> int:
    return week_ms(day, hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS + frame * FRAME_MS)


@given(frames)
def test_a_written_time_reads_back_as_itself(ms: int) -> None:
    assert parse_week_time(format_week_time(ms)) == ms
    assert parse_week_time(format_week_time(ms).replace(" ", "_").lower()) == ms


@given(st.integers(min_value=0, max_value=9999 * DAY_MS - 1))
def test_writing_rounds_down_to_the_frame(ms: int) -> None:
    assert parse_week_time(format_week_time(ms)) == ms - ms % FRAME_MS


@given(frames, frames)
def test_written_times_of_one_day_sort_like_the_times(first: int, second: int) -> None:
    if day_of(first) == day_of(second):
        assert (format_clock(first) < format_clock(second)) == (first < second)


@given(st.integers(min_value=0, max_value=9999 * DAY_MS - 1))
def test_day_and_hour_bound_the_time(ms: int) -> None:
    start = week_ms(day_of(ms), hour_of(ms) * HOUR_MS)
    assert start <= ms < start + HOUR_MS


@given(st.integers(0, 23), st.integers(0, 59), st.integers(0, 59), st.integers(0, 99))
def test_frames_beyond_nineteen_are_clamped_and_reported(hour: int, minute: int, second: int, frame: int) -> None:
    parsed = parse_clock(f"{hour:02d}{minute:02d}{second:02d}{frame:02d}")
    assert parsed.clamped == (frame > 19)
    assert parsed.ms == at(1, hour, minute, second, min(frame, 19))


@pytest.mark.parametrize(
    "text",
    [
        "DAY1 11094208",
        "DAY1_11094208",
        "Day1 11094208",
        "day 1 11094208",
        "DAY01_11094208",
        " DAY1  11094208 ",
        "DAY1-11094208",
    ],
)
def test_all_spellings_of_a_point_are_one_time(text: str) -> None:
    assert parse_week_time(text) == DAY1_110942_8


@pytest.mark.parametrize(
    ("value", "ms"),
    [
        ("110942", at(1, 11, 9, 42)),
        (110942, at(1, 11, 9, 42)),
        (90942, at(1, 9, 9, 42)),
        (9094219, at(1, 9, 9, 42, 19)),
        ("09094219", at(1, 9, 9, 42, 19)),
        ("00000000", 0),
        ("23595919", DAY_MS - FRAME_MS),
    ],
)
def test_clock_times_may_lack_their_leading_zero_or_their_frames(value: object, ms: int) -> None:
    assert parse_clock(value).ms == ms


@pytest.mark.parametrize(
    "value", ["", "1", "1109", "24000000", "11600000", "11006000", "110942080", "11:09", None, -110942]
)
def test_what_is_no_clock_time_is_refused(value: object) -> None:
    with pytest.raises(WeekTimeError, match="not a clock time"):
        parse_clock(value)


@pytest.mark.parametrize(
    ("label", "day"), [("DAY10", 10), ("day2", 2), ("Day 2", 2), ("DAY02", 2), (3, 3), ("7", 7), ("DAY_4", 4)]
)
def test_day_labels_have_all_their_digits(label: object, day: int) -> None:
    assert parse_day(label) == day


def test_a_tenth_day_comes_after_the_second() -> None:
    assert parse_week_time("DAY10_09000000") == at(10, 9) > parse_week_time("DAY2_09000000")


@pytest.mark.parametrize("label", ["DAY0", "0", "DAYX", "MONDAY", "", None, "DAY", -1, "DAY1 11094208"])
def test_what_is_no_day_is_refused(label: object) -> None:
    with pytest.raises(WeekTimeError, match="not a day label"):
        parse_day(label)


def test_a_point_without_a_day_needs_one() -> None:
    assert parse_point("11094208", default_day="DAY3").ms == at(3, 11, 9, 42, 8)
    with pytest.raises(WeekTimeError, match="without a day"):
        parse_point("11094208")


@pytest.mark.parametrize("text", ["DAY1", "11:09", "DAY1 11:09", "DAY1 11094208 DAY2 11094208", "", "DAY111094208"])
def test_what_is_no_point_is_refused_rather_than_guessed(text: str) -> None:
    with pytest.raises(WeekTimeError, match="not a week time"):
        parse_week_time(text)


def test_people_read_days_hours_minutes_and_seconds() -> None:
    assert format_for_people(DAY1_110942_8) == "DAY1 11:09:42"


@pytest.mark.parametrize(
    ("target", "points"),
    [
        ({"date": "DAY1", "time": "12305507DAY3_18201112"}, (at(1, 12, 30, 55, 7), at(3, 18, 20, 11, 12))),
        ({"date": "DAY2", "time_list": ["9300000", "10150000"]}, (at(2, 9, 30), at(2, 10, 15))),
        ([{"date": "DAY1", "time": "11000000"}], (at(1, 11),)),
        ({"date": "DAY2", "time": 9300000}, (at(2, 9, 30),)),
        ({"date": "Day1", "time": "11000000"}, (at(1, 11),)),
        ({"date": "DAY2", "time": ["09300000", "10150000"]}, (at(2, 9, 30), at(2, 10, 15))),
        ({"date": "DAY2", "time_list": "09300000"}, (at(2, 9, 30),)),
        ({"date": "DAY2", "time": "09300000,10150000"}, (at(2, 9, 30), at(2, 10, 15))),
        (None, ()),
        ({}, ()),
        ("", ()),
        ({"date": "DAY2", "time": ""}, ()),
        ([], ()),
    ],
)
def test_target_times_are_read_in_every_released_shape(target: object, points: tuple[int, ...]) -> None:
    times = parse_target_times(target)
    assert times.points == points
    assert times.problems == ()


def test_glued_target_times_are_points_and_not_a_range() -> None:
    times = parse_target_times({"date": "DAY1", "time": "11153417DAY1_11181201DAY2_09000000"})
    assert times.points == (at(1, 11, 15, 34, 17), at(1, 11, 18, 12, 1), at(2, 9))


def test_clamped_frames_of_target_times_are_counted() -> None:
    times = parse_target_times({"date": "DAY1", "time_list": ["11094292", "11094208"]})
    assert times.points == (at(1, 11, 9, 42, 19), DAY1_110942_8)
    assert times.clamped == 1


@pytest.mark.parametrize(
    "target", [{"date": "DAY1", "time": "soon"}, {"time": "11094208"}, 7, {"date": "DAYX", "time": "11094208"}]
)
def test_an_unreadable_target_time_is_a_problem_and_not_a_crash(target: object) -> None:
    times = parse_target_times(target)
    assert times.points == ()
    assert len(times.problems) == 1


def test_one_unreadable_point_does_not_cost_its_neighbours() -> None:
    times = parse_target_times({"date": "DAY2", "time_list": ["9300000", "99999999", "10150000"]})
    assert times.points == (at(2, 9, 30), at(2, 10, 15))
    assert len(times.problems) == 1


@given(
    st.one_of(
        st.text(max_size=30),
        st.integers(),
        st.floats(),
        st.none(),
        st.dictionaries(
            st.sampled_from(["date", "time", "time_list"]),
            st.one_of(st.text(max_size=30), st.integers(), st.none(), st.lists(st.text(max_size=9), max_size=3)),
        ),
    )
)
def test_no_target_whatever_ends_in_a_traceback(target: object) -> None:
    times = parse_target_times(target)
    assert all(point >= 0 for point in times.points)

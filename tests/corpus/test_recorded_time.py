"""Recorded time: the week without its unrecorded nights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ray_tasks.corpus.recorded_time import RecordedTimeline
from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS, week_ms

TWO_DAYS = RecordedTimeline.from_bounds(
    {1: (week_ms(1, 10 * HOUR_MS), week_ms(1, 12 * HOUR_MS)), 2: (week_ms(2, 9 * HOUR_MS), week_ms(2, 10 * HOUR_MS))}
)
times = st.integers(min_value=0, max_value=4 * DAY_MS)
timelines = st.lists(st.tuples(times, st.integers(min_value=0, max_value=3 * HOUR_MS)), min_size=1, max_size=12).map(
    lambda rows: RecordedTimeline.from_intervals(
        np.array([start for start, _ in rows]), np.array([start + length for start, length in rows])
    )
)


@pytest.mark.parametrize(
    ("day", "hour", "recorded"),
    [
        (1, 8.0, 0.0),
        (1, 10.0, 0.0),
        (1, 11.5, 1.5),
        (1, 12.0, 2.0),
        (1, 23.0, 2.0),
        (2, 8.0, 2.0),
        (2, 9.0, 2.0),
        (2, 9.5, 2.5),
        (3, 1.0, 3.0),
    ],
)
def test_nights_take_no_recorded_time(day: int, hour: float, recorded: float) -> None:
    assert TWO_DAYS.hours(week_ms(day, int(hour * HOUR_MS))) == pytest.approx(recorded)


def test_a_gap_inside_a_day_remains() -> None:
    starts = np.array([week_ms(1, 9 * HOUR_MS), week_ms(1, 15 * HOUR_MS)])
    timeline = RecordedTimeline.from_intervals(starts, starts + HOUR_MS)
    assert timeline.hours(week_ms(1, 16 * HOUR_MS)) == pytest.approx(7.0)


def test_a_day_that_runs_past_midnight_is_cut_where_the_next_begins() -> None:
    starts = np.array([week_ms(1, 23 * HOUR_MS), week_ms(2, 0)])
    timeline = RecordedTimeline.from_intervals(starts, starts + 2 * HOUR_MS)
    assert timeline.hours(week_ms(2, 2 * HOUR_MS)) == pytest.approx(3.0)


def test_the_gap_to_a_window_is_counted_from_its_nearer_end() -> None:
    start, end = week_ms(2, 9 * HOUR_MS), week_ms(2, int(9.5 * HOUR_MS))
    at = np.array([week_ms(1, 11 * HOUR_MS), start, week_ms(2, int(9.25 * HOUR_MS)), week_ms(2, 10 * HOUR_MS)])
    assert TWO_DAYS.gap_hours(at, start, end) == pytest.approx([1.0, 0.0, 0.0, 0.5])
    assert TWO_DAYS.gap_hours(at, end, start) == pytest.approx([1.0, 0.0, 0.0, 0.5])


def test_a_window_in_the_night_is_the_end_of_the_day_before() -> None:
    midnight, later = week_ms(2, 0), week_ms(2, HOUR_MS)
    assert TWO_DAYS.gap_hours(np.array([week_ms(1, 12 * HOUR_MS)]), midnight, later) == pytest.approx([0.0])


def test_without_recordings_there_is_no_recorded_time() -> None:
    empty = RecordedTimeline.from_bounds({})
    assert empty.hours(np.array([0, DAY_MS])) == pytest.approx([0.0, 0.0])


near_midnight = st.integers(23 * 60 + 40, 24 * 60 + 20)
two_mornings = st.sampled_from([600, *range(2000, 2020)])


@given(
    st.one_of(
        st.lists(st.tuples(near_midnight, st.integers(1, 15)), min_size=2, max_size=12),
        st.lists(st.tuples(two_mornings, st.integers(1, 15)), min_size=2, max_size=12),
    ),
    st.one_of(near_midnight, st.integers(2000, 2030)),
)
@example([(1437, 15), (1443, 5), (1438, 2), (1456, 13), (1454, 1), (1427, 14)], 1449)
@example([(1441, 3), (1455, 15), (1434, 11)], 1445)
@example([(600, 30), (2001, 2), (2000, 20)], 2010)
def test_recorded_time_does_not_move_with_what_ends_later(rows: list[tuple[int, int]], minute: int) -> None:
    minute_ms = HOUR_MS // 60
    starts = np.array([start for start, _ in rows]) * minute_ms
    ends = starts + np.array([length for _, length in rows]) * minute_ms
    known = ends <= minute * minute_ms
    if known.any():
        moments = np.concatenate([starts[known], [ends[known].max()]])
        then = RecordedTimeline.from_intervals(starts[known], ends[known]).hours(moments)
        now = RecordedTimeline.from_intervals(starts, ends).hours(moments)
        assert now - now[-1] == pytest.approx(then - then[-1], abs=1e-9)


@given(timelines, times, times)
def test_recorded_time_never_runs_backwards_nor_faster_than_the_clock(
    timeline: RecordedTimeline, first: int, second: int
) -> None:
    early, late = sorted((first, second))
    passed = float(timeline.hours(late)) - float(timeline.hours(early))
    assert -1e-9 <= passed <= (late - early) / HOUR_MS + 1e-9


@given(timelines, st.lists(times, min_size=1, max_size=8), times, times)
def test_gaps_are_never_negative_and_zero_inside_the_window(
    timeline: RecordedTimeline, at: list[int], start: int, end: int
) -> None:
    gaps = timeline.gap_hours(np.array(at), start, end)
    assert (gaps >= 0).all()
    inside = [min(start, end) <= ms <= max(start, end) for ms in at]
    assert gaps[inside] == pytest.approx(0.0)

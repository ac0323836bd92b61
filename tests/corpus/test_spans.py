"""What is done with reversed, endless and misplaced intervals."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.corpus.spans import ASSUMED_LENGTH_MS, MAX_ROW_MS, Span, assume_ends, settle_span
from ray_tasks.corpus.week_time import HOUR_MS


@pytest.mark.parametrize(
    ("start", "end", "settled"),
    [
        (12_100, 12_800, Span(12_100, 12_800)),
        (9_900, 9_100, Span(9_900, 9_900, ("reversed",))),
        (5_000, 5_000, Span(5_000, 5_000, ("zero_length",))),
        (0, MAX_ROW_MS, Span(0, MAX_ROW_MS)),
        (0, MAX_ROW_MS + 1, Span(0, 0, ("implausible_end",))),
        (HOUR_MS - 2_000, HOUR_MS, Span(HOUR_MS - 2_000, HOUR_MS)),
        (HOUR_MS - 2_000, HOUR_MS + 3_500, Span(HOUR_MS - 2_000, HOUR_MS + 3_500, ("past_hour",))),
        (HOUR_MS, HOUR_MS + 1_000, Span(HOUR_MS, HOUR_MS + 1_000, ("past_hour", "starts_past_hour"))),
        (
            2 * HOUR_MS + 1,
            2 * HOUR_MS + 9,
            Span(2 * HOUR_MS + 1, 2 * HOUR_MS + 9, ("past_hour", "starts_past_hour", "stray")),
        ),
    ],
)
def test_rows_are_kept_where_they_start(start: int, end: int, settled: Span) -> None:
    assert settle_span(start, end, HOUR_MS) == settled


def test_rows_are_cut_to_a_clip_of_known_length() -> None:
    assert settle_span(29_000, 41_000, HOUR_MS, limit_ms=30_000) == Span(29_000, 30_000, ("clamped",))
    assert settle_span(31_000, 41_000, HOUR_MS, limit_ms=30_000) == Span(30_000, 30_000, ("clamped", "zero_length"))


@given(st.integers(0, 3 * HOUR_MS), st.integers(0, 3 * HOUR_MS))
def test_a_settled_interval_never_moves_nor_runs_backwards(start: int, end: int) -> None:
    span = settle_span(start, end, HOUR_MS)
    assert span.start_ms == start <= span.end_ms <= max(start, end)


def test_annotations_without_ends_last_until_the_next_and_not_for_minutes() -> None:
    starts = [19_200, 4_000, 11_500]
    assert assume_ends(starts) == [(4_000, 11_500), (11_500, 19_200), (19_200, 19_200 + ASSUMED_LENGTH_MS)]
    assert starts == [19_200, 4_000, 11_500]


@given(st.lists(st.integers(0, HOUR_MS), max_size=20))
def test_assumed_ends_are_sorted_bounded_and_lose_nothing(starts: list[int]) -> None:
    spans = assume_ends(starts)
    assert [start for start, _ in spans] == sorted(starts)
    assert all(start < end <= start + ASSUMED_LENGTH_MS for start, end in spans)
    distinct = sorted(set(spans))
    assert all(end <= following for (_, end), (following, _) in pairwise(distinct))

"""Pauses between requests."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.engines.pauses import pause, retry_after_s

NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


@given(st.integers(0, 10_000), st.floats(0.01, 100), st.integers())
def test_pauses_grow_to_their_bound_and_have_full_jitter(turn: int, longest_s: float, seed: int) -> None:
    assert 0 <= pause(turn, longest_s, None, random.Random(seed)) <= min(longest_s, 0.5 * 2 ** min(turn, 60))


def test_pauses_fill_their_range() -> None:
    drawn = [pause(3, 60, None, random.Random(seed)) for seed in range(500)]
    assert min(drawn) < 0.4
    assert max(drawn) > 3.6


@given(st.floats(0, 1000), st.integers())
def test_a_wished_pause_is_kept_but_not_beyond_the_bound(wished_s: float, seed: int) -> None:
    waited = pause(0, 60, wished_s, random.Random(seed))
    assert min(60, wished_s) <= waited <= min(60, wished_s * 1.1)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("Tue, 14 Nov 2023 22:13:50 GMT", 30.0),
        ("Tue, 14 Nov 2023 22:13:00 GMT", 0.0),
        ("Tue, 14 Nov 2023 23:13:50 +0100", 30.0),
        ("Tue, 14 Nov 2023 22:13:50", 30.0),
        ("inf", float("inf")),
        ("nan", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(header: str | None, seconds: float | None) -> None:
    assert retry_after_s(header, NOW) == seconds

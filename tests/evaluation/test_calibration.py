"""Calibration of probabilities."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.evaluation.calibration import calibrate


def test_answers_as_sure_as_they_are_right_have_no_error() -> None:
    measured = calibrate([(0.75, True)] * 3 + [(0.75, False)])
    assert measured is not None
    assert measured.n == 4
    assert measured.expected_error == pytest.approx(0)
    assert measured.brier == pytest.approx(0.75 * 0.25)
    (only,) = measured.bins
    assert (only.low, only.high, only.n, only.accuracy) == (0.6, 0.8, 4, 0.75)


def test_answers_that_are_too_sure_are_told() -> None:
    measured = calibrate([(1.0, False), (1.0, True), (0.2, True), (0.0, False)])
    assert measured is not None
    assert measured.expected_error == pytest.approx((2 * 0.5 + 2 * 0.4) / 4)
    assert [one.n for one in measured.bins] == [2, 2]


def test_what_has_no_probability_or_no_key_does_not_count() -> None:
    assert calibrate([(None, True), (0.5, None)]) is None
    assert calibrate([]) is None


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1))
def test_figures_are_shares_and_do_not_depend_on_order(answers: list[tuple[float, bool]]) -> None:
    measured, turned = calibrate(answers), calibrate(answers[::-1])
    assert measured is not None
    assert turned is not None
    assert measured.expected_error == pytest.approx(turned.expected_error)
    assert 0 <= measured.expected_error <= 1
    assert 0 <= measured.brier <= 1
    assert sum(one.n for one in measured.bins) == len(answers)

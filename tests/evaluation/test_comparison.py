"""Paired comparisons: what is a change, and what is noise."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.evaluation.comparison import Change, compare_outcomes, mcnemar


def outcomes(**figures: list[Any]) -> dict[str, dict[str, Any]]:
    """Questions 0, 1, ... with one figure given as a list over them, others absent."""
    (name, values), *_ = figures.items()
    return {str(number): {name: value} for number, value in enumerate(values)}


def only(before: Mapping[str, Any], now: Mapping[str, Any]) -> Change:
    (change,) = compare_outcomes(before, now)
    return change


def test_the_same_outcomes_are_the_same() -> None:
    before = outcomes(correct=[True, False, True, None])
    change = only(before, before)
    assert (change.figure, change.n, change.verdict, change.p) == ("accuracy", 3, "same", 1.0)
    assert change.before == change.now == pytest.approx(200 / 3)


def test_one_question_more_is_noise_and_six_of_six_are_not() -> None:
    before = outcomes(hit=[False] * 20)
    one = only(before, outcomes(hit=[True] + [False] * 19))
    assert (one.verdict, one.better, one.worse, one.p) == ("within noise", 1, 0, 1.0)
    six = only(before, outcomes(hit=[True] * 6 + [False] * 14))
    assert (six.verdict, six.now) == ("better", 30.0)
    assert six.p == pytest.approx(0.03125)
    assert only(outcomes(hit=[True] * 6 + [False] * 14), before).verdict == "worse"


def test_a_rate_that_stays_may_hide_changes_both_ways_which_are_told() -> None:
    change = only(outcomes(near_hit=[True, False]), outcomes(near_hit=[False, True]))
    assert (change.before, change.now, change.better, change.worse) == (50.0, 50.0, 1, 1)
    assert change.verdict == "within noise"


def test_only_questions_of_both_runs_count() -> None:
    before = {"1": {"correct": True}, "2": {"correct": True}}
    now = {"2": {"correct": True}, "3": {"correct": False}}
    assert only(before, now).n == 1
    assert compare_outcomes(before, {"9": {"correct": True}}) == []


def test_minutes_that_grow_for_every_question_are_a_change_with_its_interval() -> None:
    before = outcomes(evidence_minutes=[7.0, 7.5, 6.5, 7.0] * 5)
    grown = only(before, outcomes(evidence_minutes=[8.0, 8.0, 7.5, 8.5] * 5))
    assert grown.verdict == "changed" and grown.p is None
    assert grown.low is not None and grown.high is not None
    assert 0 < grown.low < 1.0 < grown.high < 1.5


def test_minutes_that_go_up_and_down_are_noise() -> None:
    change = only(outcomes(evidence_minutes=[7.0] * 6), outcomes(evidence_minutes=[8.0, 6.0, 9.0, 5.0, 7.5, 6.5]))
    assert change.verdict == "within noise"
    assert (change.better, change.worse) == (3, 3)


def test_figures_come_in_a_fixed_order() -> None:
    entry = {"evidence_minutes": 1.0, "near_hit": True, "hit": True, "correct": True}
    figures = [change.figure for change in compare_outcomes({"1": entry}, {"1": entry})]
    assert figures == ["accuracy", "hit", "near hit", "evidence minutes"]


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (1, 0), (3, 3), (5, 1), (0, 7), (40, 60)])
def test_the_test_agrees_with_counting_all_ways(better: int, worse: int) -> None:
    changed = better + worse
    if changed <= 12:
        ways = [sum(way) for way in itertools.product((0, 1), repeat=changed)]
        unevenness = abs(better - worse)
        expected = sum(abs(2 * ups - changed) >= unevenness for ups in ways) / len(ways)
        assert mcnemar(better, worse) == pytest.approx(expected)
    assert mcnemar(better, worse) == mcnemar(worse, better)
    assert 0 < mcnemar(better, worse) <= 1


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30), st.randoms())
def test_the_order_of_questions_makes_no_difference(pairs: list[tuple[bool, bool]], random: Any) -> None:
    before = outcomes(hit=[was for was, _ in pairs])
    now = outcomes(hit=[is_now for _, is_now in pairs])
    order = list(before)
    random.shuffle(order)
    assert only({key: before[key] for key in order}, {key: now[key] for key in order}) == only(before, now)


def test_a_bootstrap_is_the_same_in_any_order() -> None:
    before = {"1": {"evidence_minutes": 1.0}, "2": {"evidence_minutes": 2.0}, "3": {"evidence_minutes": 9.0}}
    now = {"3": {"evidence_minutes": 8.0}, "1": {"evidence_minutes": 4.0}, "2": {"evidence_minutes": 2.5}}
    turned = dict(reversed(now.items()))
    assert only(before, now) == only(before, turned)

"""Rates, their confidence intervals, and latency."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.evaluation import aggregate
from ray_tasks.evaluation.answers import ScoredAnswer
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.retrieval.types import Answer

outcomes = st.tuples(
    st.sampled_from([True, False, None]),
    st.sampled_from([(True, True), (False, True), (False, False), (None, None)]),
    st.floats(0, 60),
    st.sampled_from(["EntityLog", "TaskMaster", "Unknown"]),
    st.booleans(),
)


@pytest.fixture(scope="module")
def blank(
    make_question: Callable[..., BenchmarkQuestion],
    make_answer: Callable[..., Answer],
    score: Callable[..., ScoredAnswer],
) -> ScoredAnswer:
    return score(make_question(), make_answer())


def answers_of(blank: ScoredAnswer, rows: list[tuple[object, ...]]) -> list[ScoredAnswer]:
    return [
        replace(
            blank,
            question_id=str(number),
            correct=correct,  # type: ignore[arg-type]
            hit=hits[0],  # type: ignore[index]
            hit_first=hits[0],  # type: ignore[index]
            near_hit=hits[1],  # type: ignore[index]
            evidence_minutes=minutes,  # type: ignore[arg-type]
            category=category,  # type: ignore[arg-type]
            time_aware=time_aware,  # type: ignore[arg-type]
            seconds=number / 7,
        )
        for number, (correct, hits, minutes, category, time_aware) in enumerate(rows)
    ]


def test_each_rate_has_its_own_denominator(blank: ScoredAnswer) -> None:
    rows: list[tuple[object, ...]] = [
        (True, (True, True), 2.0, "EntityLog", True),
        (False, (False, True), 4.0, "EntityLog", False),
        (None, (False, False), 0.0, "EntityLog", False),
        (False, (None, None), 6.0, "Unknown", True),
    ]
    summary = aggregate.summarise(answers_of(blank, rows))
    assert summary.n == 4
    assert summary.accuracy.percent == pytest.approx(100 / 3)
    assert summary.accuracy.n == 3
    assert summary.hit.percent == pytest.approx(100 / 3)
    assert summary.near_hit.percent == pytest.approx(200 / 3)
    assert summary.hit.n == 3
    assert summary.evidence_minutes == 3.0


def test_categories_come_in_their_order_and_unknown_last(blank: ScoredAnswer) -> None:
    names = ["Unknown", "TaskMaster", "EntityLog", "TaskMaster"]
    rows: list[tuple[object, ...]] = [(True, (True, True), 0.0, name, True) for name in names]
    summaries = aggregate.summarise_by_category(answers_of(blank, rows))
    assert {name: summary.n for name, summary in summaries.items()} == {"EntityLog": 1, "TaskMaster": 2, "Unknown": 1}
    assert list(summaries) == ["EntityLog", "TaskMaster", "Unknown"]


def test_nothing_to_divide_by_is_none_and_no_error() -> None:
    summary = aggregate.summarise([])
    assert (summary.n, summary.accuracy.percent, summary.hit.low, summary.evidence_minutes) == (0, None, None, None)
    assert aggregate.latency_ms([]) == {"p50": None, "p95": None}
    assert {name: group.n for name, group in aggregate.summarise_by_time_aware([]).items()} == {"yes": 0, "no": 0}


@given(st.lists(outcomes, min_size=1, max_size=30), st.randoms())
def test_the_order_of_the_questions_never_matters(
    blank: ScoredAnswer, rows: list[tuple[object, ...]], random: object
) -> None:
    answers = answers_of(blank, rows)
    shuffled = answers.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert aggregate.summarise(shuffled) == aggregate.summarise(answers)
    assert aggregate.summarise_by_category(shuffled) == aggregate.summarise_by_category(answers)
    assert aggregate.summarise_by_time_aware(shuffled) == aggregate.summarise_by_time_aware(answers)
    assert aggregate.latency_ms(shuffled) == aggregate.latency_ms(answers)


@given(st.lists(outcomes, max_size=30))
def test_groups_add_up_to_the_whole(blank: ScoredAnswer, rows: list[tuple[object, ...]]) -> None:
    answers = answers_of(blank, rows)
    whole = aggregate.summarise(answers)
    for groups in (aggregate.summarise_by_category(answers), aggregate.summarise_by_time_aware(answers)):
        assert sum(group.n for group in groups.values()) == whole.n
        right = sum((group.accuracy.percent or 0) * group.accuracy.n for group in groups.values())
        assert right == pytest.approx((whole.accuracy.percent or 0) * whole.accuracy.n)


@given(st.integers(1, 400).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_the_interval_holds_the_rate_and_is_the_same_every_time(counts: tuple[int, int]) -> None:
    successes, total = counts
    low, high = aggregate.bootstrap_interval(successes, total)
    assert 0 <= low <= 100 * successes / total <= high <= 100
    assert aggregate.bootstrap_interval(successes, total) == (low, high)


def test_the_interval_has_the_width_that_theory_gives() -> None:
    low, high = aggregate.bootstrap_interval(126, 252)
    standard_error = 100 * (0.25 / 252) ** 0.5
    assert high - low == pytest.approx(2 * 1.96 * standard_error, rel=0.05)


def test_the_interval_is_that_of_resampling_the_questions() -> None:
    import numpy as np

    outcomes = np.array([1] * 30 + [0] * 70)
    generator = np.random.default_rng(3)
    means = outcomes[generator.integers(0, 100, (20_000, 100))].mean(axis=1) * 100
    assert aggregate.bootstrap_interval(30, 100) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])), abs=1.01)


def test_latency_is_in_milliseconds(blank: ScoredAnswer) -> None:
    answers = [replace(blank, seconds=number / 100) for number in range(101)]
    assert aggregate.latency_ms(answers) == {"p50": pytest.approx(500.0), "p95": pytest.approx(950.0)}


def test_statuses_and_notes_are_counted_by_question(blank: ScoredAnswer) -> None:
    answers = [blank, replace(blank, status="declined"), replace(blank, notes=("weak", "weak", "late"))]
    assert aggregate.count_statuses(answers) == {"answered": 2, "declined": 1}
    assert aggregate.count_notes(answers) == {"late": 1, "weak": 1}

"""Hits, near hits, covered minutes and the check of evidence."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.corpus.week_time import MINUTE_MS
from ray_tasks.evaluation.metrics import NEAR_MS, CausalityError, EvidenceError, check_evidence, covered_minutes, is_hit
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.retrieval.types import Evidence

intervals = st.lists(
    st.tuples(st.integers(0, 3_000_000), st.integers(0, 600_000)).map(lambda pair: (pair[0], pair[0] + pair[1])),
    max_size=15,
)
targets = st.lists(st.integers(0, 3_600_000), min_size=1, max_size=7)


@pytest.mark.parametrize(
    ("target", "hit", "near"),
    [
        (1_000_000, True, True),  # both ends belong to the interval
        (1_030_000, True, True),
        (1_015_000, True, True),
        (999_999, False, True),
        (1_030_001, False, True),
        (1_000_000 - NEAR_MS, False, True),
        (1_030_000 + NEAR_MS, False, True),
        (1_000_000 - NEAR_MS - 1, False, False),
        (1_030_000 + NEAR_MS + 1, False, False),
    ],
)
def test_ends_belong_to_an_interval_and_near_reaches_five_minutes(target: int, hit: bool, near: bool) -> None:
    span = [(1_000_000, 1_030_000)]
    assert is_hit([target], span) is hit
    assert is_hit([target], span, NEAR_MS) is near


def test_any_target_and_any_interval_will_do() -> None:
    assert is_hit([10, 5_000], [(0, 5), (4_000, 6_000)]) is True
    assert is_hit([10], [(0, 5), (4_000, 6_000)]) is False


def test_without_targets_there_is_no_hit_to_speak_of_and_without_evidence_none() -> None:
    assert is_hit([], [(0, 10)]) is None
    assert is_hit([5], []) is False


@given(targets, intervals)
def test_every_hit_is_a_near_hit(points: list[int], spans: list[tuple[int, int]]) -> None:
    assert not is_hit(points, spans) or is_hit(points, spans, NEAR_MS)


@given(targets, intervals, intervals)
def test_more_evidence_never_loses_a_hit(
    points: list[int], spans: list[tuple[int, int]], more: list[tuple[int, int]]
) -> None:
    assert not is_hit(points, spans) or is_hit(points, spans + more)
    assert covered_minutes(spans + more) >= covered_minutes(spans)


@given(targets, intervals)
def test_the_first_target_is_never_easier_than_any(points: list[int], spans: list[tuple[int, int]]) -> None:
    assert not is_hit(points[:1], spans) or is_hit(points, spans)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), max_size=15))
def test_covered_minutes_are_the_length_of_the_union(pairs: list[tuple[int, int]]) -> None:
    spans = [(start * MINUTE_MS, (start + length) * MINUTE_MS) for start, length in pairs]
    minutes = {minute for start, length in pairs for minute in range(start, start + length)}
    assert covered_minutes(spans) == len(minutes)


def test_covered_minutes_by_hand() -> None:
    assert covered_minutes([]) == 0.0
    assert covered_minutes([(0, 30_000), (15_000, 45_000), (60_000, 60_000)]) == 0.75
    assert covered_minutes([(0, 600_000), (60_000, 90_000)]) == 10.0


def test_evidence_after_the_question_is_refused_by_name(
    make_question: Callable[..., BenchmarkQuestion], make_evidence: Callable[..., Evidence]
) -> None:
    question = make_question("17", at_ms=1_000_000).question
    check_evidence(question, [make_evidence(970_000, 1_000_000)])  # ending at the moment of asking is allowed
    with pytest.raises(CausalityError, match=r"question 17, asked at DAY1 00164000: evidence late \(utterance\)"):
        check_evidence(question, [make_evidence(0, 9), make_evidence(970_000, 1_000_001, "utterance", "late")])


def test_more_than_fifteen_items_and_reversed_items_are_refused(
    make_question: Callable[..., BenchmarkQuestion], make_evidence: Callable[..., Evidence]
) -> None:
    question = make_question("17").question
    items = [make_evidence(start, start + 1) for start in range(16)]
    check_evidence(question, items[:15])
    with pytest.raises(EvidenceError, match="question 17: 16 evidence items, more than the 15 allowed"):
        check_evidence(question, items)
    with pytest.raises(EvidenceError, match="ends before it starts"):
        check_evidence(question, [make_evidence(20, 10)])

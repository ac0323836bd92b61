from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ray_tasks.index.search import decayed, exact_top_k, time_relevance


def _unit(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def _brute_force(
    vectors: npt.NDArray[np.float32],
    query: npt.NDArray[np.float32],
    k: int,
    order_ms: npt.NDArray[np.int64],
    gaps: npt.NDArray[np.float64] | None,
    decay: float,
) -> list[tuple[int, float]]:
    """Row by row in exact sums, as the definition reads."""
    scored = []
    for row in range(len(vectors)):
        similarity = math.fsum(float(a) * float(b) for a, b in zip(vectors[row], query, strict=True))
        gap = 0.0 if gaps is None else float(gaps[row])
        score = similarity * decay**gap if similarity > 0 else similarity
        scored.append((-score, gap, int(order_ms[row]), row))
    return [(row, -score) for score, _, _, row in sorted(scored)[:k]]


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(0, 400),
    k=st.integers(1, 40),
    doubled=st.floats(0, 1),
    with_time=st.booleans(),
)
def test_results_are_those_of_brute_force_in_float64(
    seed: int, n: int, k: int, doubled: float, with_time: bool
) -> None:
    rng = np.random.default_rng(seed)
    base = _unit(rng.standard_normal((max(n, 1), 32)).astype(np.float32))
    # Many rows repeat others exactly, so that ties decide.
    source = np.where(rng.random(n) < doubled, rng.integers(0, max(n // 4, 1), n), np.arange(n))
    vectors = base[source] if n else base[:0]
    query = _unit(rng.standard_normal((1, 32)).astype(np.float32))[0]
    order = np.sort(rng.integers(0, 50, n)).astype(np.int64)
    gaps = rng.integers(0, 5, n).astype(np.float64) * 7.5 if with_time else None
    top = exact_top_k(vectors, query, k, order_ms=order, gap_hours=gaps)
    expected = _brute_force(vectors, query, k, order, gaps, 0.99)
    assert [int(row) for row in top.rows] == [row for row, _ in expected]
    assert np.allclose(top.scores, [score for _, score in expected], atol=1e-12)


def test_ties_go_to_the_earlier_row() -> None:
    vectors = np.tile(_unit(np.ones((1, 8), np.float32)), (5, 1))
    order = np.array([30, 10, 20, 10, 40], np.int64)
    top = exact_top_k(vectors, vectors[0], 3, order_ms=order)
    assert top.rows.tolist() == [1, 3, 2]


def test_decay_never_improves_what_is_dissimilar() -> None:
    vectors = np.array([[-0.2, math.sqrt(0.96)], [-0.2, math.sqrt(0.96)]], np.float32)
    query = np.array([1, 0], np.float32)
    far_first = np.array([100.0, 0.0])
    top = exact_top_k(vectors, query, 2, order_ms=np.array([0, 1], np.int64), gap_hours=far_first)
    assert top.rows.tolist() == [1, 0]
    assert top.scores == pytest.approx([-0.2, -0.2], abs=1e-7)
    assert decayed(np.array([-0.2]), np.array([0.5])) == pytest.approx([-0.2])


def test_fewer_rows_than_asked_for_give_fewer_hits() -> None:
    vectors = _unit(np.eye(3, 8, dtype=np.float32))
    assert len(exact_top_k(vectors, vectors[0], 10, order_ms=np.arange(3)).rows) == 3
    assert len(exact_top_k(vectors[:0], vectors[0], 10, order_ms=np.arange(0)).rows) == 0
    assert len(exact_top_k(vectors, vectors[0], 0, order_ms=np.arange(3)).rows) == 0


def test_relevance_is_the_paper_s_formula() -> None:
    assert time_relevance(np.array([0.0, 1.0, 24.0])) == pytest.approx([1.0, 0.99, 0.99**24])
    with pytest.raises(ValueError, match="decay"):
        time_relevance(np.zeros(1), 1.5)


def test_time_brings_a_row_at_rank_24_among_the_first_20() -> None:
    """As in EgoCITE Figure 13: similarity alone puts the target at rank 24, the right time query into the top 20."""
    similarity = np.linspace(0.9, 0.6, 100)
    vectors = np.stack([similarity, np.sqrt(1 - similarity**2)], axis=1).astype(np.float32)
    gaps = np.full(100, 30.0)
    gaps[23] = 0.0
    query = np.array([1, 0], np.float32)
    order = np.arange(100, dtype=np.int64)
    assert 23 not in exact_top_k(vectors, query, 20, order_ms=order).rows
    assert exact_top_k(vectors, query, 20, order_ms=order, gap_hours=gaps).rows[0] == 23

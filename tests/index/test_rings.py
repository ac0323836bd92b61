from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ray_tasks.corpus.recorded_time import hours_outside
from ray_tasks.index.rings import Window, ring_top_k, rings
from ray_tasks.index.search import Float32, Int64, exact_top_k, time_relevance


@dataclass(frozen=True)
class Scan:
    """A source that misses nothing."""

    vectors: Float32
    error: float = 1e-4
    approximate: bool = False

    def nearest(
        self, query: Float32, first: int, stop: int, count: int, *, closely: bool = True
    ) -> tuple[Float32, Int64]:
        """See Source.nearest."""
        similarity = self.vectors[first:stop] @ query
        best = np.argsort(-similarity, kind="stable")[:count]
        return similarity[best], best + first


def _material(seed: int, n: int) -> tuple[Float32, Int64, np.ndarray]:
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    order = np.sort(rng.integers(0, n, n))
    hours = np.sort(rng.uniform(0, 400, n)) - rng.exponential(2, n)  # rows are by their end, starts lag behind
    return vectors, order.astype(np.int64), np.maximum(hours, 0)


@given(n=st.integers(1, 60_000), low=st.floats(0, 400), length=st.floats(0, 50), seed=st.integers(0, 9))
@settings(deadline=None, max_examples=25)
def test_rings_hold_every_row_once_and_bound_its_relevance(n: int, low: float, length: float, seed: int) -> None:
    hours = _material(seed, n)[2]
    window = Window(low, low + length)
    relevance = time_relevance(hours_outside(hours, window.low, window.high))
    seen = np.zeros(n, np.int64)
    bounds = []
    for ring in rings(hours, window):
        bounds.append(ring.relevance)
        for first, stop in ring.ranges:
            seen[first:stop] += 1
            assert relevance[first:stop].max() <= ring.relevance + 1e-12
    assert seen.tolist() == [1] * n
    assert bounds == sorted(bounds, reverse=True)


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 40_000),
    k=st.integers(1, 30),
    window=st.none() | st.tuples(st.floats(0, 400), st.floats(0, 30), st.sampled_from([0.99, 0.9, 1.0])),
)
def test_with_a_source_that_misses_nothing_the_result_is_the_exact_one(
    seed: int, n: int, k: int, window: tuple[float, float, float] | None
) -> None:
    vectors, order, hours = _material(seed, n)
    query = vectors[seed % n] if seed % 2 else np.asarray(-vectors[seed % n], np.float32)
    asked = None if window is None else Window(window[0], window[0] + window[1], window[2])
    gaps = None if asked is None else hours_outside(hours, asked.low, asked.high)
    decay = 0.99 if asked is None else asked.decay
    top, proven = ring_top_k(Scan(vectors), vectors, query, k, order_ms=order, start_hours=hours, window=asked)
    expected = exact_top_k(vectors, query, k, order_ms=order, gap_hours=gaps, decay=decay)
    assert proven
    assert top.rows.tolist() == expected.rows.tolist()
    assert top.scores.tolist() == expected.scores.tolist()


def test_more_equal_rows_than_can_be_fetched_are_not_taken_for_a_proof() -> None:
    vectors = np.tile(np.array([[1, 0]], np.float32), (5_000, 1))
    times = np.arange(5_000)
    _, proven = ring_top_k(
        Scan(vectors), vectors, vectors[0], 5, order_ms=times, start_hours=times / 60, window=Window(10, 10)
    )
    assert not proven


def test_an_approximate_source_finds_what_is_very_similar_at_any_time() -> None:
    rng = np.random.default_rng(5)
    n = 60_000
    vectors = rng.standard_normal((n, 256)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    hours = np.linspace(0, 50, n)
    query = vectors[7]  # fifty hours before the time query, R = 0.6, where rows are unlike each other
    top, proven = ring_top_k(
        Scan(vectors, approximate=True),
        vectors,
        query,
        1,
        order_ms=np.arange(n),
        start_hours=hours,
        window=Window(50, 50),
    )
    assert top.rows.tolist() == [7]
    assert top.scores[0] == pytest.approx(0.99 ** (50 - hours[7]), abs=1e-6)
    assert not proven

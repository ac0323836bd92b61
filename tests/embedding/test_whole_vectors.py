"""Cosines with the same bits however they are computed."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.embedding.whole_vectors import cosines, whole_vectors


def unit_vectors(seed: int, n: int, d: int) -> np.ndarray:
    values = np.random.default_rng(seed).normal(size=(n, d))
    return np.asarray(values / np.linalg.norm(values, axis=1, keepdims=True), np.float32)


@given(seed=st.integers(0, 1000), n=st.integers(1, 70), m=st.integers(1, 20), d=st.sampled_from([3, 48, 384, 2560]))
def test_alone_in_a_batch_and_in_double_precision_the_bits_are_the_same(seed: int, n: int, m: int, d: int) -> None:
    rows, queries = whole_vectors(unit_vectors(seed, n, d)), whole_vectors(unit_vectors(seed + 1, m, d))
    together = cosines(rows, queries)
    one_by_one = np.array([[cosines(row[None], query[None])[0, 0] for query in queries] for row in rows])
    exact = (rows.astype(np.float64) @ queries.astype(np.float64).T) / 4000.0**2
    assert np.array_equal(together, one_by_one)
    assert np.array_equal(together, exact)
    assert np.array_equal(cosines(rows[::-1].copy(), queries)[::-1], together)


def test_rounding_moves_a_cosine_by_little() -> None:
    rows, queries = unit_vectors(1, 200, 384), unit_vectors(2, 10, 384)
    error = np.abs(cosines(whole_vectors(rows), whole_vectors(queries)) - rows @ queries.T)
    assert error.max() < 1e-3


def test_a_vector_is_nearest_to_itself() -> None:
    rows = whole_vectors(unit_vectors(3, 20, 384))
    assert np.array_equal(np.argmax(cosines(rows, rows), axis=1), np.arange(20))

"""Products on one core, in the whole process or for a while."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_info

from ray_tasks.evaluation.one_core import products_on_one_core


def threads() -> set[int]:
    """How many threads the libraries of products use."""
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_products_are_on_one_core_and_the_same() -> None:
    random = np.random.default_rng(3)
    one, other = (np.rint(random.normal(size=(400, 384)) * 200).astype(np.float32) for _ in range(2))
    before, product = threads(), one @ other.T
    with products_on_one_core():
        assert threads() == {1}
        assert np.array_equal(one @ other.T, product)
    assert threads() == before

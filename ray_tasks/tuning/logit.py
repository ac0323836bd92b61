"""Small convex models: one choice of several (conditional logit) and yes or no, with a penalty on their weights.

Both are fitted by Newton's method, which for a handful of features needs a few steps and no library.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]

STEPS = 50


def fit_choices(options: Sequence[Float64], keys: Sequence[int], penalty: float) -> Float64:
    """Weights (d,) that minimise the mean of -log softmax(options @ weights)[key], plus penalty x |scaled weights|^2.

    Each question has options (choices, d). The penalty sees every feature in units of its own spread over all options.
    """
    spread = _spread(np.concatenate(options))
    scaled = [matrix / spread for matrix in options]
    weights = np.zeros(len(spread))
    for _ in range(STEPS):
        gradient = 2 * penalty * weights
        curvature = 2 * penalty * np.eye(len(weights))
        for matrix, key in zip(scaled, keys, strict=True):
            chances = softmax(matrix @ weights)
            expected = chances @ matrix
            gradient = gradient + (expected - matrix[key]) / len(scaled)
            centred = matrix - expected
            curvature = curvature + (centred.T * chances) @ centred / len(scaled)
        step = np.linalg.solve(curvature, gradient)
        weights = weights - step
        if float(np.abs(step).max()) < 1e-8:
            break
    return np.asarray(weights / spread, np.float64)


def fit_yes_no(rows: Float64, yes: npt.NDArray[np.bool_], penalty: float) -> tuple[float, Float64]:
    """Bias and weights (d,) of a logistic model of `yes` (n,) from rows (n, d); both outcomes weigh alike in all."""
    spread, middle = _spread(rows), rows.mean(axis=0)
    design = np.column_stack([np.ones(len(rows)), (rows - middle) / spread])
    importance = np.where(yes, 0.5 / max(int(yes.sum()), 1), 0.5 / max(int((~yes).sum()), 1))
    ridge = 2 * penalty * np.diag([0.0] + [1.0] * rows.shape[1])
    weights = np.zeros(design.shape[1])
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-np.clip(design @ weights, -50, 50)))
        gradient = design.T @ (importance * (chances - yes)) + ridge @ weights
        curvature = (design.T * (importance * chances * (1 - chances))) @ design + ridge + 1e-9 * np.eye(len(weights))
        step = np.linalg.solve(curvature, gradient)
        weights = weights - step
        if float(np.abs(step).max()) < 1e-8:
            break
    slopes = weights[1:] / spread
    return float(weights[0] - slopes @ middle), np.asarray(slopes, np.float64)


def softmax(values: Float64) -> Float64:
    """Values (n,) as probabilities."""
    powers = np.exp(values - values.max())
    return np.asarray(powers / powers.sum(), np.float64)


def _spread(rows: Float64) -> Float64:
    """(d,) standard deviations, 1 where a feature does not vary."""
    spread = rows.std(axis=0)
    return np.where(spread > 1e-9, spread, 1.0)

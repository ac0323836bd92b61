"""The loss that weights are learned by, with its gradient, and its minimum.

For a question, -ln of the share of the softmax over clips that falls on the clips asked for; clips near them count in
part. Clips may stand for others like them (`log_mass`), so that a sample gives about the loss of all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ray_tasks.embedding.whole_vectors import Float32, Float64, Int64

NEAR_SHARE = 0.1
"""What a clip within five minutes of a target counts, beside 1 for one that holds it."""
_NOTHING = -60.0


@dataclass(frozen=True)
class Sample:
    """Candidate clips of several questions, those of a question together.

    features (rows, f); log_mass (rows,) ln of how many clips each stands for; gains (rows,) 1 for a clip that holds a
    target, NEAR_SHARE for one near it, else 0; questions (rows,) ascending numbers.
    """

    features: Float32
    log_mass: Float32
    gains: Float32
    questions: Int64

    def of(self, questions: Int64) -> Sample:
        """Only the rows of some questions."""
        kept = np.isin(self.questions, questions)
        return Sample(self.features[kept], self.log_mass[kept], self.gains[kept], self.questions[kept])

    def learnable(self) -> Sample:
        """Only questions with anything to find."""
        return self.of(np.unique(self.questions[self.gains > 0]))

    @property
    def bounds(self) -> Int64:
        """(questions + 1,) where the rows of each question begin, and the number of rows."""
        begins = np.flatnonzero(np.diff(self.questions, prepend=-1))
        return np.append(begins, len(self.questions)).astype(np.int64)


def loss_and_gradient(weights: Float64, sample: Sample) -> tuple[float, Float64]:
    """The mean loss over the questions of a learnable sample, and its gradient (f,)."""
    bounds = sample.bounds
    logits = (sample.features @ weights.astype(np.float32) + sample.log_mass).astype(np.float64)
    gains = np.log(np.maximum(sample.gains, np.exp(_NOTHING)).astype(np.float64))
    everything, among_all = _log_sum(logits, bounds)
    found, among_found = _log_sum(logits + gains, bounds)
    count = len(bounds) - 1
    gradient = ((among_all - among_found).astype(np.float32) @ sample.features).astype(np.float64) / count
    return float((everything - found).mean()), gradient


def fit(sample: Sample, prior: Float64, strength: float) -> Float64:
    """Weights (f,) of least loss + strength x squared distance from `prior`, none negative."""
    from scipy.optimize import minimize

    learnable = sample.learnable()

    def penalised(weights: Float64) -> tuple[float, Float64]:
        loss, gradient = loss_and_gradient(weights, learnable)
        away = weights - prior
        return loss + strength * float(away @ away), gradient + 2 * strength * away

    start = np.maximum(prior, 0.01)
    found = minimize(
        penalised,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * len(prior),
        options={"maxiter": 100, "ftol": 1e-6},
    )
    return np.asarray(found.x, np.float64)


def _log_sum(values: Float64, bounds: Int64) -> tuple[Float64, Float64]:
    """ln of the sum of exp of each question's values, and each value's share (rows,) in it."""
    sizes = np.diff(bounds)
    largest = np.maximum.reduceat(values, bounds[:-1])
    shares = np.exp(values - np.repeat(largest, sizes))
    sums = np.add.reduceat(shares, bounds[:-1])
    return largest + np.log(sums), shares / np.repeat(sums, sizes)

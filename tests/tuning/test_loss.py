"""The loss, its gradient and its minimum."""

from __future__ import annotations

import numpy as np
import pytest

from ray_tasks.tuning.loss import NEAR_SHARE, Sample, fit, loss_and_gradient


def a_sample(seed: int = 0, questions: int = 12, clips: int = 20) -> Sample:
    """Questions whose target has a large first feature; the second says nothing."""
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(questions * clips, 2)).astype(np.float32)
    gains = np.zeros(questions * clips, np.float32)
    gains[::clips], gains[1::clips] = 1.0, NEAR_SHARE
    features[::clips, 0] += 2.0
    log_mass = np.where(np.arange(questions * clips) % clips > 15, np.log(7.0), 0.0).astype(np.float32)
    return Sample(features, log_mass, gains, np.repeat(np.arange(questions), clips))


def test_the_loss_is_minus_the_log_of_the_share_that_falls_on_the_targets() -> None:
    features = np.array([[1.0], [0.0], [2.0]], np.float32)
    sample = Sample(features, np.log([1, 1, 3]).astype(np.float32), np.array([1, 0.1, 0], np.float32), np.zeros(3, int))
    loss, _ = loss_and_gradient(np.array([0.5]), sample)
    masses = np.exp([0.5, 0.0, 1.0]) * [1, 1, 3]
    assert loss == pytest.approx(-np.log((masses @ [1, 0.1, 0]) / masses.sum()), rel=1e-5)


def test_the_gradient_is_that_of_the_loss() -> None:
    sample, weights, step = a_sample(), np.array([0.3, -0.2]), 1e-2
    _, gradient = loss_and_gradient(weights, sample)
    for number in range(2):
        aside = np.eye(2)[number] * step
        up, down = (loss_and_gradient(weights + sign * aside, sample)[0] for sign in (1, -1))
        assert gradient[number] == pytest.approx((up - down) / (2 * step), abs=1e-3)


def test_fitting_finds_what_speaks_for_the_target_and_stays_at_the_prior_where_it_is_held() -> None:
    learned = fit(a_sample(questions=200), np.zeros(2), 0.001)
    assert learned[0] > 1.0
    assert 0 <= learned[1] < 0.4
    assert fit(a_sample(), np.array([0.2, 0.7]), 1e4) == pytest.approx([0.2, 0.7], abs=1e-3)


def test_questions_without_anything_to_find_do_not_count() -> None:
    sample = a_sample()
    lost = np.where(sample.questions == 3, 0.0, sample.gains).astype(np.float32)
    with_lost = Sample(sample.features, sample.log_mass, lost, sample.questions)
    others = sample.of(np.array([n for n in range(12) if n != 3]))
    assert np.array_equal(fit(with_lost, np.zeros(2), 0.1), fit(others, np.zeros(2), 0.1))

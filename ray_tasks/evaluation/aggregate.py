"""Rates over many scored answers, with bootstrap confidence intervals; the order of the questions never matters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ray_tasks.evaluation.answers import ScoredAnswer
from ray_tasks.evaluation.questions import CATEGORIES

BOOTSTRAP_SEED: Final = 20_260_101
BOOTSTRAP_RESAMPLES: Final = 10_000
CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Rate:
    """A share in percent over `n` questions, with the bounds of its confidence interval; None where n is 0."""

    percent: float | None
    low: float | None
    high: float | None
    n: int

    @classmethod
    def of(cls, outcomes: Iterable[bool | None]) -> Rate:
        """The rate of True among outcomes that are not None."""
        known = [outcome for outcome in outcomes if outcome is not None]
        successes, total = sum(known), len(known)
        if not total:
            return cls(None, None, None, 0)
        low, high = bootstrap_interval(successes, total)
        return cls(100.0 * successes / total, low, high, total)


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of a group of answers.

    accuracy is over questions with a key, hit, hit_first and near_hit over those with a usable target, evidence_minutes
    (a mean, in minutes) over all; each Rate says over how many. grounded_accuracy is the share of right answers that
    are grounded (Imprint section 4.1), grounded that of all answers with a key: a method that is seldom right may have
    a high grounded accuracy, but not both.
    """

    n: int
    accuracy: Rate
    hit: Rate
    hit_first: Rate
    near_hit: Rate
    evidence_minutes: float | None
    grounded_accuracy: Rate
    grounded: Rate


def summarise(answers: Sequence[ScoredAnswer]) -> Summary:
    """The figures of a group; rates of an empty group are None."""
    minutes = math.fsum(answer.evidence_minutes for answer in answers)
    return Summary(
        n=len(answers),
        accuracy=Rate.of(answer.correct for answer in answers),
        hit=Rate.of(answer.hit for answer in answers),
        hit_first=Rate.of(answer.hit_first for answer in answers),
        near_hit=Rate.of(answer.near_hit for answer in answers),
        evidence_minutes=minutes / len(answers) if answers else None,
        grounded_accuracy=Rate.of(answer.grounded for answer in answers if answer.correct),
        grounded=Rate.of(answer.grounded for answer in answers),
    )


def summarise_by_category(answers: Sequence[ScoredAnswer]) -> dict[str, Summary]:
    """Figures of every category that occurs, the five known ones first."""
    present = {answer.category for answer in answers}
    names = [name for name in CATEGORIES if name in present] + sorted(present - set(CATEGORIES))
    return {name: summarise([answer for answer in answers if answer.category == name]) for name in names}


def summarise_by_time_aware(answers: Sequence[ScoredAnswer]) -> dict[str, Summary]:
    """Figures of time-aware ("yes") and time-unaware ("no") questions; both are always there."""
    return {
        "yes": summarise([answer for answer in answers if answer.time_aware]),
        "no": summarise([answer for answer in answers if not answer.time_aware]),
    }


def bootstrap_interval(successes: int, total: int) -> tuple[float, float]:
    """Percentile bootstrap bounds (percent) of a share, deterministic.

    Resampling n outcomes of 0 and 1 with replacement draws the number of ones from Binomial(n, share), so it is drawn
    from there directly: the same distribution, and independent of the order of the questions.
    """
    generator = np.random.default_rng(BOOTSTRAP_SEED)
    shares = generator.binomial(total, successes / total, BOOTSTRAP_RESAMPLES) / total
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = np.quantile(shares, [tail, 1.0 - tail])
    return 100.0 * float(low), 100.0 * float(high)


def latency_ms(answers: Sequence[ScoredAnswer]) -> dict[str, float | None]:
    """Median and 95th percentile of the time per question, in ms; None where nothing was asked."""
    if not answers:
        return {"p50": None, "p95": None}
    p50, p95 = np.percentile([1000.0 * answer.seconds for answer in answers], [50, 95])
    return {"p50": float(p50), "p95": float(p95)}


def count_statuses(answers: Iterable[ScoredAnswer]) -> dict[str, int]:
    """How many answers have each status (answered, declined, unparsed, error), sorted by name."""
    return dict(sorted(Counter(answer.status for answer in answers).items()))


def count_notes(answers: Iterable[ScoredAnswer]) -> dict[str, int]:
    """How many answers carry each note, for example "weak", sorted by name."""
    return dict(sorted(Counter(note for answer in answers for note in set(answer.notes)).items()))

"""Two runs of the same questions, question by question: what changed, and whether chance would do as much.

Rates are compared by the exact McNemar test: of the questions whose outcome changed, as many should get better as
worse if nothing but chance is at work. Means are compared by a paired bootstrap. Both hold for small numbers of
questions, where a difference of rates says little.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

import numpy as np

from ray_tasks.evaluation.aggregate import BOOTSTRAP_RESAMPLES, BOOTSTRAP_SEED, CONFIDENCE

RATES: Final = ("correct", "hit", "near_hit")
MEANS: Final = ("evidence_minutes",)
SHOWN_AS: Final = {
    "correct": "accuracy",
    "hit": "hit",
    "near_hit": "near hit",
    "evidence_minutes": "evidence minutes",
}

Outcomes = Mapping[str, Mapping[str, Any]]
"""By question id: `correct`, `hit`, `near_hit` (True, False or None) and `evidence_minutes`."""

Verdict = Literal["same", "within noise", "better", "worse", "changed"]


@dataclass(frozen=True, slots=True)
class Change:
    """One figure over the same `n` questions: percent for rates, minutes for evidence_minutes.

    better, worse: questions whose outcome changed (more and less of it, for minutes). p: the McNemar test's, None for
    means. low, high: the interval of the difference, None for rates.
    """

    figure: str
    n: int
    before: float
    now: float
    better: int
    worse: int
    p: float | None
    low: float | None
    high: float | None
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return asdict(self)


def compare_outcomes(before: Outcomes, now: Outcomes) -> list[Change]:
    """All figures over the questions that both runs have; figures that no question has are left out."""
    shared = [question for question in now if question in before]
    changes = []
    for figure in (*RATES, *MEANS):
        pairs = [(before[question].get(figure), now[question].get(figure)) for question in shared]
        known = [(was, is_now) for was, is_now in pairs if was is not None and is_now is not None]
        if known:
            changes.append(_rate(figure, known) if figure in RATES else _mean(figure, known))
    return changes


def _rate(figure: str, pairs: Sequence[tuple[Any, Any]]) -> Change:
    better = sum(bool(now) and not was for was, now in pairs)
    worse = sum(bool(was) and not now for was, now in pairs)
    p = mcnemar(better, worse)
    verdict: Verdict = "same" if better == worse == 0 else "within noise"
    if p < 1 - CONFIDENCE:
        verdict = "better" if better > worse else "worse"
    was, now = (100.0 * sum(bool(pair[side]) for pair in pairs) / len(pairs) for side in (0, 1))
    return Change(SHOWN_AS[figure], len(pairs), was, now, better, worse, p, None, None, verdict)


def mcnemar(better: int, worse: int) -> float:
    """The two-sided exact probability that chance splits the changed questions at least as unevenly."""
    changed = better + worse
    tail = sum(math.comb(changed, part) for part in range(min(better, worse) + 1))
    return min(1.0, float(2 * tail / 2**changed))


def _mean(figure: str, pairs: Sequence[tuple[Any, Any]]) -> Change:
    was = np.array([pair[0] for pair in pairs], np.float64)
    now = np.array([pair[1] for pair in pairs], np.float64)
    differences = now - was
    low, high = paired_bootstrap(differences)
    verdict: Verdict = "same" if not differences.any() else "changed" if low > 0 or high < 0 else "within noise"
    better, worse = int((differences > 0).sum()), int((differences < 0).sum())
    return Change(
        SHOWN_AS[figure], len(pairs), float(was.mean()), float(now.mean()), better, worse, None, low, high, verdict
    )


def paired_bootstrap(differences: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[float, float]:
    """The percentile interval of the mean difference, (n,) -> (low, high); deterministic and of any order."""
    generator = np.random.default_rng(BOOTSTRAP_SEED)
    ordered, n = np.sort(differences), len(differences)
    means = np.array([ordered[generator.integers(0, n, n)].mean() for _ in range(BOOTSTRAP_RESAMPLES // 5)])
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return float(low), float(high)

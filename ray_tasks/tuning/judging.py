"""How good learned weights are on questions that they were not learned from: cross-validation, repeated, by target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ray_tasks.embedding.whole_vectors import Float64
from ray_tasks.evaluation.aggregate import bootstrap_interval
from ray_tasks.tuning.candidates import TIME_FEATURES, Candidates, outcome_of
from ray_tasks.tuning.folds import assign_folds, groups_of
from ray_tasks.tuning.learning import Material

OnFold = Callable[[], None]


@dataclass(frozen=True)
class Judged:
    """Shares (questions with a target,) of the repeats in which each question's best 15 clips hit, or came near.

    by_fold: (hit, near) in percent, and the number of questions, of every fold of every repeat.
    """

    hits: Float64
    nears: Float64
    by_fold: tuple[tuple[float, float, int], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Percent with 95% bootstrap bounds, by fold the percent alone."""
        return {
            "n": len(self.hits),
            "hit": _rate(self.hits),
            "near_hit": _rate(self.nears),
            "folds": [
                {"hit": round(hit, 1), "near_hit": round(near, 1), "n": count} for hit, near, count in self.by_fold
            ],
        }


def judge_table(candidates: Sequence[Candidates], name: str) -> Judged:
    """A fixed table on all questions that have a target."""
    found = np.array([one.found[name] for one in candidates if one.usable], np.float64).reshape(-1, 2)
    return Judged(found[:, 0], found[:, 1])


def cross_validate(
    candidates: Sequence[Candidates],
    material: Material,
    *,
    strength: float,
    folds: int,
    repeats: int,
    on_fold: OnFold = lambda: None,
) -> Judged:
    """Weights are learned from all folds but one and judged on that one; again with other folds for each repeat."""
    groups = groups_of([one.targets for one in candidates])
    usable = np.array([one.usable for one in candidates], np.bool_)
    bounds = np.searchsorted(material.sample.questions, np.arange(len(candidates) + 1))
    outcomes = np.zeros((repeats, len(candidates), 2))
    by_fold: list[tuple[float, float, int]] = []
    for repeat in range(repeats):
        fold_of = assign_folds(groups, folds, repeat)
        for fold in range(folds):
            scores = material.scores(material.fit(np.flatnonzero(fold_of != fold), strength))
            tested = np.flatnonzero((fold_of == fold) & usable)
            for number in map(int, tested):
                low, high = bounds[number], bounds[number + 1]
                outcomes[repeat, number] = outcome_of(scores[low:high], candidates[number].gains)
            if len(tested):
                hit, near = 100 * outcomes[repeat, tested].mean(axis=0)
                by_fold.append((float(hit), float(near), len(tested)))
            on_fold()
    means = outcomes.mean(axis=0)[usable]
    return Judged(means[:, 0], means[:, 1], tuple(by_fold))


def parts_of(material: Material) -> dict[str, list[int]]:
    """The features of each part that an ablation leaves out: every signal, variant and kind of time."""
    parts: dict[str, list[int]] = {}
    for number, (signal, variant, over, reach) in enumerate(material.columns):
        names = [f"signal {signal}", f"variant {variant}", f"{signal} of {variant}"]
        names += ["mean over choices"] if over == "mean" else []
        names += ["neighbours"] if reach else []
        for name in names:
            parts.setdefault(name, []).append(number)
    for number, name in enumerate(TIME_FEATURES, start=len(material.columns)):
        parts[f"time {name}"] = [number]
    whole = len(material.columns)
    return {name: numbers for name, numbers in parts.items() if len(numbers) < whole}


def _rate(shares: Float64) -> dict[str, float | None]:
    if not len(shares):
        return {"percent": None, "low": None, "high": None}
    low, high = bootstrap_interval(round(float(shares.sum())), len(shares))
    return {"percent": round(100 * float(shares.mean()), 1), "low": round(low, 1), "high": round(high, 1)}

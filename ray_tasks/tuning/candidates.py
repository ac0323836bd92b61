"""What weights are learned from: some hundred clips of each question, with their signals and what they are worth.

Most clips of a week are nothing like the question, so all of them are not needed: those that score well, those that
hold the target or are near it, and a random share of the rest, which stands for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ray_tasks.embedding.whole_vectors import Float32
from ray_tasks.evaluation.metrics import NEAR_MS
from ray_tasks.index.search import DEFAULT_DECAY
from ray_tasks.retrieval.fusion import best_clips, content_scores, time_columns, time_scores
from ray_tasks.retrieval.signals import Measured
from ray_tasks.retrieval.types import MAX_EVIDENCE
from ray_tasks.retrieval.weights import UNTRAINED, Column, FusionWeights
from ray_tasks.tuning.folds import Target
from ray_tasks.tuning.loss import NEAR_SHARE

TIME_FEATURES = ("recency", "closeness", "outside_question", "outside_choices")
"""The features behind the columns, all better when higher: -hours/20, -ln(hours + 0.1), and both penalties negative."""
HOURS_UNIT = 20.0
BEST, RANDOM = 150, 100

Outcome = tuple[bool, bool]
"""Whether the best 15 clips held a target, and whether they came near one."""


@dataclass(frozen=True)
class Candidates:
    """One question's clips to learn from: features (rows, f), log_mass and gains as in loss.Sample.

    found: what tables of weights, by name, find among all clips of the question.
    """

    features: Float32
    log_mass: Float32
    gains: Float32
    targets: tuple[Target, ...]
    found: Mapping[str, Outcome]

    @property
    def usable(self) -> bool:
        """Whether there is a target at all; hit rates are over such questions."""
        return bool(self.targets)


def features_of(measured: Measured, columns: Sequence[Column]) -> Float32:
    """(visible, columns + 4) the signals and what time says of every visible clip."""
    hours, closeness, outside_question, outside_choices = time_columns(measured)
    of_time = (-hours / HOURS_UNIT, closeness, -outside_question, -outside_choices)
    stacked = np.stack([*(measured.columns[column] for column in columns), *of_time], axis=1)
    return stacked.astype(np.float32)


def candidates_of(
    measured: Measured,
    spans: Sequence[tuple[int, int]],
    columns: Sequence[Column],
    tables: Mapping[str, FusionWeights],
    generator: np.random.Generator,
) -> Candidates:
    """The candidates of a question whose targets are `spans` of week time; `tables` are judged on all its clips."""
    table, n = measured.table, measured.visible
    holds, near = (_reaching(table.start_ms[:n], table.end_ms[:n], spans, slack) for slack in (0, NEAR_MS))
    features = features_of(measured, columns)
    kept = near.copy()
    kept[best_clips(_scores(measured, UNTRAINED), BEST)] = True
    kept[best_clips(features[:, : len(columns)].sum(axis=1, dtype=np.float64), BEST)] = True
    rest = np.flatnonzero(~kept)
    drawn = generator.choice(rest, min(RANDOM, len(rest)), replace=False)
    log_mass = np.zeros(n, np.float32)
    log_mass[drawn] = np.log(len(rest) / len(drawn)) if len(drawn) else 0.0
    kept[drawn] = True
    return Candidates(
        features=features[kept],
        log_mass=log_mass[kept],
        gains=np.where(holds, 1.0, np.where(near, NEAR_SHARE, 0.0)).astype(np.float32)[kept],
        targets=tuple((measured.question.wearer, start, end) for start, end in spans),
        found={name: _outcome(_scores(measured, weights), holds, near) for name, weights in tables.items()},
    )


def outcome_of(scores: npt.NDArray[np.floating], gains: Float32) -> Outcome:
    """What the best 15 of a question's candidates hold."""
    best = best_clips(np.asarray(scores, np.float64), MAX_EVIDENCE)
    return bool((gains[best] == 1).any()), bool((gains[best] > 0).any())


def _scores(measured: Measured, weights: FusionWeights) -> npt.NDArray[np.float64]:
    return content_scores(measured, weights) + time_scores(measured, weights, DEFAULT_DECAY)


def _outcome(scores: npt.NDArray[np.float64], holds: npt.NDArray[np.bool_], near: npt.NDArray[np.bool_]) -> Outcome:
    best = best_clips(scores, MAX_EVIDENCE)
    return bool(holds[best].any()), bool(near[best].any())


def _reaching(
    starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], spans: Sequence[tuple[int, int]], slack: int
) -> npt.NDArray[np.bool_]:
    """Whether each clip, widened by `slack` ms on both sides, touches a target."""
    touches = np.zeros(len(starts), np.bool_)
    for start, end in spans:
        touches |= (starts - slack <= end) & (ends + slack >= start)
    return touches

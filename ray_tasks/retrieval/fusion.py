"""One score for each clip: the weighted mean of its signals, with time (DESIGN §7, EgoCITE Eq. 1).

EgoCITE multiplies a cosine by R = decay ** hours. Z-scores have no natural zero, so R enters as its logarithm, which
ranks alike where similarities are alike.
"""

from __future__ import annotations

import numpy as np

from ray_tasks.embedding.whole_vectors import Float64, Int64
from ray_tasks.retrieval.signals import Measured
from ray_tasks.retrieval.weights import FusionWeights, Term


def content_scores(measured: Measured, weights: FusionWeights, terms: tuple[Term, ...] | None = None) -> Float64:
    """(visible,) weighted mean of the z-scores of some terms (by default all)."""
    scores = np.zeros(measured.visible)
    chosen = weights.terms if terms is None else terms
    for term in chosen:
        scores += term.weight * measured.columns[term.column]
    return scores / max(sum(abs(term.weight) for term in chosen), 1e-9)


def time_scores(measured: Measured, weights: FusionWeights, decay: float) -> Float64:
    """(visible,) what time adds: recency x ln R, closeness, and the penalties outside the windows named.

    R counts recorded hours from the window the question names, else from those its choices name, else from the moment
    of asking. A question for the first occurrence prefers no end of the week. The vaguer the question's windows, the
    smaller the penalty outside them.
    """
    columns = time_columns(measured)
    shares = (weights.recency * np.log(decay), weights.closeness, -weights.outside_question, -weights.outside_choices)
    scores = np.zeros(measured.visible)
    for share, column in zip(shares, columns, strict=True):
        scores += share * column
    return scores


def time_columns(measured: Measured) -> tuple[Float64, Float64, Float64, Float64]:
    """What time says of each visible clip, (visible,) each.

    These are hours of recorded time to the nearest window (see time_scores), their closeness -ln(hours + 0.1), how
    surely the clip lies outside the question's windows, and whether it lies outside those of its choices.
    """
    table, n = measured.table, measured.visible
    named, offered = measured.named_windows, measured.choice_windows
    hours, outside_question, outside_choices = np.zeros(n), np.zeros(n), np.zeros(n)
    if measured.time.intent != "earliest" or named or offered:
        hours = table.gap_hours(n, named or offered)
    if named:
        outside_question += max(window.confidence for window in measured.time.windows) * ~table.touching(n, named)
    if offered:
        outside_choices += ~table.touching(n, offered)
    return hours, -np.log(hours + 0.1), outside_question, outside_choices


def best_clips(scores: Float64, k: int) -> Int64:
    """The k best clips, best first; ties go to the earlier clip."""
    low = -scores
    if k < len(low):
        candidates = np.flatnonzero(low <= np.partition(low, k - 1)[k - 1])
        return candidates[np.argsort(low[candidates], kind="stable")[:k]]
    return np.argsort(low, kind="stable")

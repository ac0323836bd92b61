"""Folds of cross-validation that never split a target.

Two questions about one moment are one piece of evidence: if one is learned from, the other is no test.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ray_tasks.corpus.week_time import MINUTE_MS
from ray_tasks.embedding.whole_vectors import Int64

Target = tuple[str, int, int]
"""Whose week, and from when to when (week time, ms)."""

SAME_MOMENT_MS = 5 * MINUTE_MS
"""Targets of one wearer that are no further apart are one moment: a near hit on one is a near hit on the other."""


def groups_of(targets: Sequence[Sequence[Target]]) -> Int64:
    """(n,) a group number for each question: questions with a moment in common, also by way of others, share one."""
    parents = list(range(len(targets)))

    def root(number: int) -> int:
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    moments = sorted((*target, number) for number, own in enumerate(targets) for target in own)
    reached: tuple[str, int, int] | None = None
    for wearer, start, end, number in moments:
        if reached is not None and reached[0] == wearer and start - reached[1] <= SAME_MOMENT_MS:
            parents[root(number)] = root(reached[2])
            end = max(end, reached[1])
        reached = (wearer, end, number)
    return np.unique([root(number) for number in range(len(targets))], return_inverse=True)[1].astype(np.int64)


def assign_folds(groups: Int64, folds: int, seed: int) -> Int64:
    """(n,) the fold of each question, 0 to folds - 1, whole groups at random and of about equal size."""
    order = np.random.default_rng(seed).permutation(int(groups.max(initial=-1)) + 1)
    sizes = np.bincount(groups, minlength=len(order))
    filled = np.zeros(folds, np.int64)
    fold_of = np.zeros(len(order), np.int64)
    for group in order:
        fold = int(np.argmin(filled))
        fold_of[group] = fold
        filled[fold] += sizes[group]
    return fold_of[groups]

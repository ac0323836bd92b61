"""Folds that never split a target."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.tuning.folds import SAME_MOMENT_MS, assign_folds, groups_of

TARGETS = st.lists(
    st.lists(
        st.tuples(st.sampled_from(["P1_INES", "P2_TOBI"]), st.integers(0, 40)).map(
            lambda target: (target[0], target[1] * SAME_MOMENT_MS // 2, target[1] * SAME_MOMENT_MS // 2)
        ),
        max_size=3,
    ),
    min_size=1,
    max_size=25,
)


@given(TARGETS, st.integers(2, 6), st.integers(0, 3))
def test_questions_with_a_moment_in_common_are_never_in_different_folds(
    targets: list[list[tuple[str, int, int]]], folds: int, seed: int
) -> None:
    fold_of = assign_folds(groups_of(targets), folds, seed)
    assert fold_of.min() >= 0
    assert fold_of.max() < folds
    for one, first in enumerate(targets):
        for other, second in enumerate(targets):
            if any(a[0] == b[0] and abs(a[1] - b[1]) <= SAME_MOMENT_MS for a in first for b in second):
                assert fold_of[one] == fold_of[other]


def test_moments_far_apart_and_of_different_people_are_apart() -> None:
    far = 3 * SAME_MOMENT_MS
    groups = groups_of([[("P1", 0, 0)], [("P2", 0, 0)], [("P1", far, far)], [], [], [("P1", far, far), ("P2", 9, 9)]])
    assert len(set(groups.tolist())) == 4
    assert groups[1] == groups[2] == groups[5]


def test_a_long_target_reaches_past_a_short_one_inside_it() -> None:
    hour = 12 * SAME_MOMENT_MS
    groups = groups_of([[("P1", 0, hour)], [("P1", 10, 20)], [("P1", hour, hour)]])
    assert len(set(groups.tolist())) == 1


def test_folds_are_of_about_equal_size_and_differ_by_seed() -> None:
    groups = np.arange(50)
    assert np.bincount(assign_folds(groups, 5, 0)).tolist() == [10] * 5
    assert assign_folds(groups, 5, 0).tolist() != assign_folds(groups, 5, 1).tolist()
    assert assign_folds(groups, 5, 0).tolist() == assign_folds(groups, 5, 0).tolist()

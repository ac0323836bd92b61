"""Parts of the day and what lies beside them."""

from __future__ import annotations

import pytest

from ray_tasks.retrieval.spoken_time.day_parts import DAY_END_HOUR, MEALS, PARTS, POINTS, hours_of, related


def test_every_part_lies_within_one_day_as_people_count_it() -> None:
    assert all(0 <= low < high <= DAY_END_HOUR for low, high in PARTS.values())
    assert set(PARTS) >= MEALS
    assert all(PARTS[part][0] <= hour <= PARTS[part][1] for part, hour in POINTS.items())


def test_early_and_late_narrow_a_part_that_knows_them() -> None:
    assert hours_of("afternoon", "late") == PARTS["late afternoon"]
    assert hours_of("lunch", "late") == PARTS["lunch"]


@pytest.mark.parametrize("part", sorted(PARTS))
def test_right_after_lies_behind_just_before(part: str) -> None:
    before, after = (related(part, relation, close=True) for relation in ("before", "after"))
    assert before[0] < before[1]
    assert after[0] < after[1]
    assert before[0] < after[0] and before[1] < after[1]


def test_before_a_part_is_the_day_up_to_it_and_after_it_the_rest() -> None:
    assert related("lunch", "before", close=False) == (0.0, PARTS["lunch"][1])
    assert related("lunch", "after", close=False) == (PARTS["lunch"][0], DAY_END_HOUR)
    assert related("lunch", None, close=False) == PARTS["lunch"]

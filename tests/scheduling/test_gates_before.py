"""A new memory beside the one before it: what is missing, what is too thin or too thick."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ray_tasks.config import GateBounds
from ray_tasks.corpus.week_time import HOUR_MS
from ray_tasks.scheduling.gates_before import MIN_ROWS_OF_A_VIEW, coverage, density
from ray_tasks.storage.manifests import Manifest, WearerEntry

RATIOS = GateBounds().atoms_per_hour


def entry(wearer: str, hours: dict[int, list[int]], **counts: int) -> WearerEntry:
    """A wearer with captions in these hours of these days."""
    shards = {f"{wearer}/DAY{day}/{hour:02d}": "k" for day, of_day in hours.items() for hour in of_day}
    bounds = {day: (min(of_day) * HOUR_MS, (max(of_day) + 1) * HOUR_MS) for day, of_day in hours.items()}
    views = {"caption": 10, **dict.fromkeys(("action", "utterance", "activity", "conversation"), 0), **counts}
    return WearerEntry(wearer, wearer, {"action.faiss": ("key", wearer)}, views, bounds, {"caption": shards})


def memory(*entries: WearerEntry) -> Manifest:
    return Manifest({made.wearer: made for made in entries}, "encoder", "model")


MARA = entry("B1_MARA", {1: [9, 10], 2: [9]}, action=300, utterance=60)
TOBI = entry("B2_TOBI", {1: [9]}, action=100)


def test_without_a_memory_before_nothing_is_compared() -> None:
    for result in (coverage(None, memory(MARA)), density(None, memory(MARA), RATIOS)):
        assert result.passed and result.measured is None


def test_a_memory_that_has_everything_and_more_passes() -> None:
    longer = entry("B1_MARA", {1: [9, 10], 2: [9, 10]}, action=400, utterance=80)
    result = coverage(memory(MARA), memory(longer, TOBI))
    assert (result.passed, result.measured) == (True, 0)
    assert "2 wearers, 5 hours" in result.words


def test_a_wearer_who_is_gone_is_named() -> None:
    result = coverage(memory(MARA, TOBI), memory(MARA))
    assert (result.passed, result.measured) == (False, 1)
    assert "B2_TOBI: all 1 hours" in result.words


def test_hours_that_are_gone_are_named() -> None:
    result = coverage(memory(MARA), memory(entry("B1_MARA", {1: [9]}, action=100)))
    assert not result.passed
    assert "B1_MARA: DAY1/10, DAY2/09" in result.words


def test_only_the_days_that_were_asked_for_are_looked_at() -> None:
    of_day_1 = memory(entry("B1_MARA", {1: [9, 10]}, action=200))
    assert coverage(memory(MARA), of_day_1, ["1"]).passed
    assert not coverage(memory(MARA), of_day_1, ["DAY2"]).passed
    assert not coverage(memory(MARA), of_day_1).passed


@pytest.mark.parametrize(
    ("action", "passed"), [(300, True), (200, True), (540, True), (100, False), (700, False), (0, False)]
)
def test_atoms_per_hour_stay_within_bounds_of_the_memory_before(action: int, passed: bool) -> None:
    result = density(memory(MARA), memory(entry("B1_MARA", {1: [9, 10], 2: [9]}, action=action, utterance=60)), RATIOS)
    assert result.passed is passed
    assert passed or "B1_MARA, action" in result.words


def test_a_view_that_vanishes_is_found_though_the_sum_is_within_bounds() -> None:
    silent = memory(entry("B1_MARA", {1: [9, 10], 2: [9]}, action=300, utterance=0))
    result = density(memory(MARA), silent, RATIOS)
    assert not result.passed and result.measured == 0
    assert "B1_MARA, utterance: 0 atoms an hour, 20 before (0.00 times)" in result.words
    assert "all views" not in result.words


def test_a_view_with_few_rows_is_not_looked_at_by_itself() -> None:
    few = entry("B2_TOBI", {1: [9]}, action=300, activity=MIN_ROWS_OF_A_VIEW - 1)
    assert density(memory(few), memory(replace(few, counts={**few.counts, "activity": 1})), RATIOS).passed


def test_rates_are_per_recorded_hour_so_a_longer_week_is_no_change() -> None:
    twice = entry("B1_MARA", {1: [9, 10], 2: [9], 3: [9, 10, 11]}, action=600, utterance=120)
    result = density(memory(MARA), memory(twice), RATIOS)
    assert result.passed and result.measured == pytest.approx(1.0)


def test_a_pause_between_recordings_does_not_thin_them_out() -> None:
    apart = entry("B1_MARA", {1: [9, 20], 2: [9]}, action=300, utterance=60)
    result = density(memory(MARA), memory(apart), RATIOS)
    assert result.passed and result.measured == pytest.approx(1.0)


def test_bounds_can_be_widened() -> None:
    thin = memory(entry("B1_MARA", {1: [9, 10], 2: [9]}, action=60, utterance=12))
    assert not density(memory(MARA), thin, RATIOS).passed
    assert density(memory(MARA), thin, (0.1, 10.0)).passed

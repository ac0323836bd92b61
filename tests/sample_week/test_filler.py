"""Filler: it keeps clear of scenes and of what the story turns on."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sample_week.dice import Dice
from sample_week.filler import SCENE_MARGIN_MS, SHORTEST_MS, fill_day, free_spans, load_filler
from sample_week.generate import week_rows
from sample_week.staging import stage_day
from sample_week.story import Row, Span, Week, load_week, read_yaml

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS


@pytest.fixture(scope="module")
def week() -> Week:
    return load_week()


@pytest.fixture(scope="module")
def rows(week: Week) -> list[Row]:
    return week_rows(week)


def test_filler_says_nothing_of_what_the_story_turns_on(week: Week) -> None:
    raw = read_yaml("filler.yaml")
    text = str([*raw["words"].values(), *raw["chores"].values(), raw["sights"], *raw["talks"].values(), raw["mutters"]])
    found = [word for word in week.reserved if re.search(rf"\b{word}(e?s|ing)?\b", text, re.IGNORECASE)]
    assert not found


def test_echoes_never_name_the_things_that_are_looked_for(week: Week) -> None:
    text = str(read_yaml("filler.yaml")["echoes"]).lower()
    sought = ["brass key", "reading glasses", "red shears", "hedgehog", "twine", "trestle", "fern", "blue tin", "stool"]
    assert not [thing for thing in sought if thing in text]


def test_every_place_of_the_script_has_chores_and_echoes(week: Week) -> None:
    filler = load_filler()
    places = {stretch.place for day in week.days for stretch in day.stretches}
    assert places <= set(filler.chores)
    assert places <= set(filler.seen_echoes)


def test_every_slot_is_filled_and_every_row_has_a_text(rows: list[Row]) -> None:
    for row in rows:
        assert row.words.english or row.words.chinese
        assert not re.search(r"[{}|]", row.words.english + row.words.chinese)
        assert row.start_ms < row.end_ms


def test_a_camera_shows_one_thing_at_a_time(rows: list[Row]) -> None:
    for before, after in pairwise(rows):
        if before.visual and after.visual and (before.wearer, before.day) == (after.wearer, after.day):
            assert before.end_ms < after.start_ms


def test_rows_lie_inside_what_was_recorded(week: Week, rows: list[Row]) -> None:
    names = {wearer: name for name, wearer in week.wearers.items()}
    days = {day.number: day for day in week.days}
    assert all(days[row.day].records(names[row.wearer], row.start_ms, row.end_ms) for row in rows)


def test_nobody_hears_a_person_who_is_elsewhere(week: Week) -> None:
    filler = load_filler()
    for day in week.days:
        names = {wearer: name for name, wearer in week.wearers.items()}
        for row in fill_day(week, day, stage_day(week, day).busy, filler):
            here = [
                stretch
                for stretch in day.stretches
                if names[row.wearer] in stretch.people and stretch.span.start_ms <= row.start_ms < stretch.span.end_ms
            ]
            assert len(here) == 1
            assert not row.speaker or row.speaker in here[0].people


def test_the_week_has_stretches_without_rows_and_chores_that_come_again(rows: list[Row]) -> None:
    texts = Counter(row.words.english for row in rows if row.visual)
    assert max(texts.values()) >= 10
    mara = [row for row in rows if (row.wearer, row.day) == ("B1_MARA", 1) and row.start_ms < 12 * HOUR_MS]
    gaps = [after.start_ms - before.end_ms for before, after in pairwise(mara)]
    assert sum(gap > 2 * MINUTE_MS for gap in gaps) >= 5


spans = st.tuples(st.integers(0, 3 * HOUR_MS), st.integers(1, HOUR_MS)).map(lambda pair: Span(pair[0], sum(pair)))


@given(whole=spans, taken=st.lists(spans, max_size=5))
def test_free_time_never_touches_a_scene_nor_the_end_of_an_hour(whole: Span, taken: list[Span]) -> None:
    free = list(free_spans(whole, taken))
    for span in free:
        assert whole.start_ms <= span.start_ms < span.end_ms <= whole.end_ms
        assert span.end_ms - span.start_ms >= SHORTEST_MS
        assert not any(span.meets(Span(scene.start_ms - SCENE_MARGIN_MS, scene.end_ms)) for scene in taken)
        assert span.start_ms // HOUR_MS == (span.end_ms - 1) // HOUR_MS
    assert not any(a.meets(b) for i, a in enumerate(free) for b in free[i + 1 :])


@given(seed=st.integers(), low=st.integers(-100, 100), width=st.integers(0, 50))
def test_dice_stay_in_their_bounds_and_repeat_themselves(seed: int, low: int, width: int) -> None:
    draws = [Dice("test", seed).between(low, low + width) for _ in range(2)]
    assert draws[0] == draws[1]
    assert low <= draws[0] <= low + width


def test_dice_fall_as_they_always_did() -> None:
    dice = Dice("filler", 1)
    assert [dice.between(1, 6) for _ in range(8)] == [5, 5, 3, 6, 4, 3, 4, 5]

"""ApplyTemporal: first and last times, windows, parts of the day, before and after another event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from ray_tasks.corpus.week_time import HOUR_MS, parse_week_time
from ray_tasks.retrieval.imprint.day_parts import PARTS, day_parts_in, is_in_part, temporal_label
from ray_tasks.retrieval.imprint.decompose import Cues, Placing
from ray_tasks.retrieval.imprint.ranking import Found
from ray_tasks.retrieval.imprint.settings import ImprintSettings
from ray_tasks.retrieval.imprint.temporal import apply_temporal
from tests.retrieval.small_memory import CLIP_MS, clock, make_interactions, record

TIMES = [clock(1, 9, 0), clock(1, 19, 0), clock(2, 9, 0), clock(2, 13, 0), clock(3, 20, 30), clock(3, 21, 0)]
STARTS = [parse_week_time(text) for text in TIMES]
MEMORY = make_interactions(record(start, "Mara", "water", "fern") for start in STARTS)
ANY = Cues("fern", "water", "what", "what")
FOUND = [Found(0, 0.9, np.array([1, 2])), Found(1, 0.8, np.array([0, 4])), Found(2, 0.7, np.array([3, 5]))]


def applied(
    cues: Cues, anchor: tuple[int, int] | None = None, fits: Sequence[float] = (1.0,) * 6, **told: object
) -> dict[int, list[int]]:
    """Entries with their members after the constraint, in order."""
    settings = ImprintSettings(**told)  # type: ignore[arg-type]
    find: Callable[[], tuple[int, int] | None] = lambda: anchor  # noqa: E731
    left = apply_temporal(FOUND, np.array(fits), cues, MEMORY, settings, find)
    return {one.entry: one.members.tolist() for one in left}


def test_the_last_and_the_first_time_keep_one_entry() -> None:
    assert applied(replace(ANY, occasion="last")) == {2: [3, 5]}
    assert applied(replace(ANY, occasion="first")) == {1: [0, 4]}


def test_only_what_matches_nearly_as_well_as_the_best_can_be_the_last_time() -> None:
    fits = (0.5, 0.9, 1.0, 0.5, 0.85, 0.2)
    assert applied(replace(ANY, occasion="last"), fits=fits) == {1: [4]}
    assert applied(replace(ANY, occasion="first"), fits=fits) == {0: [1, 2]}
    assert applied(replace(ANY, occasion="last"), fits=fits, matching=0.0) == {2: [3, 5]}


def test_all_entries_may_be_kept_in_the_order_of_the_occasion() -> None:
    assert list(applied(replace(ANY, occasion="last"), occasion="order")) == [2, 1, 0]
    assert list(applied(replace(ANY, occasion="first"), occasion="order")) == [1, 0, 2]


def test_a_window_leaves_members_out_and_entries_with_their_last_one() -> None:
    day_two = (parse_week_time(clock(2, 0, 0)), parse_week_time(clock(2, 23, 0)))
    assert applied(replace(ANY, windows=(day_two,))) == {0: [2], 2: [3]}
    assert applied(replace(ANY, windows=((0, 1),))) == {}


def test_a_part_of_the_day_is_one_of_any_day() -> None:
    assert applied(replace(ANY, day_parts=(PARTS["evening"],))) == {0: [1], 1: [4], 2: [5]}
    assert applied(replace(ANY, day_parts=(PARTS["morning"],), occasion="last")) == {0: [2]}


def test_before_and_after_count_from_the_ends_of_the_anchor() -> None:
    anchor = (STARTS[2], STARTS[2] + CLIP_MS)
    before, after = Placing("before", "kite", "fly"), Placing("after", "kite", "fly")
    assert applied(replace(ANY, placing=before), anchor) == {0: [1], 1: [0]}
    assert applied(replace(ANY, placing=after), anchor) == {1: [4], 2: [3, 5]}
    assert applied(replace(ANY, placing=after, occasion="first"), anchor) == {2: [3, 5]}
    assert len(applied(replace(ANY, placing=after), None)) == 3, "an anchor that is not found excludes nothing"


@pytest.mark.parametrize(
    ("part", "hour", "inside"),
    [
        ("morning", 4.9, False),
        ("morning", 5.0, True),
        ("noon", 13.9, True),
        ("evening", 22.0, False),
        ("night", 23.0, True),
        ("night", 3.0, True),
        ("night", 6.0, False),
    ],
)
def test_parts_have_their_hours(part: str, hour: float, inside: bool) -> None:
    assert is_in_part(round((24 + hour) * HOUR_MS), day_parts_in(part)[0]) is inside


@pytest.mark.parametrize(
    ("at", "asked", "label"),
    [
        (clock(2, 11, 59), clock(2, 12, 0), "1 minute ago"),
        (clock(2, 11, 20), clock(2, 12, 0), "40 minutes ago"),
        (clock(2, 9, 0), clock(2, 12, 0), "this morning"),
        (clock(1, 18, 30), clock(2, 12, 0), "yesterday evening"),
        (clock(1, 23, 0), clock(2, 12, 0), "last night"),
        (clock(2, 1, 0), clock(2, 12, 0), "last night"),
        (clock(1, 14, 0), clock(4, 12, 0), "3 days ago, in the afternoon"),
        (clock(2, 22, 30), clock(3, 1, 0), "tonight"),
    ],
)
def test_moments_are_called_as_people_call_them(at: str, asked: str, label: str) -> None:
    assert temporal_label(parse_week_time(at), parse_week_time(asked)) == label

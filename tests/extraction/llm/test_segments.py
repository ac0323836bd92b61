"""Blocks of a window: faults that are named, and repairs that keep every rule whatever the model says."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from ray_tasks.extraction.llm.schemas import Group
from ray_tasks.extraction.llm.segments import Block, faults_of, has_talk, nominal_ms, repaired
from ray_tasks.extraction.types import LONGEST_MS, SHORTEST_MS, window_end
from ray_tasks.rows import Caption, View
from tests.extraction.script import record


def window(
    count: int = 60, *, silent: frozenset[int] = frozenset(), missing: frozenset[int] = frozenset()
) -> list[Caption]:
    """Captions of half a minute each from 11:00 on; talk in all of them but the silent ones."""
    lines = []
    for number in range(count):
        minute, second = divmod(number * 30, 60)
        if number in missing:
            continue
        lines.append(f"11:{minute:02d}:{second + 1:02d} * I lift jug {number}.")
        if number not in silent:
            lines.append(f"11:{minute:02d}:{second + 5:02d} Tobi: Here is jug {number}.")
    return record("\n".join(lines))


def groups(*blocks: tuple[int, int]) -> list[Group]:
    return [Group(first=first, last=last) for first, last in blocks]


def rules(view: View, made: list[Group], captions: list[Caption]) -> list[str]:
    return [fault.split(":")[0] for fault in faults_of(view, made, captions)]


def test_blocks_that_keep_the_rules_have_no_faults_and_stay() -> None:
    captions = window(12)
    for view in ("activity", "conversation"):
        notes: Counter[str] = Counter()
        assert faults_of(view, groups((0, 5), (6, 11)), captions) == []
        assert repaired(view, groups((0, 5), (6, 11)), captions, notes) == [(0, 5), (6, 11)]
        assert +notes == Counter()


def test_each_fault_is_named() -> None:
    captions = window(30, silent=frozenset(range(20, 24)))
    assert rules("activity", groups((0, 5), (4, 29)), captions) == ["overlap", "too_long"]
    assert rules("activity", groups((0, 14), (15, 15), (17, 29)), captions) == ["too_short", "left_out"]
    assert rules("activity", groups((0, 14), (15, 40)), captions) == ["out_of_range", "left_out"]
    assert rules("activity", groups((5, 2)), captions) == ["out_of_range", "left_out"]
    assert rules("conversation", groups((0, 2), (20, 22)), captions) == ["no_talk"]
    assert rules("conversation", [], captions) == []
    assert "captions 16 are in no group" in faults_of("activity", groups((0, 15), (17, 29)), captions)[0]


def test_activities_are_repaired_without_losing_a_caption() -> None:
    captions = window(60)
    notes: Counter[str] = Counter()
    assert repaired("activity", groups((0, 9), (8, 30), (40, 99)), captions, notes) == [
        (0, 9),
        (10, 24),
        (25, 39),
        (40, 59),
    ]
    assert notes["repaired_overlap"] == notes["repaired_too_long"] == notes["repaired_out_of_range"] == 1
    assert notes["repaired_left_out"] == 9


def test_an_empty_answer_gives_even_activities_and_no_conversation() -> None:
    captions = window(60)
    assert repaired("activity", [], captions, Counter()) == [(0, 19), (20, 39), (40, 59)]
    assert repaired("conversation", [], captions, Counter()) == []


def test_a_recording_gap_parts_a_block_and_a_lone_caption_may_be_short() -> None:
    captions = window(20, missing=frozenset({10, 11, 12, 14, 15, 16}))
    notes: Counter[str] = Counter()
    assert repaired("activity", groups((0, 13)), captions, notes) == [(0, 9), (10, 10), (11, 13)]
    assert notes["repaired_recording_gap"] == 2
    assert faults_of("activity", groups((0, 9), (10, 10), (11, 13)), captions) == []


def test_a_short_activity_goes_to_its_neighbour_if_there_is_room() -> None:
    captions = window(24)
    assert repaired("activity", groups((0, 3), (4, 4), (5, 23)), captions, Counter()) == [(0, 4), (5, 23)]
    assert repaired("activity", groups((0, 0), (1, 10), (11, 23)), captions, Counter()) == [(0, 10), (11, 23)]
    assert repaired("activity", groups((0, 19), (20, 20), (21, 23)), captions, Counter()) == [(0, 19), (20, 23)]


def test_silence_ends_a_conversation() -> None:
    captions = window(20, silent=frozenset({0, 5, 8, 9}))
    assert repaired("conversation", groups((0, 12)), captions, Counter()) == [(1, 7), (10, 12)]


def test_a_line_that_runs_on_shortens_its_block() -> None:
    captions = record(
        "\n".join(f"11:{n // 2:02d}:{n % 2 * 30 + 29:02d}-11:{n // 2 + 1:02d}:05 * Jug {n}." for n in range(1, 21))
    )
    for first, last in repaired("activity", groups((0, 19)), captions, Counter()):
        assert max(one.end_ms for one in captions[first : last + 1]) - captions[first].start_ms <= LONGEST_MS


def test_a_line_of_a_quarter_of_an_hour_stands_alone() -> None:
    lines = [f"11:{n // 2:02d}:{n % 2 * 30 + 1:02d} Tobi: Jug {n}." for n in range(6)]
    captions = record("\n".join([*lines, "11:01:05-11:16:00 Ines: A long story about a jug."]))
    assert repaired("activity", groups((0, 5)), captions, Counter()) == [(0, 1), (2, 2), (3, 5)]
    assert repaired("conversation", groups((0, 5)), captions, Counter()) == [(0, 1), (2, 2), (3, 5)]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70)), max_size=12),
    st.frozensets(st.integers(0, 59), max_size=30),
    st.frozensets(st.integers(1, 59), max_size=20),
    st.sampled_from(["activity", "conversation"]),
)
def test_repaired_blocks_keep_every_rule(
    made: list[tuple[int, int]], silent: frozenset[int], missing: frozenset[int], view: View
) -> None:
    captions = window(60, silent=silent, missing=missing)
    blocks = repaired(view, groups(*made), captions, Counter())
    covered = [i for first, last in blocks for i in range(first, last + 1)]
    assert covered == sorted(set(covered))
    if view == "activity":
        assert covered == list(range(len(captions)))
    for block in blocks:
        assert nominal_ms(block, captions) <= LONGEST_MS
        if view == "conversation":
            assert has_talk(captions[block[0]])
            assert has_talk(captions[block[1]])
        elif nominal_ms(block, captions) < SHORTEST_MS:
            assert _has_no_room(block, blocks, captions)


def _has_no_room(block: Block, blocks: list[Block], captions: list[Caption]) -> bool:
    """Whether each neighbour of a short block lies beyond a gap or would last longer than ten minutes with it."""
    place = blocks.index(block)
    for first, second in zip(blocks[max(0, place - 1) : place + 1], blocks[max(1, place) : place + 2], strict=False):
        touching = captions[second[0]].start_ms - window_end(captions[first[1]]) <= 60_000
        if first != second and touching and nominal_ms((first[0], second[1]), captions) <= LONGEST_MS:
            return False
    return True

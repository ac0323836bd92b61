"""Clips, their rows and their neighbours."""

from __future__ import annotations

import gc
from dataclasses import replace

import numpy as np

from ray_tasks.corpus.week_time import HOUR_MS, MINUTE_MS, parse_week_time
from ray_tasks.embedding.whole_vectors import NO_ROW, as_cosines, cosines, whole_vectors
from ray_tasks.retrieval import clip_table
from ray_tasks.retrieval.clip_table import ClipTable
from tests.retrieval.small_memory import Clip, a_week, clock, embed, make_memory


def test_a_table_is_made_once_for_a_memory_and_goes_with_it() -> None:
    memory = make_memory(a_week()[:4])
    key = id(memory)
    assert ClipTable.of(memory) is ClipTable.of(memory)
    assert key in clip_table._TABLES
    del memory
    gc.collect()
    assert key not in clip_table._TABLES


def test_neighbours_cross_neither_a_gap_nor_the_question() -> None:
    times = [
        clock(1, 10, 0),
        clock(1, 10, 0, 30),
        clock(1, 10, 1),
        clock(1, 10, 20),
        clock(1, 10, 20, 30),
        clock(1, 10, 21),
    ]
    table = ClipTable.of(make_memory(Clip(time, ("I wait",)) for time in times))
    low, high = table.neighbours(6, len(table))
    assert low.tolist() == [0, 0, 0, 3, 3, 3]
    assert high.tolist() == [3, 3, 3, 6, 6, 6]
    low, high = table.neighbours(1, 5)
    assert low.tolist() == [0, 0, 1, 3, 3]
    assert high.tolist() == [2, 3, 3, 5, 5]


def test_a_gap_of_two_minutes_still_is_one_recording() -> None:
    times = [clock(1, 10, 0), clock(1, 10, 2, 30), clock(1, 10, 5, 30)]
    table = ClipTable.of(make_memory(Clip(time, ("I wait",)) for time in times))
    assert table.segments.tolist() == [0, 0, 1]


def test_gap_hours_count_recorded_hours_to_the_nearest_window_and_leave_the_night_out() -> None:
    clips = [Clip(clock(day, hour, 0), ("I wait",)) for day in (1, 2) for hour in (10, 11, 12)]
    table = ClipTable.of(make_memory(clips))
    windows = [(parse_week_time("DAY1 11000000"), parse_week_time("DAY1 11000000") + 30_000)]
    half = 30_000 / HOUR_MS
    assert np.allclose(table.gap_hours(6, windows)[:3], [1, 0, 1 - half])
    assert np.allclose(table.gap_hours(6, [])[-1], half)
    assert np.allclose(table.gap_hours(4, []), [2 + 2 * half, 1 + 2 * half, 2 * half, half])
    assert table.gap_hours(0, []).shape == (0,)


def test_best_row_of_each_clip_is_the_largest_of_its_cosines() -> None:
    clips = [
        Clip(clock(1, 10, minute), (f"I see {word}", f"I hold {word}"), ()) for minute, word in enumerate("abcdefgh")
    ]
    clips.append(Clip(clock(1, 10, 30), (), ("Mara: I hold h",)))
    table = ClipTable.of(make_memory(clips))
    queries = whole_vectors(embed(["I hold c", "see h", "nothing at all"]))
    best = np.full((len(table), 3), NO_ROW, np.float32)
    for block in table.blocks:
        block.best_in_clips(queries, best)
    for clip in range(len(table)):
        rows = np.concatenate([block.vectors[block.positions(clip)] for block in table.blocks])
        assert np.array_equal(as_cosines(best[clip]), cosines(rows, queries).max(axis=0))


def test_a_row_that_outlasts_its_clip_belongs_to_the_clip_by_which_it_has_ended() -> None:
    memory = make_memory(Clip(clock(1, 10, minute), (f"I count {minute}",)) for minute in range(4))
    action = memory.views["action"]
    ends = action.end_ms.copy()
    ends[3] += 10 * MINUTE_MS
    ends[1], late = ends[2], action.end_ms[1]
    table = ClipTable.of(replace(memory, views={**memory.views, "action": replace(action, end_ms=ends)}))
    (block, _) = table.blocks
    assert block.counts.tolist() == [1, 0, 2, 0]  # the last row outlasts every clip
    assert [[int(block.row_numbers[at]) for at in block.positions(clip)] for clip in range(4)] == [[0], [], [1, 2], []]
    assert table.visible(int(late)) == 2


def test_an_empty_memory_has_an_empty_table() -> None:
    table = ClipTable.of(make_memory([]))
    assert len(table) == 0
    assert table.visible(parse_week_time("DAY9 00000000")) == 0
    assert table.touching(0, [(0, 10)]).shape == (0,)

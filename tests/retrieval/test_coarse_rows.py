"""Activities and conversations over clips."""

from __future__ import annotations

import numpy as np

from ray_tasks.corpus.week_time import MINUTE_MS, parse_week_time
from ray_tasks.embedding.whole_vectors import cosines, whole_vectors
from ray_tasks.retrieval.clip_table import ClipTable
from ray_tasks.retrieval.coarse_rows import coarse_cosines
from tests.retrieval.small_memory import Clip, Coarse, clock, embed, make_memory

TEN = parse_week_time("DAY1 10000000")


def table() -> ClipTable:
    clips = [Clip(clock(1, 10, minute), ("I wait",)) for minute in range(8)]
    coarse = [
        Coarse("activity", TEN + MINUTE_MS, TEN + 3 * MINUTE_MS + 30_000, "I bake bread"),
        Coarse("conversation", TEN + 3 * MINUTE_MS, TEN + 6 * MINUTE_MS + 30_000, "We talk about bread"),
    ]
    return ClipTable.of(make_memory(clips, coarse))


def test_a_coarse_row_counts_for_the_clips_it_covers_once_it_has_ended() -> None:
    clips = table()
    queries = whole_vectors(embed(["I bake bread"]))
    at = TEN + 5 * MINUTE_MS
    (values,) = coarse_cosines(clips.coarse, queries, at, clips.visible(at))
    assert np.isnan(values[[0, 4]]).all()
    assert (values[1:4] > 0.99).all()


def test_an_unfinished_coarse_row_is_not_seen_although_its_first_clips_are() -> None:
    clips = table()
    queries = whole_vectors(embed(["We talk about bread"]))
    early = TEN + 6 * MINUTE_MS
    (values,) = coarse_cosines(clips.coarse, queries, early, clips.visible(early))
    assert np.nanmax(values) < 0.9
    late = TEN + 7 * MINUTE_MS
    (values,) = coarse_cosines(clips.coarse, queries, late, clips.visible(late))
    assert (values[3:7] > 0.99).all()


def test_without_coarse_rows_every_clip_is_unknown() -> None:
    clips = ClipTable.of(make_memory([Clip(clock(1, 10, 0), ("I wait",))]))
    assert np.isnan(coarse_cosines(clips.coarse, whole_vectors(embed(["bread"])), TEN + MINUTE_MS, 1)).all()


def test_of_rows_that_overlap_the_best_counts_as_soon_as_it_has_ended() -> None:
    clips = [Clip(clock(1, 10, minute), ("I wait",)) for minute in range(8)]
    coarse = [
        Coarse("activity", TEN + minute * MINUTE_MS, TEN + (minute + 3) * MINUTE_MS + 30_000, f"I bake {what}")
        for minute, what in enumerate(("bread", "cake", "pies", "rolls"))
    ]
    table = ClipTable.of(make_memory(clips, coarse))
    queries = whole_vectors(embed(["I bake bread", "cake", "rolls"]))
    for until in range(8):
        at = TEN + until * MINUTE_MS + 30_000
        found = coarse_cosines(table.coarse, queries, at, table.visible(at))
        assert found.shape == (3, until + 1)
        for clip in range(until + 1):
            over = [row for row in coarse if row.end_ms <= at and row.start_ms <= TEN + clip * MINUTE_MS <= row.end_ms]
            rows = whole_vectors(embed([row.text for row in over]))
            expected = cosines(queries, rows).max(axis=1) if over else np.full(3, np.nan)
            assert np.array_equal(found[:, clip], expected, equal_nan=True)

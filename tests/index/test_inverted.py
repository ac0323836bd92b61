"""Search by inverted lists: exact scores, an exact cut in time, and a recall that is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest

from ray_tasks.corpus.week_time import HOUR_MS
from ray_tasks.index.inverted import FilledPart, fill_template, lists_for, merge_filled, train_template
from ray_tasks.index.memory import MemoryMismatchError, ViewIndex
from ray_tasks.index.recall import sampled_recall
from tests.index.views import moments, topics, view_of

ROWS = 4_000


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> ViewIndex:
    return view_of(topics(1, ROWS), moments(1, ROWS), tmp_path_factory.mktemp("lists") / "action.ivf")


def test_training_twice_gives_the_same_template() -> None:
    sample = topics(2, 500)
    assert train_template(sample, 8) == train_template(sample, 8)


def test_a_sample_too_small_for_its_lists_is_refused() -> None:
    with pytest.raises(MemoryMismatchError, match="3 rows are too few to train 8 lists"):
        train_template(topics(2, 3), 8)


def test_lists_grow_with_the_root_of_the_rows() -> None:
    assert [lists_for(1 << power) for power in (4, 20, 22, 24)] == [2, 256, 512, 1024]


def test_interleaved_parts_merge_to_lists_of_all_rows_in_order_of_time(tmp_path: Path) -> None:
    vectors = topics(3, 600)
    template = train_template(vectors[:400], 8)
    homes = np.random.default_rng(4).integers(0, 3, 600)
    sources = np.empty(600, np.int64)
    parts, first = [], 0
    for home in range(3):
        rows = np.flatnonzero(homes == home)
        parts.append(FilledPart(first, fill_template(template, vectors[rows])))
        sources[rows] = np.arange(first, first + len(rows))
        first += len(rows)
    merge_filled(template, parts, sources, tmp_path / "merged.ivf")
    merged: Any = faiss.read_index(str(tmp_path / "merged.ivf"))
    ids = [
        faiss.rev_swig_ptr(merged.invlists.get_ids(number), merged.invlists.list_size(number)).tolist()
        for number in range(merged.nlist)
    ]
    assert all(numbers == sorted(numbers) for numbers in ids)
    assert sorted(row for numbers in ids for row in numbers) == list(range(600))
    merged.make_direct_map()
    assert np.abs(merged.reconstruct_n(0, 600) - vectors).max() < 0.01


def test_a_part_that_is_missing_is_noticed(tmp_path: Path) -> None:
    vectors = topics(3, 100)
    template = train_template(vectors, 4)
    with pytest.raises(MemoryMismatchError, match=r"merged\.ivf: parts hold 60 rows of 100"):
        parts = [FilledPart(0, fill_template(template, vectors[:60]))]
        merge_filled(template, parts, np.arange(100), tmp_path / "merged.ivf")


@pytest.mark.parametrize("window_hours", [None, 0.0, 6.0])
def test_what_is_found_has_the_exact_scores_and_nearly_all_is_found(
    view: ViewIndex, window_hours: float | None
) -> None:
    assert view.inverted and view.inverted.least_rows <= ROWS
    found = wanted = 0
    for number in range(20):
        row = number * 197
        at = int(view.end_ms[max(row, 3_000 + number)])
        window = None
        if window_hours is not None:
            middle = int(view.start_ms[row])
            window = (middle, middle + int(window_hours * HOUR_MS))
        exact = {
            hit.row: hit for hit in view.search(view.vectors[row], at_ms=at, k=ROWS, time_query=window, exact=True)
        }
        hits = view.search(view.vectors[row], at_ms=at, k=15, time_query=window)
        assert len(hits) == 15
        assert all(hit == exact[hit.row] for hit in hits)
        best = list(exact.values())[:15]
        wanted += 15
        found += sum(hit.score >= best[-1].score for hit in hits)
    assert found / wanted >= 0.97


def test_ties_break_as_in_the_exact_search(tmp_path: Path) -> None:
    vectors = np.repeat(topics(5, 400), 5, axis=0)
    view = view_of(vectors, moments(5, 2_000), tmp_path / "action.ivf", lists=4, sample=500)
    for row in range(0, 2_000, 250):
        for window in (None, (int(view.start_ms[row]), int(view.start_ms[row]))):
            at = int(view.end_ms[-1])
            fast = view.search(vectors[row], at_ms=at, k=5, time_query=window)
            assert fast == view.search(vectors[row], at_ms=at, k=5, time_query=window, exact=True)


def test_a_planted_future_row_never_comes_out_and_changes_no_score(tmp_path: Path) -> None:
    vectors, times = topics(6, 3_000), moments(6, 3_000)
    at = int(times[2_000]) + 30_000
    seen = int(np.searchsorted(times + 30_000, at, side="right"))
    query = topics(7, 1)[0]
    planted = vectors.copy()
    planted[seen:] = query  # every later row is the query itself
    honest = view_of(vectors, times, tmp_path / "honest.ivf", lists=8)
    spoilt = view_of(planted, times, tmp_path / "spoilt.ivf", lists=8)
    for window in (None, (at, at + 9 * HOUR_MS), (int(times[50]), int(times[50]))):
        hits = spoilt.search(query, at_ms=at, k=15, time_query=window)
        assert all(hit.row < seen and spoilt.end_ms[hit.row] <= at for hit in hits)
        # The templates are trained on the same first rows, so even what is found is the same.
        assert hits == honest.search(query, at_ms=at, k=15, time_query=window)


def test_lists_trained_on_the_future_still_show_nothing_of_it(tmp_path: Path) -> None:
    vectors, times = topics(8, 3_000), moments(8, 3_000)
    seen = 2_000
    vectors[seen:] = topics(9, 1)
    view = view_of(vectors, times, tmp_path / "action.ivf", lists=8, sample=3_000)
    at = int(view.end_ms[seen - 1])
    exact = {hit.row: hit for hit in view.search(vectors[-1], at_ms=at, k=seen, exact=True)}
    hits = view.search(vectors[-1], at_ms=at, k=15)
    assert len(hits) == 15
    assert all(hit == exact[hit.row] for hit in hits)


def test_a_short_past_is_scanned_exactly(view: ViewIndex) -> None:
    assert view.inverted
    few = view.inverted.least_rows // 2
    at = int(view.end_ms[few])
    hits = view.search(view.vectors[3], at_ms=at, k=15)
    assert hits == view.search(view.vectors[3], at_ms=at, k=15, exact=True)


def test_recall_falls_where_too_few_lists_are_probed(tmp_path: Path) -> None:
    scattered = np.random.default_rng(10).standard_normal((2_000, 32)).astype(np.float32)
    scattered /= np.linalg.norm(scattered, axis=1, keepdims=True)
    view = view_of(scattered, moments(10, 2_000), tmp_path / "action.ivf", lists=8)
    assert view.inverted
    assert sampled_recall(view, samples=20) >= 0.97
    view.inverted._index.nprobe = 1
    assert sampled_recall(view, samples=20) < 0.9

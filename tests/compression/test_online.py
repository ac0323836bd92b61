"""The online compressor against the literal loop, its switches, and going on from where it stopped."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ray_tasks.compression.online import DISCARDED, Compressed, Compressor, OrderError
from ray_tasks.compression.prototypes import Kind
from ray_tasks.compression.settings import CompressionSettings
from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS, MINUTE_MS
from tests.compression.reference import compress

SMALL = CompressionSettings(most_prototypes=6, history=3)


def stream(seed: int, n: int, kinds: int = 5, spread: float = 0.3) -> tuple[np.ndarray, list[int]]:
    """Records of a few recurring kinds: unit vectors (n, 12), and starts over three days."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(kinds, 12))
    vectors = centres[rng.integers(kinds, size=n)] + spread * rng.normal(size=(n, 12))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return vectors, sorted(int(start) for start in rng.integers(8 * HOUR_MS, 3 * DAY_MS, size=n))


def run(vectors: np.ndarray, starts: list[int], settings: CompressionSettings) -> Compressed:
    return Compressor(vectors.shape[1], settings).feed(vectors, starts, starts)


def rows(result: Compressed) -> list[tuple[int, int, float, int]]:
    columns = (result.prototypes, result.kinds, result.importance, result.entries)
    return list(zip(*(column.tolist() for column in columns), strict=True))


SWITCHES = st.builds(
    CompressionSettings,
    history=st.integers(0, 6),
    history_weight=st.sampled_from([0.0, 0.5, 1.0]),
    history_threshold=st.sampled_from([-1.0, 0.3, 0.7]),
    prototype_threshold=st.sampled_from([0.3, 0.75, 0.95]),
    most_prototypes=st.integers(1, 8),
    elapsed_unit=st.sampled_from(["minutes", "hours", "days"]),
    least_importance=st.sampled_from([0.0, 0.2, 0.4]),
    merge_threshold=st.sampled_from([0.3, 0.75, 0.95]),
    prototypes=st.booleans(),
    importance=st.booleans(),
    consolidation=st.booleans(),
    frequency=st.booleans(),
    recency=st.booleans(),
    distinctiveness=st.booleans(),
)


@given(st.integers(0, 10_000), st.integers(0, 40), SWITCHES)
def test_it_does_what_the_literal_loop_does(seed: int, n: int, settings: CompressionSettings) -> None:
    vectors, starts = stream(seed, n)
    expected = compress(vectors, starts, settings)
    found = rows(run(vectors, starts, settings))
    assert [row[:2] + row[3:] for row in found] == [row[:2] + row[3:] for row in expected]
    assert [row[2] for row in found] == pytest.approx([row[2] for row in expected])


@given(st.integers(0, 10_000), st.lists(st.integers(0, 60), max_size=6), SWITCHES)
def test_stopping_and_going_on_changes_no_bit(seed: int, cuts: list[int], settings: CompressionSettings) -> None:
    vectors, starts = stream(seed, 60)
    whole = run(vectors, starts, settings)
    bounds = [0, *sorted(cuts), 60]
    parts: list[tuple[int, int, float, int]] = []
    compressor = Compressor(12, settings)
    for first, last in pairwise(bounds):
        parts += rows(compressor.feed(vectors[first:last], starts[first:last], starts[first:last]))
        compressor = Compressor.resume(compressor.state, settings)
    assert parts == rows(whole)
    again = Compressor(12, settings)
    again.feed(vectors, starts, starts)
    for name in ("prototype_sums", "recurrences", "last_ms", "entry_sums", "history", "history_days"):
        assert np.array_equal(getattr(compressor.state, name), getattr(again.state, name)), name


@given(st.integers(0, 10_000), st.integers(1, 59))
def test_what_comes_later_changes_nothing_of_what_was_before(seed: int, cut: int) -> None:
    vectors, starts = stream(seed, 60)
    assert rows(run(vectors[:cut], starts[:cut], SMALL)) == rows(run(vectors, starts, SMALL))[:cut]


def test_more_records_than_one_block_are_compared_as_in_the_loop() -> None:
    vectors, starts = stream(3, 700, kinds=150, spread=0.12)
    settings = SMALL.model_copy(update={"most_prototypes": 40, "merge_threshold": 0.9, "importance": False})
    found = rows(run(vectors, starts, settings))
    assert [row[3] for row in found] == [row[3] for row in compress(vectors, starts, settings)]
    assert 150 < len({row[3] for row in found}) < 700


def test_each_way_to_a_prototype_occurs_and_is_told_apart() -> None:
    vectors, starts = stream(1, 80, kinds=12)
    result = run(vectors, starts, SMALL)
    assert set(result.kinds.tolist()) == {Kind.GENUINE, Kind.NEW, Kind.FORCED}
    assert int((result.kinds == Kind.NEW).sum()) == SMALL.most_prototypes
    full = np.flatnonzero(result.kinds == Kind.NEW).max()
    assert not (result.kinds[:full] == Kind.FORCED).any()


def test_a_switch_changes_what_it_should_and_nothing_before_it() -> None:
    vectors, starts = stream(5, 120, kinds=12)
    strict = SMALL.model_copy(update={"least_importance": 0.5})
    full = run(vectors, starts, strict)
    assert (full.entries == DISCARDED).any()
    kept = run(vectors, starts, strict.without("importance"))
    assert np.array_equal(kept.prototypes, full.prototypes)
    assert (kept.importance == 1).all() and (kept.entries != DISCARDED).all()
    single = run(vectors, starts, strict.without("consolidation"))
    assert np.array_equal(single.importance, full.importance)
    assert single.entries.tolist() == [i if entry != DISCARDED else -1 for i, entry in enumerate(full.entries)]
    for factor in ("frequency", "recency", "distinctiveness"):
        other = run(vectors, starts, strict.without(factor))
        assert np.array_equal(other.prototypes, full.prototypes)
        assert not np.array_equal(other.importance, full.importance)
    alone = run(vectors, starts, strict.without("prototypes"))
    assert alone.importance.tolist() == pytest.approx([np.log(2)] * 120)


def test_without_history_a_record_is_its_own_context() -> None:
    vectors, starts = stream(7, 50)
    assert rows(run(vectors, starts, SMALL.model_copy(update={"history": 0}))) == rows(
        run(vectors, starts, SMALL.model_copy(update={"history_weight": 0.0}))
    )


def test_history_does_not_reach_across_the_night() -> None:
    vectors, _ = stream(9, 2, kinds=1, spread=0.4)
    close = [20 * HOUR_MS, 20 * HOUR_MS + MINUTE_MS]
    apart = [20 * HOUR_MS, 2 * DAY_MS]
    settings = SMALL.model_copy(update={"history_threshold": -1.0}).without("importance")
    near, far = (Compressor(12, settings) for _ in range(2))
    near.feed(vectors, close, close)
    far.feed(vectors, apart, apart)
    assert not np.array_equal(near.state.entry_sums[1], far.state.entry_sums[1])
    assert np.array_equal(near.state.entry_sums[0].sum(axis=0), far.state.entry_sums[0].sum(axis=0))


def test_records_out_of_order_are_refused() -> None:
    vectors, _ = stream(1, 2)
    compressor = Compressor(12)
    with pytest.raises(OrderError, match="order in which they end"):
        compressor.feed(vectors, [5, 1], [5, 1])
    compressor.feed(vectors, [5, 6], [5, 6])
    with pytest.raises(OrderError):
        compressor.feed(vectors[:1], [4], [4])


def test_nothing_is_compressed_to_nothing() -> None:
    assert len(Compressor(12).feed(np.zeros((0, 12), np.float32), [], [])) == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("merge_threshold", 1.5),
        ("history_weight", -0.1),
        ("history", 10**30),
        ("most_prototypes", 0),
        ("most_prototypes", 10**12),
        ("decay", -1.0),
        ("elapsed_unit", "y"),
    ],
)
def test_settings_outside_their_range_are_refused(name: str, value: object) -> None:
    with pytest.raises(ValidationError, match=name):
        CompressionSettings.model_validate({name: value})

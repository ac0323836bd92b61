"""Sums over shards: what each record adds, and that sums over parts are the sum over all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.ledger import Ledger
from ray_tasks.scheduling.statistics import StageTotals
from ray_tasks.storage.shards import DoneRecord

counts = st.integers(0, 1000)


@st.composite
def records(draw: st.DrawFn) -> tuple[DoneRecord | None, bool]:
    if draw(st.booleans()):
        return None, False
    done, dropped = draw(counts), draw(counts)
    ledger = Ledger(taken=done + dropped, done=done)
    ledger.filtered["empty"] += dropped
    files = {"data.parquet": ("0" * 64, draw(counts)), "clips.json": ("1" * 64, draw(counts))}
    seconds = draw(st.integers(0, 64)) / 8  # exact in binary, so that sums do not depend on their order
    return DoneRecord("embed", "W/DAY1/09", "k", done, seconds, ledger, files, {}, draw(counts)), draw(st.booleans())


def _totals(shards: list[tuple[DoneRecord | None, bool]]) -> StageTotals:
    totals = StageTotals()
    for record, cached in shards:
        totals.book(record, cached=cached)
    return totals


def test_a_shard_adds_its_rows_bytes_tokens_and_seconds() -> None:
    ledger = Ledger(taken=3, done=3)
    record = DoneRecord("embed", "W/DAY1/09", "k", 3, 1.5, ledger, {"a": ("x", 10), "b": ("y", 5)}, {}, 40)
    totals = _totals([(record, False), (record, True), (None, False)])
    assert (totals.shards, totals.cached, totals.failed, totals.made) == (3, 1, 1, 1)
    assert (totals.rows, totals.bytes, totals.tokens) == (6, 30, 80)
    assert (totals.seconds, totals.made_seconds) == (3.0, 1.5)
    assert totals.ledger.taken == 6


@given(st.lists(records()), st.lists(records()))
def test_sums_over_parts_are_the_sum_over_all(
    some: list[tuple[DoneRecord | None, bool]], others: list[tuple[DoneRecord | None, bool]]
) -> None:
    assert _totals(some).add(_totals(others)) == _totals(some + others)


@given(st.lists(records()))
def test_sums_are_read_back_as_they_were_written(shards: list[tuple[DoneRecord | None, bool]]) -> None:
    totals = _totals(shards)
    assert StageTotals.from_json(totals.to_json()) == totals

from __future__ import annotations

import numpy as np
import pytest

from ray_tasks.compression.interactions import InteractionMemory
from ray_tasks.compression.online import Compressed
from ray_tasks.compression.patterns import growth, patterns
from ray_tasks.compression.settings import CompressionSettings
from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS
from ray_tasks.extraction.records.types import Record


def record(number: int, start_ms: int, action: str, thing: str) -> Record:
    told = (None, None, None, None, ())
    return Record(f"r{number}", "B1_MARA", "Mara", action, thing, start_ms, start_ms + 1000, *told, f"c{number}")


def memory(*rows: tuple[int, str, str, float, int]) -> InteractionMemory:
    """Rows of (start, action, object, importance, entry)."""
    records = [record(number, start, action, thing) for number, (start, action, thing, _, _) in enumerate(rows)]
    n = len(rows)
    return InteractionMemory(
        records=records,
        start_ms=np.array([one.start_ms for one in records], np.int64),
        end_ms=np.array([one.end_ms for one in records], np.int64),
        compressed=Compressed(
            np.zeros(n, np.int64),
            np.zeros(n, np.int64),
            np.array([row[3] for row in rows], np.float64),
            np.array([row[4] for row in rows], np.int64),
        ),
        actions=np.zeros(n, np.int64),
        objects=np.zeros(n, np.int64),
        phrases=("drink",),
        vectors=np.zeros((1, 4), np.float32),
        settings=CompressionSettings(),
    )


WEEK = memory(
    (8 * HOUR_MS, "drink", "tea", 0.4, 0),
    (9 * HOUR_MS, "open", "gate", 0.9, 1),
    (15 * HOUR_MS, "drink", "tea", 0.8, 0),
    (16 * HOUR_MS, "look for", "receipt", 0.1, -1),
    (DAY_MS + 2 * HOUR_MS, "drink", "green tea", 0.6, 0),
    (DAY_MS + 8 * HOUR_MS, "water", "fern", 0.7, 2),
    (DAY_MS + 9 * HOUR_MS, "water", "fern", 0.7, 2),
)


def test_what_recurs_is_told_with_its_counts_and_parts_of_the_day() -> None:
    tea, fern = patterns(WEEK, 5)
    assert (tea.text, tea.importance, tea.members, tea.days) == ("Mara drink tea", 0.8, 3, 2)
    assert tea.parts == {"morning": 1, "afternoon": 1, "night": 1}
    assert (fern.text, fern.members, fern.parts) == ("Mara water fern", 2, {"morning": 2})
    assert patterns(WEEK, 1) == [tea]


def test_growth_counts_records_and_entries_up_to_the_end_of_each_day() -> None:
    assert growth(WEEK) == {1: (4, 2), 2: (7, 3)}
    assert growth(memory()) == {}


def test_where_every_record_is_an_entry_those_that_were_not_kept_are_none() -> None:
    alone = memory(*((number * HOUR_MS, "drink", "tea", 0.5, entry) for number, entry in enumerate((-1, 1, -1, 3))))
    assert growth(alone) == {1: (4, 2)}
    assert alone.compressed.founders.tolist() == [1, 3]


def test_records_out_of_order_are_no_memory() -> None:
    with pytest.raises(ValueError, match="order of their end"):
        memory((2000, "a", "", 1.0, 0), (1000, "b", "", 1.0, 1))

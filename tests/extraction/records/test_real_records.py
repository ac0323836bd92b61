"""The rules' records of a real day: how much of it becomes records."""

from __future__ import annotations

from pathlib import Path

import pytest

from ray_tasks.corpus.fuse import fuse
from ray_tasks.corpus.layout import discover
from ray_tasks.corpus.observe import observe
from ray_tasks.extraction.records.rules import RulesRecordExtractor
from ray_tasks.rows import wearer_name

pytestmark = pytest.mark.real

WEARER = "A1_JAKE"


def test_most_lines_of_a_real_hour_give_records(shared_data: Path) -> None:
    files = discover(shared_data / "egolife", [WEARER]).files
    hour = next(file.shard for file in sorted(files, key=lambda file: file.shard) if file.day == 1)
    captions = fuse(observe([file for file in files if file.shard == hour]).observations, {})
    done = RulesRecordExtractor().extract(captions, wearer=WEARER)
    assert done.ledger.taken == sum(len(caption.lines) for caption in captions) > 1000
    assert done.ledger.missing == 0
    assert done.ledger.done > 0.6 * done.ledger.taken
    assert len({one.caption_id for one in done.records}) > 0.95 * len(captions)
    assert sum(bool(one.object) for one in done.records) > 0.8 * len(done.records)
    assert sum(one.person == wearer_name(WEARER) for one in done.records) > 0.4 * len(done.records)
    assert len({one.record_id for one in done.records}) == len(done.records)

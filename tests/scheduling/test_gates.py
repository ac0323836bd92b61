"""Before a memory is published: what stops it, and what the message says."""

from __future__ import annotations

import pytest

from ray_tasks.config import BuildConfig
from ray_tasks.ledger import Ledger
from ray_tasks.scheduling.build import STAGE_ORDER, BuildOutcome
from ray_tasks.scheduling.gates import SHOWN_FAILURES, BuildFailedError, check_gates
from ray_tasks.scheduling.statistics import StageTotals
from ray_tasks.scheduling.tasks import Finished, ShardFailure, ShardResult
from ray_tasks.storage.shards import DoneRecord, Shard

ROWS = {"observe": 7, "caption": 4, "extract": 6, "segment": 3, "join": 2, "embed": 8, "index": 8}
TAKEN = {"observe": 9, "caption": 7, "extract": 7, "segment": 4, "join": 3, "embed": 8, "index": 8}


def outcome() -> BuildOutcome:
    """A build in which everything that one stage gave was taken by the next."""
    wearer = Shard("B1_MARA")
    record = DoneRecord("index", "B1_MARA", "k", 8, 0.0, Ledger(), {})
    records = {stage: {wearer: Finished.of(record)} for stage in STAGE_ORDER}
    totals = {
        stage: StageTotals(shards=1, rows=ROWS[stage], ledger=Ledger(taken=taken, done=taken))
        for stage, taken in TAKEN.items()
    }
    return BuildOutcome("encoder", records=records, indexes={wearer: record}, totals=totals)


def failure(number: int) -> ShardResult:
    reason = ShardFailure("ValueError", f"reason {number}", "")
    return ShardResult("extract", Shard("B1_MARA", 1, number), f"k{number}", "failed", failure=reason)


def test_a_sound_build_passes() -> None:
    check_gates(outcome(), BuildConfig())


def test_books_that_do_not_balance_publish_nothing() -> None:
    unsound = outcome()
    unsound.totals["segment"].ledger.done -= 1
    with pytest.raises(BuildFailedError, match="nothing was published: stage segment: 1 of 4 rows"):
        check_gates(unsound, BuildConfig())


@pytest.mark.parametrize(
    ("stage", "says"),
    [
        ("caption", "captions took in 8 of 7 observations"),
        ("extract", "extraction took in 8 of 7 lines"),
        ("segment", "segmentation took in 5 of 4 captions"),
        ("join", "joining took in 4 of 3 window atoms"),
        ("embed", "embedding took in 9 of 8 atoms"),
        ("index", "the index took in 9 of 8 atoms"),
    ],
)
def test_what_gets_lost_or_doubled_between_two_stages_publishes_nothing(stage: str, says: str) -> None:
    unsound = outcome()
    unsound.totals[stage].ledger.taken += 1
    unsound.totals[stage].ledger.filtered["odd"] += 1
    with pytest.raises(BuildFailedError, match=says):
        check_gates(unsound, BuildConfig())


def test_failed_shards_are_named_with_their_reasons_and_the_remedy() -> None:
    failed = outcome()
    failed.failures.extend(failure(number) for number in range(SHOWN_FAILURES + 2))
    with pytest.raises(BuildFailedError) as raised:
        check_gates(failed, BuildConfig(max_failed_shards=SHOWN_FAILURES + 1))
    message = str(raised.value)
    assert "extract B1_MARA/DAY1/00: ValueError: reason 0" in message
    assert "and 2 more" in message
    assert "run the same command again" in message


def test_as_many_failures_as_are_allowed_stop_nothing() -> None:
    failed = outcome()
    failed.failures.append(failure(9))
    check_gates(failed, BuildConfig(max_failed_shards=1))


def test_a_corpus_without_a_caption_publishes_nothing() -> None:
    empty = outcome()
    empty.indexes.clear()
    with pytest.raises(BuildFailedError, match="no caption at all"):
        check_gates(empty, BuildConfig())

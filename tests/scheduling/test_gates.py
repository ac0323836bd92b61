"""Before a memory is published: what the build itself must hold, and what the message says of what it does not."""

from __future__ import annotations

from collections import Counter

import pytest

from ray_tasks.config import BuildConfig
from ray_tasks.ledger import Ledger
from ray_tasks.scheduling.build import BuildOutcome
from ray_tasks.scheduling.gates import (
    ALWAYS_ALLOWED_ERRORS,
    SHOWN_LINES,
    GateResult,
    gates_of_build,
    refusal,
)
from ray_tasks.scheduling.statistics import StageTotals
from ray_tasks.scheduling.tasks import ShardFailure, ShardResult
from ray_tasks.storage.shards import DoneRecord, Shard

ROWS = {"observe": 7, "caption": 4, "extract": 6, "segment": 3, "join": 2, "embed": 8, "part": 8, "index": 8}
TAKEN = {"observe": 9, "caption": 7, "extract": 7, "segment": 4, "join": 3, "embed": 8, "part": 8, "index": 8}


def wearer_totals() -> dict[str, StageTotals]:
    return {
        stage: StageTotals(shards=1, rows=ROWS[stage], ledger=Ledger(taken=taken, done=taken))
        for stage, taken in TAKEN.items()
    }


def outcome() -> BuildOutcome:
    """A build of two wearers in which everything that one stage gave was taken by the next."""
    record = DoneRecord("index", "B1_MARA", "k", 8, 0.0, Ledger(), {})
    by_wearer = {wearer: wearer_totals() for wearer in ("B1_MARA", "B2_TOBI")}
    return BuildOutcome("encoder", indexes={Shard("B1_MARA"): record}, by_wearer=by_wearer)


def failure(number: int) -> ShardResult:
    reason = ShardFailure("ValueError", f"reason {number}", "")
    return ShardResult("extract", Shard("B1_MARA", 1, number), f"k{number}", "failed", failure=reason)


def gate(name: str, built: BuildOutcome, config: BuildConfig | None = None) -> GateResult:
    results = {result.name: result for result in gates_of_build(built, config or BuildConfig())}
    return results[name]


def test_a_sound_build_passes_every_gate() -> None:
    assert all(result.passed for result in gates_of_build(outcome(), BuildConfig()))


def test_all_gates_are_measured_also_behind_one_that_fails() -> None:
    unsound = outcome()
    unsound.failures.append(failure(9))
    unsound.indexes.clear()
    failed = [result.name for result in gates_of_build(unsound, BuildConfig()) if not result.passed]
    assert failed == ["shards", "content"]


def test_books_that_do_not_balance_are_told_with_wearer_and_stage() -> None:
    unsound = outcome()
    unsound.by_wearer["B2_TOBI"]["segment"].ledger.done -= 1
    result = gate("books", unsound)
    assert not result.passed
    assert "B2_TOBI, stage segment: 1 of 4 rows" in result.words


@pytest.mark.parametrize(
    ("stage", "says"),
    [
        ("caption", "captions took in 8 of 7 observations"),
        ("extract", "extraction took in 8 of 7 lines"),
        ("segment", "segmentation took in 5 of 4 captions"),
        ("join", "joining took in 4 of 3 window atoms"),
        ("embed", "embedding took in 9 of 8 atoms"),
        ("part", "the parts of the index took in 9 of 8 atoms"),
        ("index", "the index took in 9 of 8 atoms"),
    ],
)
def test_what_gets_lost_or_doubled_between_two_stages_is_found(stage: str, says: str) -> None:
    unsound = outcome()
    ledger = unsound.by_wearer["B1_MARA"][stage].ledger
    ledger.taken += 1
    ledger.filtered["odd"] += 1
    result = gate("books", unsound)
    assert not result.passed and result.measured == 1
    assert f"B1_MARA: {says}" in result.words


def test_a_loss_of_one_wearer_and_a_surplus_of_another_do_not_cancel_out() -> None:
    unsound = outcome()
    for wearer, change in (("B1_MARA", 1), ("B2_TOBI", -1)):
        ledger = unsound.by_wearer[wearer]["embed"].ledger
        ledger.taken += change
        ledger.done += change
    assert gate("books", unsound).measured == 2


def test_a_wearer_with_a_failed_shard_is_judged_by_its_own_books_and_the_others_between_stages_too() -> None:
    allowed = BuildConfig(max_failed_shards=1)
    failed = outcome()
    failed.failures.append(failure(9))
    failed.by_wearer["B1_MARA"]["extract"].failed = 1
    failed.by_wearer["B1_MARA"]["embed"].ledger = Ledger(taken=5, done=5)
    assert all(result.passed for result in gates_of_build(failed, allowed))
    failed.by_wearer["B2_TOBI"]["embed"].ledger = Ledger(taken=5, done=5)
    assert "B2_TOBI" in gate("books", failed, allowed).words
    assert not gate("books", failed, allowed).passed


def test_failed_shards_are_named_with_their_reasons() -> None:
    failed = outcome()
    failed.failures.extend(failure(number) for number in range(SHOWN_LINES + 2))
    result = gate("shards", failed, BuildConfig(max_failed_shards=SHOWN_LINES + 1))
    assert (result.passed, result.measured, result.bound) == (False, SHOWN_LINES + 2, f"at most {SHOWN_LINES + 1}")
    assert "extract B1_MARA/DAY1/00: ValueError: reason 0" in result.words
    assert "and 2 more" in result.words


def test_as_many_failures_as_are_allowed_stop_nothing() -> None:
    failed = outcome()
    failed.failures.append(failure(9))
    assert gate("shards", failed, BuildConfig(max_failed_shards=1)).passed


def test_a_corpus_without_a_caption_publishes_nothing() -> None:
    empty = outcome()
    empty.indexes.clear()
    assert "no caption at all" in gate("content", empty).words


@pytest.mark.parametrize(
    ("failed", "taken", "passed"),
    [(0, 100, True), (ALWAYS_ALLOWED_ERRORS, 20, True), (11, 2000, True), (11, 1000, False), (30, 1000, False)],
)
def test_rows_may_fail_up_to_a_rate_and_a_few_always(failed: int, taken: int, passed: bool) -> None:
    built = outcome()
    ledger = Ledger(taken=taken, done=taken - failed, failed=Counter({"no end time": failed}))
    built.by_wearer["B2_TOBI"] = {"observe": StageTotals(shards=1, ledger=ledger)}
    result = gate("errors", built)
    assert result.passed is passed
    assert result.measured == pytest.approx(100 * failed / taken, abs=1e-4)
    assert passed or f"B2_TOBI, stage observe: {failed} of 1,000 rows failed" in result.words
    assert passed or "no end time" in result.words


def test_many_errors_of_one_wearer_do_not_hide_behind_the_many_rows_of_another() -> None:
    built = outcome()
    built.by_wearer["B1_MARA"] = {"observe": StageTotals(ledger=Ledger(taken=100_000, done=100_000))}
    ledger = Ledger(taken=40, done=20, failed=Counter({"no end time": 20}))
    built.by_wearer["B2_TOBI"] = {"observe": StageTotals(ledger=ledger)}
    assert not gate("errors", built).passed


def test_a_refusal_lists_each_failed_gate_with_its_bound_and_how_to_override() -> None:
    gates = [
        GateResult("shards", True, 0, "at most 0", "0 shards failed"),
        GateResult("coverage", False, 2, "nothing missing", "2 hours missing"),
        GateResult("canary", False, 40.0, "at least 95%", "half not found"),
    ]
    message = refusal(gates, "abc123", "s3://bucket/memories")
    assert message.startswith("nothing was published: coverage, canary")
    assert "coverage: 2 hours missing (bound: nothing missing)" in message
    assert "canary: half not found (bound: at least 95%)" in message
    assert "shards" not in message.split("\n", 1)[0]
    assert "daybook publish abc123 --root s3://bucket/memories" in message
    assert "daybook publish" not in refusal(gates, None, "s3://bucket/memories")

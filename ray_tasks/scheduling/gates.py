"""What must hold before a memory may be published."""

from __future__ import annotations

from ray_tasks.config import BuildConfig
from ray_tasks.errors import DaybookError
from ray_tasks.ledger import LedgerError
from ray_tasks.scheduling.build import BuildOutcome, failure_lines

SHOWN_FAILURES = 10


class BuildFailedError(DaybookError):
    """Nothing was published: too many shards failed, or rows are unaccounted for."""


def check_gates(outcome: BuildOutcome, config: BuildConfig) -> None:
    """Raises BuildFailedError, saying what to mend, where shards failed, rows went missing, or nothing was made."""
    _check_failures(outcome, config.max_failed_shards)
    try:
        for stage, totals in outcome.totals.items():
            totals.ledger.check(f"stage {stage}")
        _check_between_stages(outcome)
    except LedgerError as error:
        raise BuildFailedError(f"nothing was published: {error}") from error
    if not outcome.records["index"]:
        raise BuildFailedError("nothing was published: the corpus gave no caption at all")


def _check_failures(outcome: BuildOutcome, allowed: int) -> None:
    if len(outcome.failures) <= allowed:
        return
    lines = failure_lines(outcome.failures[:SHOWN_FAILURES])
    if len(outcome.failures) > SHOWN_FAILURES:
        lines.append(f"and {len(outcome.failures) - SHOWN_FAILURES} more")
    listed = "\n  ".join(lines)
    raise BuildFailedError(
        f"nothing was published: {len(outcome.failures)} shards failed (allowed: {allowed})\n  {listed}\n"
        f"mend the cause and run the same command again; finished shards are kept"
    )


def _check_between_stages(outcome: BuildOutcome) -> None:
    """What one stage put out, the next took in; a wearer with a failed shard is left out of the later stages."""
    totals = outcome.totals
    if not outcome.records["caption"] or outcome.failures:
        return
    atoms = totals["extract"].rows + totals["join"].rows
    flows = [
        ("captions", "observations", totals["caption"].ledger.taken, totals["observe"].rows),
        ("extraction", "lines", totals["extract"].ledger.taken, totals["caption"].ledger.done),
        ("segmentation", "captions", totals["segment"].ledger.taken, totals["caption"].rows),
        ("joining", "window atoms", totals["join"].ledger.taken, totals["segment"].rows),
        ("embedding", "atoms", totals["embed"].ledger.taken, atoms),
        ("the index", "atoms", totals["index"].ledger.taken, atoms),
    ]
    for taker, things, taken, given in flows:
        if taken != given:
            raise LedgerError(f"{taker} took in {taken} of {given} {things}")

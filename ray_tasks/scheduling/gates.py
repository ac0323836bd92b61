"""What must hold before a memory may be published: the gates on the build itself, and how gates are told.

Each gate is a function from facts to one GateResult. All of them are measured, also behind one that fails, so that a
person who reads what a night refused sees everything that is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from ray_tasks.config import BuildConfig
from ray_tasks.errors import DaybookError
from ray_tasks.ledger import Ledger, LedgerError
from ray_tasks.scheduling.build import BuildOutcome
from ray_tasks.scheduling.statistics import StageTotals
from ray_tasks.scheduling.tasks import ShardResult, failure_lines

SHOWN_LINES: Final = 10
ALWAYS_ALLOWED_ERRORS: Final = 10
"""So many failed rows are no matter of rates: one broken line in a recording of fifty is no reason to stop."""

FALLBACK: Final = "fallback_"
"""Before the reason, in the notes of a ledger, for which a row that was taken in kept its own words."""


class BuildFailedError(DaybookError):
    """Nothing was published: the memory did not pass its gates."""


@dataclass(frozen=True)
class GateResult:
    """What a gate found: a number against its bound, in words; `measured` is None where it had nothing to measure."""

    name: str
    passed: bool
    measured: float | None
    bound: str
    words: str

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return asdict(self)


def not_applied(name: str, bound: str, why: str) -> GateResult:
    """A gate that passes because there is nothing to hold the memory against."""
    return GateResult(name, True, None, bound, why)


def gates_of_build(outcome: BuildOutcome, config: BuildConfig) -> list[GateResult]:
    """The gates that need nothing but what the build did."""
    return [
        shard_failures(outcome.failures, config.max_failed_shards),
        balanced_books(outcome.by_wearer),
        holds_captions(len(outcome.indexes)),
        error_rate(outcome.by_wearer, config.gates.max_error_rate),
        *fallbacks(outcome.totals, config.gates.max_fallback_rate),
    ]


def shard_failures(failures: Sequence[ShardResult], allowed: int) -> GateResult:
    """No more shards failed than are allowed."""
    words = listed(f"{len(failures)} shards failed", failure_lines(failures))
    return GateResult("shards", len(failures) <= allowed, len(failures), f"at most {allowed}", words)


def balanced_books(by_wearer: Mapping[str, Mapping[str, StageTotals]]) -> GateResult:
    """Every row of every stage is accounted for, and what one stage put out the next took in, wearer by wearer.

    A wearer with a failed shard is left out of the later stages, so only its stages' own books are looked at.
    """
    gaps = [gap for wearer, totals in sorted(by_wearer.items()) for gap in _gaps(wearer, totals)]
    words = listed("rows unaccounted for", gaps) if gaps else "every row is accounted for"
    return GateResult("books", not gaps, len(gaps), "no gap", words)


def _gaps(wearer: str, totals: Mapping[str, StageTotals]) -> Iterator[str]:
    for stage, stage_totals in totals.items():
        try:
            stage_totals.ledger.check(f"{wearer}, stage {stage}")
        except LedgerError as error:
            yield str(error)
    if "caption" not in totals or any(stage_totals.failed for stage_totals in totals.values()):
        return
    empty = StageTotals()
    observe, describe, caption, extract, segment, join, embed, part, index = (
        totals.get(name, empty)
        for name in ("observe", "describe", "caption", "extract", "segment", "join", "embed", "part", "index")
    )
    translate, narrate = totals.get("translate"), totals.get("narrate")
    records = totals.get("records", empty)
    atoms = extract.rows + join.rows
    flows = [
        ("translation", "observations", translate.ledger.taken if translate else observe.rows, observe.rows),
        ("captions", "observations", caption.ledger.taken, (translate or observe).rows + describe.rows),
        ("prose", "captions", narrate.ledger.taken if narrate else caption.rows, caption.rows),
        ("extraction", "lines", extract.ledger.taken, caption.ledger.done),
        ("segmentation", "captions", segment.ledger.taken, caption.rows),
        ("joining", "window atoms", join.ledger.taken, segment.rows),
        ("embedding", "atoms", embed.ledger.taken, atoms),
        ("the parts of the index", "atoms", part.ledger.taken, atoms),
        ("the index", "atoms", index.ledger.taken, atoms),
        *(
            (taker, "records", totals[stage].ledger.taken, records.rows)
            for taker, stage in (("compression", "compress"), ("the memory of interactions", "interactions"))
            if stage in totals
        ),
    ]
    for taker, things, taken, given in flows:
        if taken != given:
            yield f"{wearer}: {taker} took in {taken} of {given} {things}"


def holds_captions(wearers: int) -> GateResult:
    """The corpus gave at least one wearer with something to remember."""
    words = f"{wearers} wearers hold captions" if wearers else "the corpus gave no caption at all"
    return GateResult("content", wearers > 0, wearers, "at least 1", words)


def error_rate(by_wearer: Mapping[str, Mapping[str, StageTotals]], allowed_percent: float) -> GateResult:
    """Of the rows that any stage took in of a wearer, no more failed than are allowed (a few always are)."""
    rates = {
        (wearer, stage): (totals.ledger.failed.total(), totals.ledger.taken)
        for wearer, stages in by_wearer.items()
        for stage, totals in stages.items()
        if totals.ledger.taken
    }
    percent = {where: 100.0 * failed / taken for where, (failed, taken) in rates.items()}
    over = [
        f"{wearer}, stage {stage}: {rates[wearer, stage][0]:,} of {rates[wearer, stage][1]:,} rows failed "
        f"({percent[wearer, stage]:.2f}%): {_reasons(by_wearer[wearer][stage])}"
        for wearer, stage in sorted(rates)
        if percent[wearer, stage] > allowed_percent and rates[wearer, stage][0] > ALWAYS_ALLOWED_ERRORS
    ]
    worst = max(percent.values(), default=0.0)
    words = listed("too many rows failed", over) if over else f"at most {worst:.2f}% of a wearer's rows failed"
    bound = f"at most {allowed_percent:g}% of a wearer's rows in a stage, or {ALWAYS_ALLOWED_ERRORS} rows"
    return GateResult("errors", not over, round(worst, 4), bound, words)


def fallbacks(stages: Mapping[str, StageTotals], allowed_percent: float) -> list[GateResult]:
    """A language model's words were usable but for so many rows; no gate where none was asked.

    A row whose words were not usable keeps those it had, so nothing is lost and nothing looks wrong: a memory made with
    a broken prompt or a wrong model would pass every other gate.
    """
    asked = {stage: totals for stage, totals in stages.items() if totals.calls.calls}
    if not asked:
        return []
    kept = {stage: sum(fallback_notes(totals.ledger).values()) for stage, totals in asked.items()}
    # Rows or calls, whichever are more: what falls back may be a row, a block of them or a whole window.
    size = {stage: max(totals.ledger.taken, totals.calls.calls) for stage, totals in asked.items()}
    percent = {stage: 100.0 * kept[stage] / size[stage] for stage in asked}
    over = [
        f"{stage}: {kept[stage]:,} of {size[stage]:,} rows ({percent[stage]:.1f}%)"
        for stage in asked
        if percent[stage] > allowed_percent and kept[stage] > ALWAYS_ALLOWED_ERRORS
    ]
    worst = max(percent.values())
    words = listed("too many rows kept their own words", over) if over else f"at most {worst:.1f}% kept their own words"
    bound = f"at most {allowed_percent:g}% of the rows of a stage"
    return [GateResult("fallbacks", not over, round(worst, 2), bound, words)]


def fallback_notes(ledger: Ledger) -> dict[str, int]:
    """How many rows kept their own words because a model's were not usable, by reason."""
    return {
        name.removeprefix(FALLBACK): count for name, count in sorted(ledger.notes.items()) if name.startswith(FALLBACK)
    }


def _reasons(totals: StageTotals) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in totals.ledger.failed.most_common(3))


def refusal(gates: Iterable[GateResult], memory_id: str | None, root: str) -> str:
    """The message of a refused memory: each gate that failed, and what to do; memory_id where it can be published."""
    failed = [gate for gate in gates if not gate.passed]
    lines = [f"nothing was published: {', '.join(gate.name for gate in failed)}"]
    lines += [f"  {gate.name}: {gate.words} (bound: {gate.bound})" for gate in failed]
    lines.append("mend the cause and run the same command again; finished shards are kept")
    if memory_id:
        lines.append(
            f"if all this is as it should be, publish the finished memory by hand: "
            f"daybook publish {memory_id} --root {root}"
        )
    return "\n".join(lines)


def listed(title: str, lines: Sequence[str]) -> str:
    """A title and at most SHOWN_LINES lines below it."""
    shown = list(lines[:SHOWN_LINES])
    if len(lines) > SHOWN_LINES:
        shown.append(f"and {len(lines) - SHOWN_LINES} more")
    return "\n    ".join([title, *shown])

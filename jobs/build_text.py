"""What a build says when it has ended."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from jobs.building import Built
from jobs.console import console
from ray_tasks.config import BuildConfig
from ray_tasks.engines.counts import CallCounts
from ray_tasks.rows import VIEWS
from ray_tasks.scheduling.gates import fallback_notes
from ray_tasks.scheduling.models import model_of
from ray_tasks.scheduling.statistics import StageTotals


def show_build(built: Built) -> None:
    """Prints what a build made, what it left out and why, what its gates found, and what it published."""
    _show_stages(built)
    console.print(_atoms_line(built))
    for line in model_lines(built.outcome.totals, BuildConfig(**built.manifest.build["config"])):
        console.print(line, markup=False, soft_wrap=True)
    _show_losses(built)
    passed = sum(gate.passed for gate in built.gates)
    console.print(f"gates: {passed} of {len(built.gates)} passed in {built.gate_seconds:.1f} s")
    if passed < len(built.gates):
        return
    total = built.outcome.made
    if built.published:
        kept = f", beside {', '.join(built.kept)} as before" if built.kept else ""
        console.print(
            f"published memory {built.manifest.memory_id}: {total} shards made in {built.seconds:.1f} s{kept}"
        )
    elif total:
        console.print(
            f"memory {built.manifest.memory_id} is unchanged after making {total} shards again; nothing to publish"
        )
    else:
        console.print(f"nothing to do: memory {built.manifest.memory_id} is up to date (all shards cached)")


def _show_stages(built: Built) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("stage", "shards", "cached", "in", "done", "filtered", "failed"):
        table.add_column(heading, justify="left" if heading == "stage" else "right")
    for stage, totals in built.outcome.totals.items():
        books = totals.ledger
        numbers = (totals.shards, totals.cached, books.taken, books.done, books.filtered.total(), books.failed.total())
        table.add_row(stage, *(f"{number:,}" for number in numbers))
    console.print(table)


def _show_losses(built: Built) -> None:
    """The loss ledger in words: what was left out of the sources and of extraction."""
    for kind, books in sorted(built.outcome.ledgers.items()):
        lost = {**books.filtered, **{f"failed: {reason}": count for reason, count in books.failed.items()}}
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(lost.items())) or "nothing left out"
        console.print(f"{kind}: {books.taken:,} rows in, {books.done:,} used; {reasons}", markup=False)
    problems = len(built.outcome.source_problems())
    if problems:
        console.print(
            f"{problems:,} oddities in source files; to list them: "
            f"daybook doctor --corpus {built.manifest.build['corpus']}",
            markup=False,
            soft_wrap=True,
        )


def _price(stage: str, calls: CallCounts, config: BuildConfig) -> str:
    """What a stage's tokens cost, where the configuration tells prices."""
    model = model_of(stage, config)
    cost = model.prices.of(calls.tokens_in, calls.tokens_out) if model else 0.0
    return f" ({cost:,.2f} {model.prices.currency})" if model and cost else ""


def model_lines(stages: Mapping[str, StageTotals], config: BuildConfig) -> list[str]:
    """What language models were asked and what came of it, by stage; cached shards as they were when they were made."""
    lines = []
    for stage, totals in stages.items():
        calls = totals.calls
        if not calls.calls:
            continue
        notes = fallback_notes(totals.ledger)
        kept = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in notes.items())
        lost = ", ".join(f"{count:,} {reason}" for reason, count in sorted(calls.failed.items()))
        lines.append(
            f"{stage}: {calls.calls:,} calls, {calls.cached:,} from the cache, {calls.retries.total():,} sent again; "
            f"{calls.tokens_in:,} tokens read, {calls.tokens_out:,} written{_price(stage, calls, config)}"
            + (f"; without an answer: {lost}" if lost else "")
            + (f"; kept as they were: {kept}" if kept else "")
        )
    return lines


def _atoms_line(built: Built) -> str:
    report = built.outcome.report
    counts = ", ".join(f"{report.atoms[view]:,} {view}" for view in VIEWS)
    return (
        f"atoms: {counts}; unresolved pronouns {report.share(report.unresolved):.1f}%, "
        f"verbatim quotes {report.share(report.quoted):.1f}%, "
        f"speech in its own words {report.share(report.as_said):.1f}%"
    )

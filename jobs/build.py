"""Builds a memory from recordings and publishes it."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from jobs.building import BuildRequest, Built, build_and_publish
from jobs.console import console, ends_well, print_json, run_app
from jobs.options import (
    DEFAULT_ROOT,
    ConfigOption,
    CorpusOption,
    DaysOption,
    EngineOption,
    JsonOption,
    RootOption,
    WearersOption,
)
from ray_tasks.config import load_config
from ray_tasks.rows import VIEWS
from ray_tasks.storage.store import open_store


@ends_well
def build(
    corpus: CorpusOption,
    root: RootOption = DEFAULT_ROOT,
    wearer: WearersOption = None,
    day: DaysOption = None,
    engine: EngineOption = None,
    config: ConfigOption = None,
    cpus: Annotated[int | None, typer.Option(help="CPUs to use on this machine.", min=1)] = None,
    deadline: Annotated[float | None, typer.Option(help="Give up after so many seconds.", min=1)] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Make every shard again.")] = False,
    json: JsonOption = False,
) -> None:
    """Build a memory from recordings and publish it.

    Finished shards are kept: a second build of the same recordings does no work, an interrupted one goes on where it
    stopped. Exit code 0: published (or nothing to do); 1: shards failed; 2: the command or its input is at fault.

    Examples:

        daybook build --corpus recordings --root memories

        daybook build --corpus recordings --root memories --wearer A1_JAKE --day 1 --day 2
    """
    settings = load_config(config, engine=engine)
    request = BuildRequest(corpus, tuple(wearer or ()), tuple(day or ()), settings)
    built = build_and_publish(request, open_store(root), use_cache=not no_cache, cpus=cpus, deadline_s=deadline)
    if json:
        print_json(built.summary())
    else:
        show_build(built)


def show_build(built: Built) -> None:
    """Prints what a build made, what it left out and why, and what it published."""
    _show_stages(built)
    console.print(_atoms_line(built))
    _show_losses(built)
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


def _atoms_line(built: Built) -> str:
    report = built.outcome.report
    counts = ", ".join(f"{report.atoms[view]:,} {view}" for view in VIEWS)
    return (
        f"atoms: {counts}; unresolved pronouns {report.share(report.unresolved):.1f}%, "
        f"verbatim quotes {report.share(report.quoted):.1f}%, "
        f"speech in its own words {report.share(report.as_said):.1f}%"
    )


if __name__ == "__main__":
    run_app(build)

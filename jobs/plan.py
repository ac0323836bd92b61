"""Tells what a build would do before it does it."""

from __future__ import annotations

import os
from typing import Annotated

import typer
from rich.table import Table

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
from ray_tasks.corpus.layout import discover
from ray_tasks.scheduling.estimate import Plan, plan_build
from ray_tasks.storage.manifests import read_manifest, read_pointer
from ray_tasks.storage.store import open_store


@ends_well
def plan(
    corpus: CorpusOption,
    root: RootOption = DEFAULT_ROOT,
    wearer: WearersOption = None,
    day: DaysOption = None,
    engine: EngineOption = None,
    config: ConfigOption = None,
    cpus: Annotated[int | None, typer.Option(help="CPUs to reckon with.", min=1)] = None,
    json: JsonOption = False,
) -> None:
    """Show how many shards a build would make, how many are done already, and how long it would take.

    Times come from the rates of the build that made the current memory.

    Example:

        daybook plan --corpus recordings --root memories
    """
    store = open_store(root)
    pointer = read_pointer(store)
    last = read_manifest(store, pointer.memory_id).build if pointer else None
    planned = plan_build(discover(corpus, wearer, day), store, load_config(config, engine=engine), last)
    workers = cpus or os.cpu_count() or 1
    if json:
        print_json({**planned.to_json(), "cpus": workers, "seconds": planned.seconds(workers)})
    else:
        _show(planned, workers)


def _show(planned: Plan, cpus: int) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("stage", "cached", "to do", "work"):
        table.add_column(heading, justify="left" if heading == "stage" else "right")
    for name, stage in planned.stages.items():
        work = "unknown" if stage.seconds is None else f"{stage.seconds:,.0f} s"
        table.add_row(name, f"{stage.cached:,}", f"{stage.to_do:,}", work)
    console.print(table)
    if not planned.to_do:
        console.print("nothing to do: every shard is in the cache")
        return
    seconds = planned.seconds(cpus)
    estimate = "time unknown: there is no earlier build to go by" if seconds is None else f"about {seconds:,.0f} s"
    console.print(f"{planned.to_do:,} shards to make on {cpus} CPUs, {estimate}")


if __name__ == "__main__":
    run_app(plan)

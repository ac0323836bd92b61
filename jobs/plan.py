"""Tells what a build would do before it does it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.table import Table

from jobs.console import console, ends_well, log, print_json, run_app
from jobs.options import (
    DEFAULT_ROOT,
    ConfigOption,
    CorpusOption,
    DaysOption,
    EngineOption,
    IdentitiesOption,
    JsonOption,
    LimitOption,
    LlmModelOption,
    LlmUrlOption,
    RootOption,
    ShardsOption,
    VideoOption,
    WearersOption,
)
from jobs.request import BuildRequest
from jobs.words import duration_text
from ray_tasks.config import Prices, load_config
from ray_tasks.scheduling.estimate import plan_build
from ray_tasks.scheduling.plan_figures import UNKNOWN, Plan
from ray_tasks.storage.manifests import read_manifest, read_pointer
from ray_tasks.storage.store import ObjectStore, StoreError, open_store

LEAST_MONEY = 0.01


@ends_well
def plan(
    corpus: CorpusOption = None,
    root: RootOption = DEFAULT_ROOT,
    wearer: WearersOption = None,
    day: DaysOption = None,
    shard: ShardsOption = None,
    limit: LimitOption = None,
    video: VideoOption = None,
    identities: IdentitiesOption = None,
    engine: EngineOption = None,
    llm_url: LlmUrlOption = None,
    llm_model: LlmModelOption = None,
    config: ConfigOption = None,
    cpus: Annotated[int | None, typer.Option(help="CPUs to reckon with.", min=1)] = None,
    json: JsonOption = False,
) -> None:
    """Show how many shards a build would make and how many are done already, and its time, CPU-hours and cost.

    Times come from the rates of the last runs, which the root keeps, or of the current memory. Costs come from the
    configuration (prices: cpu_hour, gpu_hour, currency). Nothing is written.

    Example:

        daybook plan --corpus recordings --root memories
    """
    settings = load_config(config, engine=engine, llm={"urls": llm_url, "model": llm_model})
    request = BuildRequest(
        corpus, tuple(wearer or ()), tuple(day or ()), settings, tuple(shard or ()), limit, video, identities
    )
    report_plan(request, open_store(root), cpus, json=json)


def report_plan(request: BuildRequest, store: ObjectStore, cpus: int | None, *, json: bool) -> None:
    """Plans what is asked for, and prints the plan."""
    planned = plan_build(request.discover(), store, request.config, _last_build(store))
    workers = cpus or os.cpu_count() or 1
    prices = request.config.prices
    if json:
        numbers = {
            "cpus": workers,
            "seconds": planned.seconds(workers),
            "cpu_hours": planned.cpu_hours(workers),
            "gpu_hours": planned.gpu_hours(),
            "cost": planned.cost(workers, prices),
            "currency": prices.currency,
        }
        print_json({**planned.to_json(), **numbers})
    else:
        show_plan(planned, workers, prices)


def _last_build(store: ObjectStore) -> Mapping[str, Any] | None:
    try:
        pointer = read_pointer(store)
        return read_manifest(store, pointer.memory_id).build if pointer else None
    except StoreError as error:
        log.print(f"the current memory gives no rates: {error}", markup=False, soft_wrap=True)
        return None


def show_plan(planned: Plan, cpus: int, prices: Prices | None = None) -> None:
    """Prints a plan as a table and lines about its time, its hours and its cost."""
    table = Table(box=None, pad_edge=False)
    for heading in ("stage", "cached", "to do", "work"):
        table.add_column(heading, justify="left" if heading == "stage" else "right")
    for name, stage in planned.stages.items():
        if stage.cached or stage.to_do:
            work = "unknown" if stage.seconds is None else duration_text(stage.seconds)
            table.add_row(name, f"{stage.cached:,}", f"{stage.to_do:,}", work)
    console.print(table)
    if not planned.to_do:
        console.print("nothing to do: every shard is in the cache")
        return
    for line in plan_lines(planned, cpus, prices or Prices()):
        console.print(line, markup=False, soft_wrap=True)


def plan_lines(planned: Plan, cpus: int, prices: Prices) -> list[str]:
    """What a plan comes to, in words."""
    shards = f"{planned.to_do:,} shards to make on {cpus} CPUs"
    seconds, cpu_hours, gpu_hours = planned.seconds(cpus), planned.cpu_hours(cpus), planned.gpu_hours()
    if seconds is None or cpu_hours is None or gpu_hours is None:
        missing = ", ".join(name for name, stage in planned.stages.items() if stage.seconds is None)
        known = "" if planned.source == UNKNOWN else f" for {missing}"
        return [f"{shards}, time unknown: {UNKNOWN}{known}"]
    hours = f"{cpu_hours:.2f} CPU-hours" + (f", {gpu_hours:.2f} GPU-hours" if gpu_hours else ", no GPU")
    lines = [f"{shards}: about {duration_text(seconds)}, {hours} (rates of {planned.source})"]
    read, written = planned.tokens()
    if read:
        price = f", {planned.token_cost():,.2f} at the prices of their models" if planned.token_cost() else ""
        lines.append(f"language models: about {read:,.0f} tokens read and {written:,.0f} written{price}")
    cost = planned.cost(cpus, prices)
    if cost is not None:
        money = f"about {cost:,.2f}" if cost >= LEAST_MONEY else f"less than {LEAST_MONEY}"
        lines.append(f"{money} {prices.currency} at the configured prices")
    return lines


if __name__ == "__main__":
    run_app(plan)

"""Runs the last build again, for the shards that it did not finish."""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.build import show_build
from jobs.building import BuildRequest, build_and_publish
from jobs.console import console, ends_well, run_app
from jobs.options import DEFAULT_ROOT, RootOption
from ray_tasks.errors import UsageError
from ray_tasks.scheduling.run_log import read_run
from ray_tasks.storage.store import open_store


@ends_well
def retry_failed(
    root: RootOption = DEFAULT_ROOT,
    cpus: Annotated[int | None, typer.Option(help="CPUs to use on this machine.", min=1)] = None,
) -> None:
    """Run the last build again as it was asked for: failed shards and what depends on them, nothing else.

    Example:

        daybook retry-failed --root memories
    """
    store = open_store(root)
    run = read_run(store)
    if run is None:
        raise UsageError(f"{store.url} has seen no build; start one with daybook build")
    if run["state"] == "finished" and not run["failed"]:
        console.print("nothing to retry: the last build finished without a failed shard")
        return
    show_build(build_and_publish(BuildRequest.from_json(run["request"]), store, cpus=cpus))


if __name__ == "__main__":
    run_app(retry_failed)

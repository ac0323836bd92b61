"""Runs an earlier build again, for the shards that it did not finish."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jobs.build_text import show_build
from jobs.building import RefusedError, build_and_publish
from jobs.console import console, ends_well, log, run_app
from jobs.options import DEFAULT_ROOT, RootOption
from jobs.part import build_part
from jobs.request import BuildRequest
from ray_tasks.errors import DaybookError, UsageError
from ray_tasks.storage.run_records import RunRecord, is_alive, read_run
from ray_tasks.storage.store import ObjectStore, open_store


class StillRunningError(DaybookError):
    """The run has not ended, so nobody knows yet what it will leave undone."""


@ends_well
def retry_failed(
    root: RootOption = DEFAULT_ROOT,
    run: Annotated[
        str | None, typer.Option(help="The run to repeat, as `status` names it; the latest if left out.")
    ] = None,
    corpus: Annotated[Path | None, typer.Option(help="Where the recordings are on this machine, if elsewhere.")] = None,
    cpus: Annotated[int | None, typer.Option(help="CPUs to use on this machine.", min=1)] = None,
    deadline: Annotated[float | None, typer.Option(help="Give up after so many seconds.", min=1)] = None,
) -> None:
    """Run the last build again as it was asked for: failed and unfinished shards and what depends on them, no others.

    Finished shards are found in the root, so this also works from another machine, as long as the recordings are there.

    Example:

        daybook retry-failed --root memories
    """
    store = open_store(root)
    earlier = earlier_run(store, run)
    if earlier.state == "finished" and not earlier.failed:
        console.print(f"nothing to retry: run {earlier.run_id} finished without a failed shard")
        return
    log.print(f"repeating run {earlier.run_id} ({earlier.state}, {earlier.failed} failed shards)", soft_wrap=True)
    request = request_of(earlier, corpus)
    if request.partial:
        build_part(request, store, cpus=cpus, deadline_s=deadline, command="retry-failed").show()
        return
    try:
        show_build(build_and_publish(request, store, cpus=cpus, deadline_s=deadline, command="retry-failed"))
    except RefusedError as error:
        show_build(error.built)
        raise


def earlier_run(store: ObjectStore, run_id: str | None) -> RunRecord:
    """The run to repeat; raises UsageError where there is none and StillRunningError where it has not ended."""
    found = read_run(store, run_id)
    if found is None and run_id:
        raise UsageError(f"{store.url} knows no run {run_id}; `daybook status --root {store.url}` shows the latest")
    if found is None:
        raise UsageError(f"{store.url} has seen no build; start one with daybook build")
    if is_alive(found):
        where = f"process {found.holder.pid} on {found.holder.host}"
        raise StillRunningError(f"run {found.run_id} is still at work ({where}); follow it with daybook status")
    return found


def request_of(earlier: RunRecord, corpus: Path | None) -> BuildRequest:
    """What it was asked for, with its recordings at `corpus` where given; raises UsageError where that cannot be."""
    try:
        request = BuildRequest.from_json(dict(earlier.request) | ({"corpus": str(corpus)} if corpus else {}))
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"run {earlier.run_id} cannot be repeated: what it was asked for does not fit this version ({error}); "
            "start a build with daybook build"
        ) from error
    if request.corpus and not request.corpus.is_dir():
        raise UsageError(
            f"the recordings of run {earlier.run_id} are not at {request.corpus} on this machine; "
            "name their folder with --corpus"
        )
    if request.video and not request.video.is_dir():
        raise UsageError(
            f"the clips of run {earlier.run_id} are not at {request.video} on this machine; "
            "start a build with daybook build --video"
        )
    return request


if __name__ == "__main__":
    run_app(retry_failed)

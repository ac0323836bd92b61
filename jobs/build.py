"""Builds a memory from recordings and publishes it."""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.build_text import show_build
from jobs.building import Built, RefusedError, build_and_publish
from jobs.console import ends_well, print_json, run_app
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
from jobs.part import build_part
from jobs.plan import report_plan
from jobs.request import BuildRequest
from ray_tasks.config import load_config
from ray_tasks.storage.store import open_store


@ends_well
def build(
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
    cpus: Annotated[int | None, typer.Option(help="CPUs to use on this machine.", min=1)] = None,
    deadline: Annotated[float | None, typer.Option(help="Give up after so many seconds.", min=1)] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Make every shard again.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be made; as `daybook plan`.")] = False,
    json: JsonOption = False,
) -> None:
    """Build a memory from recordings and publish it.

    Finished shards are kept: a second build of the same recordings does no work, an interrupted one goes on where it
    stopped. Exit code 0: published (or nothing to do); 1: shards failed, or a gate refused the memory; 2: the command
    or its input is at fault.

    With --shard or --limit only some hours are made, up to their vectors, and nothing is published. What these hours
    read is made as well: the captions of the hour before. What later reads them is not: the next hour, whose context
    they are, the joining of their day unless it is whole, and the index. A build without these options does the rest.

    Examples:

        daybook build --corpus recordings --root memories

        daybook build --corpus recordings --root memories --wearer A1_JAKE --day 1 --day 2

        daybook build --corpus recordings --root memories --shard A1_JAKE/DAY3/16

        daybook build --corpus recordings --video clips --identities people --engine llm --llm-url http://gpu1:8000/v1
    """
    settings = load_config(config, engine=engine, llm={"urls": llm_url, "model": llm_model})
    request = BuildRequest(
        corpus, tuple(wearer or ()), tuple(day or ()), settings, tuple(shard or ()), limit, video, identities
    )
    store = open_store(root)
    if dry_run:
        report_plan(request, store, cpus, json=json)
        return
    if request.partial:
        part = build_part(request, store, use_cache=not no_cache, cpus=cpus, deadline_s=deadline)
        if json:
            print_json(part.summary())
        else:
            part.show()
        return
    try:
        built = build_and_publish(request, store, use_cache=not no_cache, cpus=cpus, deadline_s=deadline)
    except RefusedError as error:
        _show(error.built, json)
        raise
    _show(built, json)


def _show(built: Built, json: bool) -> None:
    if json:
        print_json(built.summary())
    else:
        show_build(built)


if __name__ == "__main__":
    run_app(build)

"""The whole night: plan, build, gates, publish, evaluate, compare with the night before, and a summary of it all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from jobs.build_text import show_build
from jobs.building import RefusedError
from jobs.console import console, ends_well, log, print_json, run_app
from jobs.evaluating import Asked
from jobs.night import Night
from jobs.options import (
    DEFAULT_ROOT,
    ConfigOption,
    CorpusOption,
    DaysOption,
    EngineOption,
    IdentitiesOption,
    JsonOption,
    LlmModelOption,
    LlmUrlOption,
    MethodOption,
    RootOption,
    VideoOption,
    WearersOption,
)
from jobs.plan import show_plan
from jobs.request import BuildRequest
from jobs.stopping import stoppable
from ray_tasks.config import load_config
from ray_tasks.errors import UsageError
from ray_tasks.evaluation.night_table import render_night
from ray_tasks.retrieval.registry import METHODS, UnknownMethodError
from ray_tasks.storage.store import open_store


@ends_well
def nightly(
    corpus: CorpusOption = None,
    root: RootOption = DEFAULT_ROOT,
    questions: Annotated[
        list[str] | None, typer.Option(help="Evaluate a wearer on a question file, A1_JAKE=FILE; may be repeated.")
    ] = None,
    wearer: WearersOption = None,
    day: DaysOption = None,
    video: VideoOption = None,
    identities: IdentitiesOption = None,
    engine: EngineOption = None,
    llm_url: LlmUrlOption = None,
    llm_model: LlmModelOption = None,
    config: ConfigOption = None,
    method: MethodOption = "egocite",
    cpus: Annotated[int | None, typer.Option(help="CPUs to use on this machine.", min=1)] = None,
    deadline_s: Annotated[
        float | None, typer.Option("--deadline", help="Give up after so many seconds.", min=1)
    ] = None,
    json: JsonOption = False,
) -> None:
    """Build a memory, publish it if it passes its gates, evaluate it, and compare it with the night before.

    Question files come from --questions or from `questions` in the configuration file; they are also the known
    questions of the gates, unless the file names others as `canary`. The summary is kept under nights/ in the root.
    The same command goes on where an interrupted night stopped. Exit code 0: published, or unchanged, and evaluated;
    1: gates, shards or questions failed; 2: the command or its input is at fault.

    Example:

        daybook nightly --corpus recordings --root memories --questions A1_JAKE=questions/A1_JAKE.json
    """
    if method not in METHODS:
        raise UnknownMethodError(f"--method {method}: choose one of {', '.join(METHODS)}")
    settings = load_config(config, engine=engine, llm={"urls": llm_url, "model": llm_model})
    # Absolute, since the record of the run keeps them and a retry may be called from elsewhere.
    named = {**settings.questions, **_question_files(questions or [])}
    files = {owner: str(Path(file).absolute()) for owner, file in named.items()}
    asked = {owner: Asked.read(Path(file), owner) for owner, file in files.items()}
    settings = settings.model_copy(update={"questions": files, "canary": settings.canary or files})
    request = BuildRequest(corpus, tuple(wearer or ()), tuple(day or ()), settings, video=video, identities=identities)
    night = Night(open_store(root), request, asked, method, deadline_s)
    with stoppable():
        if not json:
            console.rule("plan")
            show_plan(night.plan(), cpus or os.cpu_count() or 1, settings.prices)
            console.rule("build")
        try:
            built, refused = night.build(cpus), None
        except RefusedError as error:
            built, refused = error.built, error
        if not json:
            show_build(built)
        evaluations = {} if refused else night.evaluate(built.manifest)
        summary, place = night.close(built, evaluations)
    if json:
        print_json(summary)
    else:
        console.rule("night")
        console.print(render_night(summary))
    log.print(f"the summary is in {place}", soft_wrap=True)
    if refused:
        raise refused
    if any("fault" in entry or entry["errors"] for entry in evaluations.values()):
        raise typer.Exit(1)


def _question_files(given: list[str]) -> dict[str, str]:
    files: dict[str, str] = {}
    for text in given:
        wearer, equals, file = text.partition("=")
        if not (wearer and equals and file):
            raise UsageError(f"--questions {text}: expected WEARER=FILE, for example A1_JAKE=questions/A1_JAKE.json")
        if wearer in files:
            raise UsageError(f"--questions {text}: {wearer} has a question file already, {files[wearer]}")
        files[wearer] = file
    return files


if __name__ == "__main__":
    run_app(nightly)

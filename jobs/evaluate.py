"""Asks a memory the questions of benchmarks and reports how well it answers."""

from __future__ import annotations

import json as json_format
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from jobs.answering import choose
from jobs.asking_progress import AskingProgress
from jobs.console import check_output, console, ends_well, log, run_app
from jobs.exams import Asked, Exam
from jobs.fan_out import Outcome, run_exams
from jobs.options import (
    DEFAULT_ROOT,
    AskedWearersOption,
    BenchmarkOption,
    ConfigOption,
    LlmModelOption,
    LlmUrlOption,
    QuestionFilesOption,
    RootOption,
    SweepOption,
)
from jobs.question_options import answering_model, question_files, read_sweep
from jobs.stopping import deadline, stoppable
from ray_tasks.errors import DaybookError
from ray_tasks.evaluation.egolifeqa import BENCHMARK
from ray_tasks.evaluation.table import render_evaluation
from ray_tasks.retrieval.registry import METHODS, UnknownMethodError, model_steps
from ray_tasks.storage.manifests import current_manifest
from ray_tasks.storage.store import open_store


@ends_well
def evaluate(
    questions: QuestionFilesOption,
    wearer: AskedWearersOption = None,
    root: RootOption = DEFAULT_ROOT,
    benchmark: BenchmarkOption = BENCHMARK,
    method: Annotated[
        list[str] | None, typer.Option(help=f"How questions are answered: {', '.join(METHODS)}; may be repeated.")
    ] = None,
    set_: SweepOption = None,
    llm_url: LlmUrlOption = None,
    llm_model: LlmModelOption = None,
    config: ConfigOption = None,
    cpus: Annotated[int | None, typer.Option(help="Answer on Ray, with so many CPUs of this machine.", min=1)] = None,
    deadline_s: Annotated[
        float | None, typer.Option("--deadline", help="Give up after so many seconds.", min=1)
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Ask also what an earlier run has answered.")] = False,
    json: Annotated[
        Path | None, typer.Option(help="Write the result to this file as JSON; several results as a list.")
    ] = None,
) -> None:
    """Answer benchmark questions from the current memory and report accuracy, hit rates and what was odd.

    Every answer is kept under evaluations/ in the root as soon as it is there: the same command goes on where an
    interrupted one stopped. Exit code 0: every question was asked; 1: some ended in an error, or time was up; 2: the
    command or its input is at fault.

    Examples:

        daybook evaluate --root memories --benchmark egolifeqa --questions A1_JAKE.json --wearer A1_JAKE --json out.json

        daybook evaluate --root memories --questions A1_JAKE=one.json --questions A2_ALICE=two.json --method egocite
        --method caption-rag

        daybook evaluate --root memories --questions A1_JAKE=A1_JAKE.json --set decay=0.97 --set decay=0.99
    """
    if json is not None:
        check_output(json)
    methods = list(dict.fromkeys(method or ["egocite"]))
    for name in methods:
        if name not in METHODS:
            raise UnknownMethodError(f"--method {name}: choose one of {', '.join(METHODS)}")
    sweep = read_sweep(set_ or [])
    asks = any(model_steps(name, settings) for name in methods for settings in sweep)
    model = answering_model(config, llm_url, llm_model, asks=asks)
    files = [(owner, Asked.read(path, owner, benchmark)) for owner, path in question_files(questions, wearer or [])]
    store = open_store(root)
    manifest = current_manifest(store)
    for owner, _ in files:
        manifest.entry(owner)
    exams = [
        Exam(store, manifest, choose(name, settings, model), asked, owner)
        for owner, asked in files
        for name in methods
        for settings in sweep
    ]
    with AskingProgress() as progress, stoppable(), deadline(deadline_s, lambda _: progress.where()):
        outcomes = run_exams(exams, progress, cpus=cpus, again=again)
    report(outcomes, json)


def report(outcomes: Sequence[Outcome], json: Path | None) -> None:
    """Prints and writes what came out; leaves with exit code 1 where something failed.

    Raises DaybookError where the file of --json cannot be written.
    """
    for outcome in outcomes:
        if outcome.evaluation is not None:
            console.print(render_evaluation(outcome.evaluation, outcome.exam.asked.file.ledger))
            log.print(escape(f"{outcome.exam.title}: answers are in {outcome.exam.place}"), soft_wrap=True)
        else:
            log.print(f"[bold red]error:[/] {escape(f'{outcome.exam.title}: {outcome.fault}')}", soft_wrap=True)
    if json is not None:
        documents: list[dict[str, Any]] = [outcome.to_json() for outcome in outcomes]
        written: Any = documents if len(documents) > 1 else documents[0]
        text = json_format.dumps(written, ensure_ascii=False, indent=1)
        try:
            json.write_text(text, encoding="utf-8")
        except OSError as error:
            raise DaybookError(
                f"--json {json}: cannot be written ({error.strerror}); every answer is kept in the root, so the same "
                "command with another file asks nothing again"
            ) from error
    if any(outcome.failed for outcome in outcomes):
        raise typer.Exit(1)


if __name__ == "__main__":
    run_app(evaluate)

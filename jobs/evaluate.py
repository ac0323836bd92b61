"""Asks a memory the questions of a benchmark and reports how well it answers."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import Annotated

import typer

from jobs.answering import Respondent
from jobs.console import console, ends_well, log, run_app
from jobs.evaluating import Asked, has_errors, run_evaluation
from jobs.options import DEFAULT_ROOT, MethodOption, RootOption
from ray_tasks.errors import UsageError
from ray_tasks.evaluation.egolifeqa import BENCHMARK
from ray_tasks.evaluation.table import render_evaluation
from ray_tasks.storage.manifests import current_manifest
from ray_tasks.storage.store import open_store


@ends_well
def evaluate(
    questions: Annotated[Path, typer.Option(help="The benchmark's question file for this wearer.", show_default=False)],
    wearer: Annotated[str, typer.Option(help="Whose memory is asked.", show_default=False)],
    root: RootOption = DEFAULT_ROOT,
    benchmark: Annotated[str, typer.Option(help="The form of the question file.")] = BENCHMARK,
    method: MethodOption = "egocite",
    json: Annotated[Path | None, typer.Option(help="Write the result to this file as JSON.")] = None,
) -> None:
    """Answer a benchmark's questions from the current memory and report accuracy, hit rates and what was odd.

    Answers are kept as Parquet under evaluations/ in the root. Exit code 0: every question was asked; 1: some ended in
    an error; 2: the command or its input is at fault.

    Example:

        daybook evaluate --root memories --benchmark egolifeqa --questions A1_JAKE.json --wearer A1_JAKE --json out.json
    """
    if json is not None and not json.absolute().parent.is_dir():
        raise UsageError(f"--json {json}: there is no folder {json.absolute().parent}")
    asked = Asked.read(questions, wearer, benchmark)
    store = open_store(root)
    manifest = current_manifest(store)
    manifest.entry(wearer)
    respondent = Respondent.of(store, manifest, method)
    evaluation, result, place = run_evaluation(respondent, asked, wearer)
    console.print(render_evaluation(evaluation, asked.file.ledger))
    log.print(f"answers are in {place}", soft_wrap=True)
    if json is not None:
        json.write_text(json_format.dumps(result, ensure_ascii=False, indent=1), encoding="utf-8")
    if has_errors(result):
        raise typer.Exit(1)


if __name__ == "__main__":
    run_app(evaluate)

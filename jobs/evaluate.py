"""Asks a memory the questions of a benchmark and reports how well it answers."""

from __future__ import annotations

import json as json_format
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from jobs.answering import Respondent
from jobs.console import console, ends_well, log, run_app
from jobs.options import DEFAULT_ROOT, MethodOption, RootOption
from ray_tasks.errors import UsageError
from ray_tasks.evaluation.answers import to_table
from ray_tasks.evaluation.egolifeqa import BENCHMARK, QuestionFile, read_egolifeqa
from ray_tasks.evaluation.result import build_result
from ray_tasks.evaluation.runner import Evaluation, evaluate_questions
from ray_tasks.evaluation.table import render_evaluation
from ray_tasks.storage.cache import table_bytes
from ray_tasks.storage.manifests import current_manifest
from ray_tasks.storage.shards import content_key
from ray_tasks.storage.store import ObjectStore, open_store

BENCHMARKS = {BENCHMARK: read_egolifeqa}


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
    if benchmark not in BENCHMARKS:
        raise UsageError(f"--benchmark {benchmark}: known are {', '.join(BENCHMARKS)}")
    if json is not None and not json.absolute().parent.is_dir():
        raise UsageError(f"--json {json}: there is no folder {json.absolute().parent}")
    asked = BENCHMARKS[benchmark](questions, wearer)
    store = open_store(root)
    manifest = current_manifest(store)
    manifest.entry(wearer)
    respondent = Respondent.of(store, manifest, method)
    evaluation, result, place = run_evaluation(respondent, asked, wearer, benchmark)
    console.print(render_evaluation(evaluation, asked.ledger))
    log.print(f"answers are in {place}", soft_wrap=True)
    if json is not None:
        json.write_text(json_format.dumps(result, ensure_ascii=False, indent=1), encoding="utf-8")
    if any(answer.error for answer in evaluation.answers):
        raise typer.Exit(1)


def run_evaluation(
    respondent: Respondent, asked: QuestionFile, wearer: str, benchmark: str
) -> tuple[Evaluation, dict[str, Any], str]:
    """Asks all questions of a file; gives the evaluation, its JSON form and where its answers were stored."""
    memory = respondent.memory(wearer)
    evaluation = evaluate_questions(
        asked.questions, memory, respondent.method, benchmark=benchmark, clock=time.perf_counter
    )
    config = _config(respondent, asked, benchmark)
    result = build_result(evaluation, config, asked.ledger)
    place = _store(respondent.store, evaluation, result, content_key(config)[:16])
    return evaluation, result, place


def _config(respondent: Respondent, asked: QuestionFile, benchmark: str) -> dict[str, Any]:
    return {
        "benchmark": benchmark,
        "questions": asked.path.name,
        "memory_id": respondent.manifest.memory_id,
        "encoder": respondent.manifest.encoder,
        "method": respondent.method.name,
        "settings": asdict(respondent.settings),
    }


def _store(store: ObjectStore, evaluation: Evaluation, result: dict[str, Any], evaluation_id: str) -> str:
    prefix = f"evaluations/{evaluation.benchmark}-{evaluation.wearer}-{evaluation.method}-{evaluation_id}"
    store.write(f"{prefix}/answers.parquet", table_bytes(to_table(evaluation.answers)))
    store.write(f"{prefix}/result.json", json_format.dumps(result, ensure_ascii=False, indent=1).encode())
    return f"{store.url}/{prefix}"


if __name__ == "__main__":
    run_app(evaluate)

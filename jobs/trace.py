"""Shows how one question of a benchmark was answered."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from jobs.answering import Respondent
from jobs.console import console, ends_well, print_json, run_app
from jobs.exams import Asked
from jobs.options import (
    DEFAULT_ROOT,
    ConfigOption,
    JsonOption,
    LlmModelOption,
    LlmUrlOption,
    MethodOption,
    RootOption,
    SetOption,
)
from jobs.question_options import answering_model, read_settings
from ray_tasks.errors import UsageError
from ray_tasks.evaluation.answers import score_answer
from ray_tasks.evaluation.egolifeqa import BENCHMARK
from ray_tasks.evaluation.metrics import overlaps
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.retrieval.registry import model_steps
from ray_tasks.retrieval.trace import Trace, Traceable, interval
from ray_tasks.storage.manifests import current_manifest
from ray_tasks.storage.store import open_store

_NAMED_IN_ERRORS: Final = 12


@ends_well
def trace(
    question: Annotated[str, typer.Argument(help="The question's id, as the results show it.", show_default=False)],
    questions: Annotated[
        Path, typer.Option(help="The benchmark's question file, or the folder that holds it.", show_default=False)
    ],
    wearer: Annotated[str, typer.Option(help="Whose memory is asked.", show_default=False)],
    root: RootOption = DEFAULT_ROOT,
    benchmark: Annotated[
        str, typer.Option(help="The form of the question file: egolifeqa, egor1 or egomem.")
    ] = BENCHMARK,
    method: MethodOption = "egocite",
    set_: SetOption = None,
    llm_url: LlmUrlOption = None,
    llm_model: LlmModelOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Answer one question again and show the way: rounds, queries, scores with S and R apart, pool, what was kept.

    Below the answer stand the key and whether the pool and the kept items hold the target. What a language model was
    asked before is taken from its store of replies, so a trace shows the answer that was evaluated. Exit code 0:
    answered; 1: the question ended in an error; 2: the command or its input is at fault.

    Examples:

        daybook trace 31 --root memories --questions A1_JAKE.json --wearer A1_JAKE

        daybook trace manual-7 --root memories --benchmark egor1 --questions Ego-R1-Bench --wearer A1_JAKE --set
        draft=llm --llm-url http://host:8000/v1 --json
    """
    asked = Asked.read(questions, wearer, benchmark)
    entry = _named(asked, question)
    settings = read_settings(set_ or [])
    asks = model_steps(method, settings)
    model = answering_model(config, llm_url, llm_model, asks=bool(asks), starts=False)
    store = open_store(root)
    manifest = current_manifest(store)
    manifest.entry(wearer)
    respondent = Respondent.of(store, manifest, method, settings, model)
    way = _trace(respondent, entry)
    verdict = judge(entry, way, benchmark, respondent.method.name)
    if json:
        head = {"memory_id": manifest.memory_id, "benchmark": benchmark, "method": respondent.method.name}
        print_json({**head, **way.to_json(), "verdict": verdict})
    else:
        for line in (*way.lines(), *verdict_lines(verdict)):
            console.print(line, markup=False, soft_wrap=True)
    if way.answer.status == "error":
        raise typer.Exit(1)


def judge(entry: BenchmarkQuestion, way: Trace, benchmark: str, method: str) -> dict[str, Any]:
    """What the evaluation makes of a traced answer; times in ms of week time.

    pool_hit beside hit tells whether drafting or sampling lost the target.
    """
    scored = score_answer(entry, way.answer, benchmark=benchmark, method=method, seconds=0.0)
    return {
        "key": entry.answer,
        "predicted": scored.predicted,
        "correct": scored.correct,
        "targets": [list(span) for span in entry.target_spans],
        "pool_hit": overlaps(entry.target_spans, [(item.start_ms, item.end_ms) for item in way.pool]),
        "hit": scored.hit,
        "near_hit": scored.near_hit,
        "evidence_minutes": scored.evidence_minutes,
        "flags": list(entry.flags),
    }


def verdict_lines(verdict: dict[str, Any]) -> list[str]:
    """The judgement for a terminal."""
    right = {True: "right", False: "wrong", None: "not scored"}[verdict["correct"]]
    yes = {True: "yes", False: "no", None: "no target"}
    targets = ", ".join(interval(start, end) for start, end in verdict["targets"]) or "none"
    return [
        f"key: {verdict['key'] or '-'} ({right})",
        f"target: {targets}; in the pool: {yes[verdict['pool_hit']]}; in what was kept: {yes[verdict['hit']]}; "
        f"within 5 minutes: {yes[verdict['near_hit']]}",
    ]


def _named(asked: Asked, question_id: str) -> BenchmarkQuestion:
    """The question of an id; raises UsageError that says why it cannot be asked, or which ids there are."""
    for entry in asked.file.questions:
        if entry.question.question_id == question_id:
            return entry
    for skipped in asked.file.skipped:
        if skipped.question_id == question_id:
            raise UsageError(f"question {question_id} of {asked.file.path} cannot be asked: {skipped.reason}")
    ids = [entry.question.question_id for entry in asked.file.questions]
    more = f" and {len(ids) - _NAMED_IN_ERRORS} more" if len(ids) > _NAMED_IN_ERRORS else ""
    raise UsageError(
        f"{asked.file.path} has no question {question_id}; it has {', '.join(ids[:_NAMED_IN_ERRORS])}{more}"
    )


def _trace(respondent: Respondent, entry: BenchmarkQuestion) -> Trace:
    """The method's own trace, or its answer alone where it cannot tell its way."""
    memory, method = respondent.memory(entry.question.wearer), respondent.method
    if isinstance(method, Traceable):
        return method.trace(entry.question, memory)
    answer = method.answer(entry.question, memory)
    return Trace(entry.question, (), answer.evidence, answer.evidence, (), answer)


if __name__ == "__main__":
    run_app(trace)

"""Asking a memory the questions of a benchmark, and keeping every answer as soon as it is there.

Equal questions, memory, method, settings and code give equal answers, so what an earlier run has stored, also one that
was killed, is taken as it is; only the others are asked.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jobs.answering import Respondent
from jobs.exams import BENCHMARKS, Asked, Exam, has_errors, hits
from ray_tasks.evaluation.answers import ScoredAnswer
from ray_tasks.evaluation.asking import Batch
from ray_tasks.evaluation.one_core import products_on_one_core
from ray_tasks.evaluation.runner import Evaluation, assemble, evaluate_many, evaluate_questions
from ray_tasks.retrieval.types import AsyncMethod

__all__ = ["BENCHMARKS", "Asked", "Exam", "has_errors", "hits", "run_evaluation", "stored_or_run"]

OnBatch = Callable[[Batch], None]


def exam_of(respondent: Respondent, asked: Asked, wearer: str) -> Exam:
    """The evaluation of what a respondent answers to a file."""
    return Exam(respondent.store, respondent.manifest, respondent.choice, asked, wearer)


def run_evaluation(
    respondent: Respondent, asked: Asked, wearer: str, on_batch: OnBatch | None = None
) -> tuple[Evaluation, dict[str, Any], str]:
    """Asks the questions of a file in this process; gives the evaluation, its JSON form and where it was stored."""
    exam = exam_of(respondent, asked, wearer)
    evaluation = ask_here(exam, respondent, exam.answers.load(), on_batch)
    return evaluation, exam.close(evaluation), exam.place


def ask_here(
    exam: Exam, respondent: Respondent, kept: dict[str, ScoredAnswer], on_batch: OnBatch | None = None
) -> Evaluation:
    """Asks in this process what is not kept yet."""
    if not exam.order(kept).questions:
        return all_kept(exam, kept)
    memory, method = respondent.memory(exam.wearer), respondent.method

    def store(batch: Batch) -> None:
        exam.answers.add(batch.answers)
        if on_batch:
            on_batch(batch)

    if not isinstance(method, AsyncMethod):
        with products_on_one_core():
            return evaluate_questions(
                exam.questions,
                memory,
                method,
                clock=time.perf_counter,
                benchmark=exam.asked.benchmark,
                on_batch=store,
                kept=kept,
            )
    model = exam.choice.model
    with products_on_one_core():
        return asyncio.run(
            evaluate_many(
                exam.questions,
                memory,
                method,
                keep=exam.answers.add,
                in_flight=model.concurrency * max(1, len(model.urls)) if model else 1,
                clock=time.perf_counter,
                benchmark=exam.asked.benchmark,
                on_batch=on_batch,
                kept=kept,
            )
        )


def all_kept(exam: Exam, kept: dict[str, ScoredAnswer]) -> Evaluation:
    """An evaluation of which earlier runs have made everything."""
    return assemble(
        exam.questions,
        kept,
        (),
        benchmark=exam.asked.benchmark,
        method=exam.choice.name,
        batch_size=1,
        seconds=0.0,
    )


@dataclass(frozen=True)
class StoredEvaluation:
    """The result of an evaluation, where its answers are, and whether an earlier run had made it."""

    result: dict[str, Any]
    place: str
    kept: bool


def stored_or_run(respondent: Respondent, asked: Asked, wearer: str) -> StoredEvaluation:
    """An evaluation from the store, or run now; a result that cannot be read is made again."""
    exam = exam_of(respondent, asked, wearer)
    result = exam.stored_result()
    if result is not None:
        return StoredEvaluation(result, exam.place, True)
    _, result, place = run_evaluation(respondent, asked, wearer)
    return StoredEvaluation(result, place, False)

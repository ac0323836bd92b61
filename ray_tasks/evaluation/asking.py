"""Asking a method questions in batches and scoring what it answers; no Ray, no files.

A batch that raises is asked again one by one, so that a question that fails costs no other: it is scored wrong, with
its error. Only evidence that breaks a rule, and a method that cannot be asked of this memory at all (UsageError), end
the whole evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ray_tasks.engines.counts import CallCounts
from ray_tasks.errors import UsageError
from ray_tasks.evaluation.answers import ScoredAnswer, score_answer
from ray_tasks.evaluation.metrics import EvidenceError
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.types import Answer, Method, Preparing, Question


@dataclass(frozen=True)
class Batch:
    """Scored answers of some questions, in their order, and what asking them came to.

    failed: whether they had to be asked again one by one. calls: the books of the language model, if there was one.
    """

    answers: tuple[ScoredAnswer, ...]
    failed: bool = False
    calls: CallCounts = field(default_factory=CallCounts)


def cut_batches(questions: Iterable[BenchmarkQuestion], size: int) -> list[tuple[BenchmarkQuestion, ...]]:
    """Questions in batches, by the time at which they are asked, so that early ones go without what came late.

    Raises ValueError for a size below 1.
    """
    if size < 1:
        raise ValueError(f"batch_size must be at least 1, not {size}")
    in_order = sorted(questions, key=lambda entry: entry.question.at_ms)
    return [tuple(in_order[first : first + size]) for first in range(0, len(in_order), size)]


def prepare_batches(batches: Sequence[Sequence[BenchmarkQuestion]], method: Method) -> None:
    """Has a method that can prepare itself do so for the questions of some batches."""
    if isinstance(method, Preparing):
        # What fails here fails again when the question is asked, where its error is kept.
        with suppress(Exception):
            method.prepare([entry.question for batch in batches for entry in batch])


def answer_batch(
    batch: Sequence[BenchmarkQuestion],
    memory: WearerMemory,
    method: Method,
    *,
    clock: Callable[[], float],
    benchmark: str,
) -> Batch:
    """Asks questions of one wearer together and scores what comes back; those of a batch that fails one by one.

    The time of a batch is shared equally among its questions. Raises CausalityError, EvidenceError or UsageError.
    """
    timed = _ask_together([entry.question for entry in batch], memory, method, clock)
    failed = timed is None
    if timed is None:
        timed = [_ask_alone(entry.question, memory, method, clock) for entry in batch]
    scored = tuple(
        score_answer(entry, answer, benchmark=benchmark, method=method.name, seconds=seconds)
        for entry, (answer, seconds) in zip(batch, timed, strict=True)
    )
    return Batch(scored, failed)


def _ask_together(
    questions: list[Question], memory: WearerMemory, method: Method, clock: Callable[[], float]
) -> list[tuple[Answer, float]] | None:
    """Answers of a batch and the seconds of each, None where the batch failed or came back with other questions.

    Answers are joined by question id, never by position.
    """
    begun = clock()
    try:
        answers = method.answer_many(questions, memory)
        by_id = {answer.question_id: answer for answer in answers}
    except (EvidenceError, UsageError):
        raise
    except Exception:  # noqa: BLE001 - whatever fails here, the questions are asked again one by one, where it is kept
        return None
    seconds = (clock() - begun) / len(questions)
    if len(answers) != len(questions) or by_id.keys() != {question.question_id for question in questions}:
        return None
    return [(by_id[question.question_id], seconds) for question in questions]


def _ask_alone(
    question: Question, memory: WearerMemory, method: Method, clock: Callable[[], float]
) -> tuple[Answer, float]:
    """The answer to one question and its seconds; an exception becomes an answer with status "error"."""
    begun = clock()
    try:
        answer = method.answer(question, memory)
        if answer.question_id != question.question_id:
            answer = failure(question, f"the method answered question {answer.question_id} instead")
    except (EvidenceError, UsageError):
        raise
    except Exception as error:  # noqa: BLE001 - one failing question must not cost the others; its error is kept
        answer = failure(question, f"{type(error).__name__}: {error}")
    return answer, clock() - begun


def failure(question: Question, message: str) -> Answer:
    """The answer of a question that could not be asked, or that no answer came to."""
    return Answer(question.question_id, None, (), status="error", text=message)

"""Asking a method the questions of a benchmark and scoring what it answers; no Ray, no files.

Questions go to the method in batches. A batch that raises is asked again one by one, so that a question that fails
costs no other: it is scored wrong, with its error. Only evidence that breaks a rule ends the whole evaluation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ray_tasks.evaluation import aggregate
from ray_tasks.evaluation.answers import ScoredAnswer, score_answer
from ray_tasks.evaluation.duplicates import DuplicateReport, report_duplicates
from ray_tasks.evaluation.metrics import EvidenceError
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.types import Answer, Method, Question

DEFAULT_BATCH: Final = 32


@dataclass(frozen=True)
class Evaluation:
    """The scored answers of one wearer's questions, in their order, and the figures over them.

    seconds: wall time of the whole run. failed_batches: batches that had to be asked again one by one.
    """

    benchmark: str
    wearer: str
    method: str
    questions: tuple[BenchmarkQuestion, ...]
    answers: tuple[ScoredAnswer, ...]
    seconds: float
    batch_size: int
    failed_batches: int = 0

    @cached_property
    def overall(self) -> aggregate.Summary:
        """Figures over all questions."""
        return aggregate.summarise(self.answers)

    @cached_property
    def by_category(self) -> dict[str, aggregate.Summary]:
        """Figures of each category that occurs."""
        return aggregate.summarise_by_category(self.answers)

    @cached_property
    def by_time_aware(self) -> dict[str, aggregate.Summary]:
        """Figures of time-aware ("yes") and time-unaware ("no") questions."""
        return aggregate.summarise_by_time_aware(self.answers)

    @cached_property
    def duplicates(self) -> DuplicateReport:
        """Questions asked more than once, and accuracy by unique question."""
        return report_duplicates(self.questions, {answer.question_id: answer for answer in self.answers})

    @property
    def unanswered(self) -> int:
        """Questions for which no letter counts: declined, unparsed or failed."""
        return sum(answer.predicted is None for answer in self.answers)


def evaluate_questions(
    questions: Sequence[BenchmarkQuestion],
    memory: WearerMemory,
    method: Method,
    *,
    clock: Callable[[], float],
    benchmark: str = "egolifeqa",
    on_answer: Callable[[ScoredAnswer], None] | None = None,
    batch_size: int = DEFAULT_BATCH,
) -> Evaluation:
    """Asks and scores one wearer's questions.

    clock: seconds, for example time.perf_counter. The time of a batch is shared equally among its questions; pass
    batch_size 1 to time each alone. on_answer is called after every scored answer, in the order of the questions.
    Raises CausalityError or EvidenceError where the method breaks a rule, ValueError where ids repeat or the questions
    belong to several wearers.
    """
    _check_questions(questions, batch_size)
    begun = clock()
    scored: list[ScoredAnswer] = []
    failed_batches = 0
    for first in range(0, len(questions), batch_size):
        batch = questions[first : first + batch_size]
        timed = _ask_together([entry.question for entry in batch], memory, method, clock)
        if timed is None:
            failed_batches += 1
            timed = [_ask_alone(entry.question, memory, method, clock) for entry in batch]
        for entry, (answer, seconds) in zip(batch, timed, strict=True):
            scored.append(score_answer(entry, answer, benchmark=benchmark, method=method.name, seconds=seconds))
            if on_answer:
                on_answer(scored[-1])
    wearer = questions[0].question.wearer if questions else ""
    return Evaluation(
        benchmark=benchmark,
        wearer=wearer,
        method=method.name,
        questions=tuple(questions),
        answers=tuple(scored),
        seconds=clock() - begun,
        batch_size=batch_size,
        failed_batches=failed_batches,
    )


def _check_questions(questions: Sequence[BenchmarkQuestion], batch_size: int) -> None:
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, not {batch_size}")
    counts = Counter(entry.question.question_id for entry in questions)
    if repeated := sorted(question_id for question_id, count in counts.items() if count > 1):
        raise ValueError(f"question ids occur more than once: {', '.join(repeated)}")
    if len(wearers := {entry.question.wearer for entry in questions}) > 1:
        raise ValueError(f"questions of several wearers ({', '.join(sorted(wearers))}); evaluate one at a time")


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
    except EvidenceError:
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
            answer = _failure(question, f"the method answered question {answer.question_id} instead")
    except EvidenceError:
        raise
    except Exception as error:  # noqa: BLE001 - one failing question must not cost the others; its error is kept
        answer = _failure(question, f"{type(error).__name__}: {error}")
    return answer, clock() - begun


def _failure(question: Question, message: str) -> Answer:
    return Answer(question.question_id, None, (), status="error", text=message)

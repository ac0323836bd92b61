"""The evaluation of one wearer's questions: asked here, or put together from answers that came from elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.steps import gather
from ray_tasks.evaluation import aggregate
from ray_tasks.evaluation.answers import ScoredAnswer
from ray_tasks.evaluation.asking import Batch, answer_batch, cut_batches, prepare_batches
from ray_tasks.evaluation.asking_many import Keep, ManyAsker, Turns
from ray_tasks.evaluation.duplicates import DuplicateReport, report_duplicates
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.types import Method

DEFAULT_BATCH: Final = 32
PREPARED: Final = 16
"""Batches that a method may prepare itself for at once."""
MANY_BATCH: Final = 8
"""Questions of which progress is told together where each is asked by itself."""


@dataclass(frozen=True)
class Evaluation:
    """The scored answers of one wearer's questions, in their order, and the figures over them.

    seconds: wall time of this run. failed_batches: batches that had to be asked again one by one. kept: answers that an
    earlier run had stored. calls: the books of the language model for the others.
    """

    benchmark: str
    wearer: str
    method: str
    # Not in repr: asyncio writes out the result of a main task, which takes a second for thousands of answers.
    questions: tuple[BenchmarkQuestion, ...] = field(repr=False)
    answers: tuple[ScoredAnswer, ...] = field(repr=False)
    seconds: float
    batch_size: int
    failed_batches: int = 0
    kept: int = 0
    calls: CallCounts = field(default_factory=CallCounts)

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
    on_batch: Callable[[Batch], None] | None = None,
    batch_size: int = DEFAULT_BATCH,
    kept: Mapping[str, ScoredAnswer] | None = None,
) -> Evaluation:
    """Asks and scores one wearer's questions, all but those whose answers were `kept` from an earlier run.

    clock: seconds, for example time.perf_counter. Pass batch_size 1 to time each question alone. on_batch is called
    after every batch. Raises CausalityError or EvidenceError where the method breaks a rule, ValueError where ids
    repeat or the questions belong to several wearers.
    """
    check_questions(questions)
    begun = clock()
    known = dict(kept or {})
    batches: list[Batch] = []
    left = cut_batches((entry for entry in questions if entry.question.question_id not in known), batch_size)
    for number, entries in enumerate(left):
        if number % PREPARED == 0:
            prepare_batches(left[number : number + PREPARED], method)
        batches.append(answer_batch(entries, memory, method, clock=clock, benchmark=benchmark))
        if on_batch:
            on_batch(batches[-1])
    return assemble(
        questions,
        known,
        batches,
        benchmark=benchmark,
        method=method.name,
        batch_size=batch_size,
        seconds=clock() - begun,
    )


async def evaluate_many(
    questions: Sequence[BenchmarkQuestion],
    memory: WearerMemory,
    method: Method,
    *,
    keep: Keep,
    in_flight: int,
    clock: Callable[[], float],
    benchmark: str = "egolifeqa",
    on_batch: Callable[[Batch], None] | None = None,
    kept: Mapping[str, ScoredAnswer] | None = None,
) -> Evaluation:
    """The same with up to `in_flight` questions under way, for a method that waits for a language model.

    `keep` stores answers as they come; on_batch is called when that has been done. Raises what evaluate_questions does,
    and StoreError.
    """
    check_questions(questions)
    begun = clock()
    known = dict(kept or {})
    asker = ManyAsker(method, benchmark, keep, Turns(in_flight), clock)

    async def ask(entries: tuple[BenchmarkQuestion, ...]) -> Batch:
        batch = await asker.ask(entries, memory)
        if on_batch:
            on_batch(batch)
        return batch

    left = [entry for entry in questions if entry.question.question_id not in known]
    batches = await gather(ask(entries) for entries in cut_batches(left, MANY_BATCH))
    return assemble(
        questions, known, batches, benchmark=benchmark, method=method.name, batch_size=1, seconds=clock() - begun
    )


def assemble(
    questions: Sequence[BenchmarkQuestion],
    kept: Mapping[str, ScoredAnswer],
    batches: Iterable[Batch],
    *,
    benchmark: str,
    method: str,
    batch_size: int,
    seconds: float,
) -> Evaluation:
    """One wearer's evaluation from kept answers and those of all batches; raises KeyError where one is missing."""
    done = list(batches)
    answers = {**kept, **{answer.question_id: answer for batch in done for answer in batch.answers}}
    calls = CallCounts()
    for batch in done:
        calls.add(batch.calls)
    return Evaluation(
        benchmark=benchmark,
        wearer=questions[0].question.wearer if questions else "",
        method=method,
        questions=tuple(questions),
        answers=tuple(answers[entry.question.question_id] for entry in questions),
        seconds=seconds,
        batch_size=batch_size,
        failed_batches=sum(batch.failed for batch in done),
        kept=sum(entry.question.question_id in kept for entry in questions),
        calls=calls,
    )


def check_questions(questions: Sequence[BenchmarkQuestion]) -> None:
    """Raises ValueError where ids repeat or the questions belong to several wearers."""
    counts = Counter(entry.question.question_id for entry in questions)
    if repeated := sorted(question_id for question_id, count in counts.items() if count > 1):
        raise ValueError(f"question ids occur more than once: {', '.join(repeated)}")
    if len(wearers := {entry.question.wearer for entry in questions}) > 1:
        raise ValueError(f"questions of several wearers ({', '.join(sorted(wearers))}); evaluate one at a time")

"""Making many evaluations in one run: here one after another, or on Ray all at once."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from jobs.answering import Respondent
from jobs.asking_progress import AskingProgress
from jobs.console import log
from jobs.evaluating import all_kept, ask_here
from jobs.exams import Exam
from ray_tasks.evaluation.answers import ScoredAnswer
from ray_tasks.evaluation.asking import Batch
from ray_tasks.evaluation.runner import Evaluation, assemble
from ray_tasks.scheduling.asking_actor import VOID, Order, Source
from ray_tasks.scheduling.asking_source import MemorySource
from ray_tasks.scheduling.session import Cluster

RAY_FROM: Final = 1000
"""Questions from which starting Ray, which takes seconds, is worth it on one machine."""


@dataclass
class Outcome:
    """What became of an evaluation: its figures and its result, or why it is void."""

    exam: Exam
    kept: dict[str, ScoredAnswer]
    evaluation: Evaluation | None = None
    result: dict[str, Any] | None = None
    fault: str | None = None

    @property
    def order(self) -> Order:
        """What is left to ask."""
        return self.exam.order(self.kept)

    @property
    def failed(self) -> bool:
        """Whether it is void, or a question ended in an error."""
        return self.evaluation is None or any(answer.error for answer in self.evaluation.answers)

    def close(self, evaluation: Evaluation) -> None:
        """Stores the result; that of an earlier run stays as it is where nothing was asked."""
        self.evaluation = evaluation
        stored = self.exam.stored_result() if evaluation.kept == len(evaluation.questions) else None
        self.result = stored or self.exam.close(evaluation)

    def to_json(self) -> dict[str, Any]:
        """The result, or what there is to say instead."""
        names = {"benchmark": self.exam.asked.benchmark, "wearer": self.exam.wearer, "method": self.exam.choice.name}
        return self.result or {**names, "fault": self.fault}


def run_exams(
    exams: Sequence[Exam], progress: AskingProgress, *, cpus: int | None = None, again: bool = False
) -> list[Outcome]:
    """Makes evaluations of one memory, in their order; only `again` asks what earlier runs have answered.

    On Ray where `cpus` are named, a cluster is at hand, a language model has to be started, or there are very many
    questions. A fault makes its own evaluation void and no other.
    """
    if again:
        for exam in exams:
            exam.forget()
    outcomes = [Outcome(exam, exam.answers.load()) for exam in exams]
    left = sum(len(outcome.order.questions) for outcome in outcomes)
    progress.begin(sum(len(exam.questions) for exam in exams), left)
    for outcome in outcomes:
        if not outcome.order.questions:
            outcome.close(all_kept(outcome.exam, outcome.kept))
    todo = [outcome for outcome in outcomes if outcome.evaluation is None]
    if todo and _wants_ray(todo, left, cpus):
        with _cluster(todo, cpus) as (cluster, orders):
            manifest = todo[0].exam.manifest
            source = MemorySource(todo[0].exam.store.url, manifest.memory_id, threads=1)
            ask_on_ray(todo, orders, source, cluster, progress)
    else:
        ask_in_turn(todo, progress)
    return outcomes


def ask_in_turn(outcomes: Sequence[Outcome], progress: AskingProgress) -> None:
    """Makes evaluations in this process, one after another."""
    for outcome in outcomes:
        exam, choice = outcome.exam, outcome.exam.choice
        try:
            respondent = Respondent.of(
                exam.store, exam.manifest, choice.name, choice.settings, choice.model, keep_queries=True
            )
            outcome.close(ask_here(exam, respondent, outcome.kept, lambda batch: progress.answered(batch.answers)))
        except VOID as error:
            outcome.fault = str(error)
            progress.void(exam.title, outcome.fault)


def ask_on_ray(
    outcomes: Sequence[Outcome], orders: Sequence[Order], source: Source, cluster: Cluster, progress: AskingProgress
) -> None:
    """Makes evaluations on Ray at the same time; each is closed when the last of its questions is answered."""
    from ray_tasks.scheduling.asking import ask_orders, piece_size

    begun = time.perf_counter()
    batches: list[list[Batch]] = [[] for _ in orders]
    for asked in ask_orders(orders, source, cluster):
        outcome, order, done = outcomes[asked.order], orders[asked.order], batches[asked.order]
        if asked.fault is not None:
            outcome.fault = asked.fault
            progress.void(outcome.exam.title, asked.fault)
            continue
        done.append(Batch(asked.answers, asked.failed, asked.calls))
        progress.answered(asked.answers)
        if sum(len(batch.answers) for batch in done) == len(order.questions):
            outcome.close(
                assemble(
                    outcome.exam.questions,
                    outcome.kept,
                    done,
                    benchmark=order.benchmark,
                    method=order.choice.name,
                    batch_size=1 if order.choice.model else piece_size(order),
                    seconds=time.perf_counter() - begun,
                )
            )


def _wants_ray(outcomes: Sequence[Outcome], left: int, cpus: int | None) -> bool:
    joined = os.environ.get("RAY_ADDRESS", "local") not in ("", "local")
    models = [outcome.exam.choice.model for outcome in outcomes]
    return cpus is not None or joined or left >= RAY_FROM or any(model and not model.urls for model in models)


@contextmanager
def _cluster(outcomes: Sequence[Outcome], cpus: int | None) -> Iterator[tuple[Cluster, list[Order]]]:
    """A Ray cluster, and what is to be asked on it, with the addresses of models that the job has started itself."""
    from ray_tasks.engines.serve import serving
    from ray_tasks.scheduling.session import check_shared, ray_session

    with ray_session(cpus) as cluster, ExitStack() as stack:
        check_shared(outcomes[0].exam.store)
        orders = []
        up: dict[str, Any] = {}
        for outcome in outcomes:
            order = outcome.order
            model = order.choice.model
            if model is not None:
                name = model.model_dump_json()
                if name not in up:
                    up[name] = stack.enter_context(serving(model, lambda text: log.print(text, soft_wrap=True)))
                order = replace(order, choice=replace(order.choice, model=up[name]))
            orders.append(order)
        yield cluster, orders

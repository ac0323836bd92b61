"""How well the fan-out of evaluations keeps questions under way, with a method that only waits.

Every question waits `--delay` seconds, as for a language model, and does nothing else, so that all time beyond the
ideal one is the fan-out's own: turns, scoring, storing every answer, and with --cpus also Ray's messages. `ideal_s` is
questions / in flight x delay.

    python -m benchmarks.asking
    python -m benchmarks.asking --questions 6400 --delay 0.05 --in-flight 64 --cpus 2
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.evaluation.kept import KeptAnswers
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.evaluation.runner import evaluate_many
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.types import Answer, Evidence, Method, Question
from ray_tasks.scheduling.asking_actor import MethodChoice, Order
from ray_tasks.storage.local import LocalStore
from ray_tasks.storage.store import ObjectStore

NOTHING: Any = object()
"""Stands for a memory that nobody looks into."""


def main() -> None:
    """Measures and prints one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=3200, help="questions of a run (default 3200)")
    parser.add_argument("--delay", type=float, default=0.05, help="seconds that a question waits (default 0.05)")
    parser.add_argument("--in-flight", type=int, default=64, help="questions under way at once (default 64)")
    parser.add_argument("--cpus", type=int, default=0, help="ask on Ray with so many CPUs (default: in this process)")
    given = parser.parse_args()
    questions = make_questions(given.questions)
    with tempfile.TemporaryDirectory() as root:
        if given.cpus:
            seconds, answered = on_ray(questions, given.delay, given.in_flight, given.cpus, root)
        else:
            seconds, answered = here(questions, given.delay, given.in_flight, root)
        kept = len(KeptAnswers(LocalStore(Path(root)), "evaluations/waiting").load())
    ideal = given.questions / given.in_flight * given.delay
    found = {
        "questions": given.questions,
        "answered": answered,
        "kept": kept,
        "in_flight": given.in_flight,
        "seconds": round(seconds, 3),
        "ideal_s": round(ideal, 3),
        "share_of_ideal": round(ideal / seconds, 3),
    }
    sys.stdout.write(json.dumps(found, indent=1) + "\n")


def make_questions(count: int) -> tuple[BenchmarkQuestion, ...]:
    """Questions of one wearer, one after another in time."""
    choices = tuple((label, f"In place {label}") for label in "ABCD")
    return tuple(
        BenchmarkQuestion(
            Question(str(number), "B1_MARA", 10_000_000 + 1000 * number, f"Where did I put thing {number}?", choices),
            "A",
            (5_000_000,),
            "EntityLog",
            "EntityLog",
        )
        for number in range(count)
    )


@dataclass(frozen=True)
class Waiting:
    """A method that waits, then answers with fifteen items of evidence."""

    delay: float
    name: str = "waiting"

    def answer(self, question: Question, memory: WearerMemory) -> Answer:  # noqa: ARG002
        """See Method."""
        time.sleep(self.delay)
        return _answer(question)

    def answer_many(self, questions: Iterable[Question], memory: WearerMemory) -> list[Answer]:
        """See Method."""
        return [self.answer(question, memory) for question in questions]

    async def answer_async(self, question: Question, memory: WearerMemory, counts: CallCounts) -> Answer:  # noqa: ARG002
        """See AsyncMethod."""
        await asyncio.sleep(self.delay)
        return _answer(question)


def _answer(question: Question) -> Answer:
    items = tuple(
        Evidence(f"action:{number}", "action", 30_000 * number, 30_000 * number + 30_000, "I put it there.", 0.5)
        for number in range(15)
    )
    return Answer(question.question_id, "A", items)


@dataclass(frozen=True)
class WaitingSource:
    """What actors are given: no memory, and the method that waits."""

    root: str
    delay: float

    @cached_property
    def store(self) -> ObjectStore:
        """See Source."""
        return LocalStore(Path(self.root))

    def memory(self, wearer: str) -> WearerMemory:  # noqa: ARG002
        """See Source."""
        return NOTHING  # type: ignore[no-any-return]

    def method(self, choice: MethodChoice, in_flight: int) -> Method:  # noqa: ARG002
        """See Source."""
        return Waiting(self.delay)


def here(questions: tuple[BenchmarkQuestion, ...], delay: float, in_flight: int, root: str) -> tuple[float, int]:
    """Seconds and answers of a run in this process."""
    kept = KeptAnswers(LocalStore(Path(root)), "evaluations/waiting")
    evaluation = asyncio.run(
        evaluate_many(questions, NOTHING, Waiting(delay), keep=kept.add, in_flight=in_flight, clock=time.perf_counter)
    )
    return evaluation.seconds, len(evaluation.answers)


def on_ray(
    questions: tuple[BenchmarkQuestion, ...], delay: float, in_flight: int, cpus: int, root: str
) -> tuple[float, int]:
    """The same on Ray, from the moment at which every actor has answered once."""
    from ray_tasks.scheduling.asking import ask_orders
    from ray_tasks.scheduling.session import ray_session

    model = ChatSettings(model="waiting", urls=("http://127.0.0.1:1",), concurrency=in_flight)
    order = Order("evaluations/waiting", "egolifeqa", "B1_MARA", MethodChoice("waiting", model=model), questions)
    with ray_session(cpus) as cluster:
        begun, first, answered, early = time.perf_counter(), 0.0, 0, 0
        for asked in ask_orders([order], WaitingSource(root, delay), cluster):
            answered += len(asked.answers)
            if not first and answered >= 2 * in_flight:
                first, early = time.perf_counter(), answered
        ended = time.perf_counter()
    if not first:
        return ended - begun, answered
    return (ended - first) * answered / (answered - early), answered


if __name__ == "__main__":
    main()

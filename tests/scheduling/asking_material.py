"""Questions, and what answers them on Ray, for the tests of actors that answer."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.types import Answer, Evidence, Method, Question
from ray_tasks.scheduling.asking_actor import MethodChoice, Order
from ray_tasks.storage.store import LocalStore, ObjectStore, StoreError

MODEL = ChatSettings(model="scripted", urls=("http://127.0.0.1:1",), concurrency=8)


def make_order(wearer: str, count: int, *, model: ChatSettings | None = None, first: int = 0) -> Order:
    """An order of so many questions."""
    choices = tuple((label, f"thing {label}") for label in "ABCD")
    questions = tuple(
        BenchmarkQuestion(
            Question(str(number), wearer, 1_000_000 + number, f"Where is thing {number}?", choices),
            "A",
            (500_000,),
            "EntityLog",
            "EntityLog",
        )
        for number in range(first, first + count)
    )
    return Order(f"evaluations/{wearer}", "egolifeqa", wearer, MethodChoice("scripted", model=model), questions)


class Scripted:
    """Answers at once; what a question's number is may make it fail, or kill its process."""

    name = "scripted"

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def answer(self, question: Question, memory: WearerMemory) -> Answer:
        """See Method."""
        number = int(question.question_id)
        self._store.write(f"asked/{question.wearer}/{number}/{time.time_ns()}", b"", durable=False)
        if question.wearer.startswith("DEADLY") and number == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 7:
            raise RuntimeError("a bad question")
        later = question.wearer.startswith("FUTURE")
        end = question.at_ms + 1 if later else question.at_ms
        return Answer(question.question_id, "A", (Evidence("x", "action", 400_000, end, "I look.", 0.5),))

    def answer_many(self, questions: Sequence[Question], memory: WearerMemory) -> list[Answer]:
        """See Method."""
        return [self.answer(question, memory) for question in questions]


class Waiting(Scripted):
    """The same for a method that waits for a model."""

    async def answer_async(self, question: Question, memory: WearerMemory, counts: CallCounts) -> Answer:
        """See AsyncMethod."""
        return self.answer(question, memory)


@dataclass(frozen=True)
class ScriptedSource:
    """A source whose memories are nothing at all."""

    root: str

    @cached_property
    def store(self) -> ObjectStore:
        """See Source."""
        return LocalStore(Path(self.root))

    def memory(self, wearer: str) -> WearerMemory:
        """See Source."""
        if wearer.startswith("DAMAGED"):
            raise StoreError("the memory lacks a file")
        nothing: Any = object()
        return nothing  # type: ignore[no-any-return]

    def method(self, choice: MethodChoice, in_flight: int) -> Method:
        """See Source."""
        return Waiting(self.store) if choice.model else Scripted(self.store)

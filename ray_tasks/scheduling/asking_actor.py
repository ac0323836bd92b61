"""An actor that answers questions: memories, encoder and clients are opened once, and many questions are under way.

Vectors of a memory are memory-mapped, so the actors of one machine share them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.errors import DaybookError
from ray_tasks.evaluation.answers import ScoredAnswer
from ray_tasks.evaluation.asking_many import ManyAsker, Turns
from ray_tasks.evaluation.kept import KeptAnswers
from ray_tasks.evaluation.metrics import EvidenceError
from ray_tasks.evaluation.one_core import products_on_one_core
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.types import Method
from ray_tasks.storage.store import ObjectStore

MEMORIES_AT_HAND = 2
"""Memories that an actor keeps open; the one that was used longest ago is let go for another."""

VOID = (DaybookError, EvidenceError)
"""What makes a whole evaluation void, but not the others beside it: a damaged memory, a method that breaks a rule."""


@dataclass(frozen=True)
class MethodChoice:
    """A method by name, with its settings and the language model that it asks, if any."""

    name: str
    settings: RetrievalSettings = field(default_factory=RetrievalSettings)
    model: ChatSettings | None = None


@dataclass(frozen=True)
class Order:
    """An evaluation to be made: where its answers go, and the questions that are left to ask of one wearer."""

    prefix: str
    benchmark: str
    wearer: str
    choice: MethodChoice
    questions: tuple[BenchmarkQuestion, ...]


@dataclass(frozen=True)
class Asked:
    """What came of some questions: their answers, or why their whole evaluation is void."""

    order: int
    answers: tuple[ScoredAnswer, ...] = ()
    failed: bool = False
    calls: CallCounts = field(default_factory=CallCounts)
    fault: str | None = None


class Source(Protocol):
    """Opens what an actor needs; made on the driver and sent to every actor."""

    @property
    def store(self) -> ObjectStore:
        """The store of the root."""
        ...

    def memory(self, wearer: str) -> WearerMemory:
        """A wearer's memory, checked and loaded."""
        ...

    def method(self, choice: MethodChoice, in_flight: int) -> Method:
        """A method; a client of a language model that it has may have so many calls under way."""
        ...


class AskingActor:
    """Answers pieces of several evaluations; as many pieces at once as the driver sends."""

    def __init__(self, source: Source, orders: Sequence[Order], in_flight: int) -> None:
        products_on_one_core()
        self._source, self._in_flight = source, in_flight
        self._orders = orders
        self._askers: dict[int, ManyAsker] = {}
        self._methods: dict[str, Method] = {}
        self._memories: dict[str, WearerMemory] = {}
        self._turns: Turns | None = None
        self._opening = asyncio.Lock()

    async def ask(self, order: int, questions: Sequence[BenchmarkQuestion]) -> Asked:
        """Asks questions of one evaluation and stores what comes back."""
        try:
            async with self._opening:
                memory = await asyncio.to_thread(self._memory, self._orders[order].wearer)
                asker = await asyncio.to_thread(self._asker, order)
            done = await asker.ask(questions, memory)
        except VOID as error:
            return Asked(order, fault=str(error))
        return Asked(order, done.answers, done.failed, done.calls)

    def _memory(self, wearer: str) -> WearerMemory:
        memory = self._memories.pop(wearer, None) or self._source.memory(wearer)
        self._memories[wearer] = memory
        while len(self._memories) > MEMORIES_AT_HAND:
            del self._memories[next(iter(self._memories))]
        return memory

    def _asker(self, number: int) -> ManyAsker:
        if number not in self._askers:
            order = self._orders[number]
            name = repr(order.choice)
            if name not in self._methods:
                self._methods[name] = self._source.method(order.choice, self._in_flight)
            self._turns = self._turns or Turns(self._in_flight)
            keep = KeptAnswers(self._source.store, order.prefix).add
            method = self._methods[name]
            self._askers[number] = ManyAsker(method, order.benchmark, keep, self._turns, time.perf_counter)
        return self._askers[number]

"""Asking many questions at once of a method that waits for a language model; others are asked batch by batch.

Every answer goes to the store as soon as it is there, those of a moment together, so that a process which is killed
loses no more than that moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import UnreachableError
from ray_tasks.engines.steps import gather
from ray_tasks.evaluation.answers import ScoredAnswer, score_answer
from ray_tasks.evaluation.asking import Batch, answer_batch, failure
from ray_tasks.evaluation.metrics import EvidenceError
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.types import Answer, AsyncMethod, Method, Question

KEEP_WITHIN_S: Final = 0.3
"""How long an answer may wait for others with which it is stored."""

Keep = Callable[[Sequence[ScoredAnswer]], None]
"""Stores answers; called from a thread beside the event loop."""


class Turns:
    """How many questions may be under way at once, and whether their model still answers.

    Shared by all that ask the same model. Once as many questions in a row as may be under way found no endpoint,
    `gone` says so, and the others are not asked any more.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.under_way = asyncio.Semaphore(most)
        self._unreachable = 0

    @property
    def gone(self) -> bool:
        """Whether asking has become useless."""
        return self._unreachable >= self.most

    def note(self, *, reached: bool) -> None:
        """Notes whether a question found an endpoint."""
        self._unreachable = 0 if reached else self._unreachable + 1


class ManyAsker:
    """Asks one method questions of a benchmark; batches may be asked at the same time, on one event loop."""

    def __init__(self, method: Method, benchmark: str, keep: Keep, turns: Turns, clock: Callable[[], float]) -> None:
        self._method, self._benchmark, self._clock = method, benchmark, clock
        self._keep, self._turns = keep, turns
        self._fresh: list[ScoredAnswer] = []
        self._storing: asyncio.Task[None] | None = None
        self._writes: list[asyncio.Future[None]] = []

    async def ask(self, batch: Sequence[BenchmarkQuestion], memory: WearerMemory) -> Batch:
        """The scored answers of one wearer's questions, in their order, all of them stored.

        Raises CausalityError or EvidenceError where the method breaks a rule, StoreError where nothing can be stored.
        """
        method = self._method
        if not isinstance(method, AsyncMethod):
            done = answer_batch(batch, memory, method, clock=self._clock, benchmark=self._benchmark)
            await asyncio.to_thread(self._keep, done.answers)
            return done
        counts = CallCounts()
        try:
            answers = await gather(self._ask_one(method, entry, memory, counts) for entry in batch)
        finally:
            await self._store_now()
        return Batch(tuple(answers), calls=counts)

    async def _ask_one(
        self, method: AsyncMethod, entry: BenchmarkQuestion, memory: WearerMemory, counts: CallCounts
    ) -> ScoredAnswer:
        async with self._turns.under_way:
            begun = self._clock()
            answer = await self._answer(method, entry.question, memory, counts)
            seconds = self._clock() - begun
        scored = score_answer(entry, answer, benchmark=self._benchmark, method=self._method.name, seconds=seconds)
        self._fresh.append(scored)
        if self._storing is None:
            self._storing = asyncio.create_task(self._store_soon())
        return scored

    async def _answer(
        self, method: AsyncMethod, question: Question, memory: WearerMemory, counts: CallCounts
    ) -> Answer:
        """The answer to one question; an exception becomes an answer with status "error"."""
        if self._turns.gone:
            return failure(question, "not asked: no endpoint of the language model could be reached")
        try:
            answer = await method.answer_async(question, memory, counts)
        except EvidenceError:
            raise
        except Exception as error:  # noqa: BLE001 - one failing question must not cost the others; its error is kept
            self._turns.note(reached=not isinstance(error, UnreachableError))
            return failure(question, f"{type(error).__name__}: {error}")
        self._turns.note(reached=True)
        if answer.question_id != question.question_id:
            return failure(question, f"the method answered question {answer.question_id} instead")
        return answer

    async def _store_soon(self) -> None:
        await asyncio.sleep(KEEP_WITHIN_S)
        self._store()

    def _store(self) -> None:
        """Begins to store what is there; what comes from now on gets a task of its own."""
        fresh, self._fresh, self._storing = self._fresh, [], None
        if fresh:
            self._writes.append(asyncio.ensure_future(asyncio.to_thread(self._keep, fresh)))

    async def _store_now(self) -> None:
        """Stores what is there without waiting for more; raises what went wrong, also with what was stored before."""
        if self._storing is not None:
            self._storing.cancel()
        self._store()
        writes, self._writes = self._writes, []
        await asyncio.gather(*writes)

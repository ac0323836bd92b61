"""One embedder for many questions: together, one at a time, and with errors where they belong."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

from ray_tasks.retrieval.llm.embedding import SharedEmbed
from ray_tasks.retrieval.types import FloatMatrix
from tests.retrieval.small_memory import embed


class Slow:
    """An embedder that waits until it may go on, and notes what it was asked."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.may = threading.Event()
        self.inside = 0
        self.most = 0

    def __call__(self, texts: list[str]) -> FloatMatrix:
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.batches.append(texts)
        self.may.wait(30)
        self.inside -= 1
        if "bad" in texts:
            raise ValueError("no such word")
        return embed(texts)


def test_queries_that_wait_are_embedded_together_and_each_gets_its_own() -> None:
    slow = Slow()
    shared = SharedEmbed(slow)

    async def ask() -> list[FloatMatrix]:
        first = asyncio.ensure_future(shared.one("first"))
        while not slow.batches:
            await asyncio.sleep(0.001)
        rest = [asyncio.ensure_future(shared.one(f"word {number}")) for number in range(20)]
        await asyncio.sleep(0.01)
        slow.may.set()
        return await asyncio.gather(first, *rest)

    vectors = asyncio.run(ask())
    assert np.array_equal(vectors, embed(["first", *(f"word {number}" for number in range(20))]))
    assert [len(batch) for batch in slow.batches] == [1, 20]
    assert slow.most == 1


def test_threads_and_queries_never_use_the_embedder_at_once() -> None:
    slow = Slow()
    slow.may.set()
    shared = SharedEmbed(slow)

    async def ask() -> None:
        waits = [asyncio.to_thread(shared, [f"text {number}"]) for number in range(8)]
        await asyncio.gather(*waits, *(shared.one(f"query {number}") for number in range(8)))

    asyncio.run(ask())
    assert slow.most == 1


def test_an_error_reaches_those_who_asked_and_the_next_ones_are_served() -> None:
    slow = Slow()
    slow.may.set()
    shared = SharedEmbed(slow)
    with pytest.raises(ValueError, match="no such word"):
        asyncio.run(shared.one("bad"))
    assert asyncio.run(shared.one("good")).shape == (48,)


def test_one_who_gives_up_costs_no_other() -> None:
    slow = Slow()
    shared = SharedEmbed(slow)

    async def ask() -> FloatMatrix:
        impatient, patient = asyncio.ensure_future(shared.one("a")), asyncio.ensure_future(shared.one("b"))
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.sleep(0.01)
        slow.may.set()
        return await patient

    assert np.array_equal(asyncio.run(ask()), embed(["b"])[0])


def test_a_bad_query_costs_no_other_of_its_batch() -> None:
    slow = Slow()
    shared = SharedEmbed(slow)

    async def ask() -> list[FloatMatrix | BaseException]:
        waits = [asyncio.ensure_future(shared.one(text)) for text in ("first", "good", "bad", "fine")]
        await asyncio.sleep(0.01)
        slow.may.set()
        return await asyncio.gather(*waits, return_exceptions=True)

    _, good, bad, fine = asyncio.run(ask())
    assert isinstance(bad, ValueError)
    assert isinstance(good, np.ndarray) and np.array_equal(good, embed(["good"])[0])
    assert isinstance(fine, np.ndarray) and np.array_equal(fine, embed(["fine"])[0])

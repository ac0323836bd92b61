"""Answering the questions of many evaluations on Ray: actors, what each has under way, and what happens if one dies.

An actor that dies takes all its pieces with it, and nobody knows which question was too much. So the questions of those
pieces that are not in the store yet are asked last, each alone in an actor: one that kills it twice is answered with an
error, and no other is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Final

import ray
from ray.exceptions import RayActorError, RayError

from ray_tasks.evaluation.answers import score_answer
from ray_tasks.evaluation.asking import cut_batches, failure
from ray_tasks.evaluation.kept import KeptAnswers
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.scheduling.asking_actor import Asked, AskingActor, Order, Source
from ray_tasks.scheduling.asking_queue import Piece, PieceQueue
from ray_tasks.scheduling.executor import reason_of
from ray_tasks.scheduling.session import Cluster, ClusterError

PIECE: Final = 32
"""Questions of a method on rules that are asked together."""

WAITING_PIECE: Final = 16
"""The same where a language model answers: each question is asked alone, and a piece only saves messages."""

LEAST_IN_FLIGHT: Final = 16
"""Questions that an actor should be allowed to have under way; more actors than that would only wait for a turn."""

MOST_TRIES: Final = 2
"""How many workers may die of a question that is asked alone."""

MOST_DEATHS: Final = 3
"""How many times the number of actors may die before something else than questions must be wrong."""


@dataclass(frozen=True)
class Pool:
    """How many actors there are, how many questions each has under way, and how many pieces are sent to it at once."""

    actors: int
    in_flight: int
    pieces: int

    @classmethod
    def of(cls, orders: Sequence[Order], cluster: Cluster, batch_size: int) -> Pool:
        """As many actors as CPUs, but no more than have something to do."""
        models = [order.choice.model for order in orders]
        together = sum(ceil(len(order.questions) / batch_size) for order in orders)
        allowed = [model.concurrency * max(1, len(model.urls)) for model in models if model]
        if not allowed:
            return cls(max(1, min(cluster.cpus, together)), 1, 2)
        actors = max(1, min(cluster.cpus, together, max(allowed) // LEAST_IN_FLIGHT))
        in_flight = ceil(max(allowed) / actors)
        # One piece more than fits, so that there is always a question for a turn that becomes free.
        return cls(actors, in_flight, ceil(in_flight / WAITING_PIECE) + 1)


def piece_size(order: Order) -> int:
    """How many of its questions go into one piece."""
    return WAITING_PIECE if order.choice.model else PIECE


def ask_orders(orders: Sequence[Order], source: Source, cluster: Cluster, pool: Pool | None = None) -> Iterator[Asked]:
    """Answers the questions of all orders and yields what comes, in any order; every answer is in the store then.

    Raises ClusterError where Ray itself fails; what was answered is kept.
    """
    pieces = [
        Piece(number, order.wearer, batch)
        for number, order in enumerate(orders)
        for batch in cut_batches(order.questions, piece_size(order))
    ]
    if not pieces:
        return
    chosen = pool or Pool.of(orders, cluster, PIECE)
    asking = _Asking(orders, source, chosen)
    try:
        yield from asking.run(PieceQueue(pieces), chosen.actors, chosen.pieces)
        found, alone = asking.recover()
        yield from found
        yield from asking.run(PieceQueue(alone), chosen.actors, 1)
    except RayError as error:
        raise ClusterError(
            f"Ray failed ({reason_of(error)}); what was answered is kept, so run the same command again to go on"
        ) from error
    finally:
        asking.close()


class _Asking:
    """The actors of a run, and the pieces that were with one that died."""

    def __init__(self, orders: Sequence[Order], source: Source, pool: Pool) -> None:
        self._orders, self._pool = orders, pool
        remote: Any = ray.remote(AskingActor)
        slots = pool.pieces + 1
        named = [replace(order, questions=()) for order in orders]
        self._start: Callable[[], Any] = lambda: remote.options(num_cpus=1, max_concurrency=slots).remote(
            source, named, pool.in_flight
        )
        self._source = source
        self._actors: dict[int, Any] = {}
        self._void: set[int] = set()
        self._lost: list[Piece] = []
        self._deaths = 0

    def run(self, queue: PieceQueue, actors: int, each: int) -> Iterator[Asked]:
        """Works a queue off with at most `each` pieces at a time in every actor."""
        under_way: dict[Any, tuple[int, Any, Piece]] = {}
        for place in range(actors):
            self._send(queue, place, each, under_way)
        while under_way:
            # Strictly one at a time: a piece lasts for seconds, and each brings the next one on its way.
            ready, _ = ray.wait(list(under_way), num_returns=1)
            place, actor, piece = under_way.pop(ready[0])
            try:
                asked: Asked = ray.get(ready[0])
            except RayActorError as error:
                if self._actors.get(place) is actor:  # else another piece of it has told already
                    del self._actors[place]
                    queue.forget(place)
                    self._count_death(error, alone=each == 1)
                yield from self._retry(piece, queue, alone=each == 1)
            else:
                if piece.order not in self._void:
                    yield asked
                if asked.fault is not None:
                    self._void.add(piece.order)
                    queue.drop(piece.order)
            self._send(queue, place, each, under_way)

    def recover(self) -> tuple[list[Asked], list[Piece]]:
        """Of the questions that were with an actor when it died: what is in the store, and each other as a piece."""
        lost, self._lost = [piece for piece in self._lost if piece.order not in self._void], []
        known = {
            number: KeptAnswers(self._source.store, self._orders[number].prefix).load()
            for number in {piece.order for piece in lost}
        }
        found: list[Asked] = []
        alone: list[Piece] = []
        for piece in lost:
            answers = known[piece.order]
            there = [answers[_id(entry)] for entry in piece.questions if _id(entry) in answers]
            found.append(Asked(piece.order, tuple(there)))
            alone += [replace(piece, questions=(entry,)) for entry in piece.questions if _id(entry) not in answers]
        return found, alone

    def close(self) -> None:
        """Ends the actors."""
        for actor in self._actors.values():
            ray.kill(actor)
        self._actors.clear()

    def _send(self, queue: PieceQueue, place: int, each: int, under_way: dict[Any, tuple[int, Any, Piece]]) -> None:
        while len(queue) and sum(where == place for where, _, _ in under_way.values()) < each:
            piece = queue.take(place)
            assert piece is not None
            actor = self._actors.get(place)
            if actor is None:
                actor = self._actors[place] = self._start()
            under_way[actor.ask.remote(piece.order, piece.questions)] = (place, actor, piece)

    def _count_death(self, error: RayActorError, *, alone: bool) -> None:
        """Raises ClusterError where actors die of something else than questions."""
        self._deaths += not alone
        if self._deaths > MOST_DEATHS * self._pool.actors:
            raise ClusterError(
                f"workers died {self._deaths} times ({reason_of(error)}); is there memory enough? "
                f"What was answered is kept, so run the same command again to go on"
            ) from error

    def _retry(self, piece: Piece, queue: PieceQueue, *, alone: bool) -> Iterator[Asked]:
        """Sees to a piece whose actor died: later each question by itself, and an error where it was that alone."""
        if not alone:
            self._lost.append(piece)
        elif piece.tries + 1 < MOST_TRIES:
            queue.put(replace(piece, tries=piece.tries + 1))
        else:
            order = self._orders[piece.order]
            words = f"its worker died {MOST_TRIES} times (out of memory or a crash)"
            answers = tuple(
                score_answer(
                    entry,
                    failure(entry.question, words),
                    benchmark=order.benchmark,
                    method=order.choice.name,
                    seconds=0.0,
                )
                for entry in piece.questions
            )
            yield Asked(piece.order, answers, failed=True)


def _id(entry: BenchmarkQuestion) -> str:
    return entry.question.question_id

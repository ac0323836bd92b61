"""Who gets which questions: an actor stays with a wearer, and nobody idles while something is left."""

from __future__ import annotations

from typing import Any

from ray_tasks.scheduling.asking_queue import Piece, PieceQueue

NO_QUESTIONS: Any = ()


def _pieces(**counts: int) -> list[Piece]:
    return [Piece(order, wearer, NO_QUESTIONS) for order, wearer in enumerate(counts) for _ in range(counts[wearer])]


def test_an_actor_stays_with_its_wearer_and_then_helps_with_another() -> None:
    queue = PieceQueue(_pieces(MARA=3, TOBI=5))
    taken: dict[str, list[str]] = {"one": [], "two": []}
    while len(queue):
        for actor, wearers in taken.items():
            piece = queue.take(actor)
            if piece:
                wearers.append(piece.wearer)
    assert taken == {"one": ["TOBI"] * 4, "two": ["MARA"] * 3 + ["TOBI"]}
    assert queue.take("one") is None


def test_an_actor_takes_a_wearer_whom_nobody_has() -> None:
    queue = PieceQueue(_pieces(MARA=9, TOBI=2, INES=2))
    first = [queue.take(actor) for actor in ("one", "two", "three")]
    assert {piece.wearer for piece in first if piece} == {"MARA", "TOBI", "INES"}


def test_pieces_of_a_void_evaluation_are_dropped_and_a_lost_one_comes_back() -> None:
    queue = PieceQueue(_pieces(MARA=2, TOBI=2))
    lost = queue.take("one")
    assert lost is not None
    queue.forget("one")
    queue.put(lost)
    assert len(queue) == 4
    queue.drop(lost.order)
    left = [queue.take("two") for _ in range(2)]
    assert all(piece and piece.order != lost.order for piece in left) and not len(queue)

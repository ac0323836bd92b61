"""Which questions go to whom: pieces of evaluations, those of one wearer to the same actor as far as possible.

Loading a wearer's memory takes seconds, so an actor stays with a wearer while there are questions left, then takes one
whom nobody has, and only then helps where the most is left to do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from ray_tasks.evaluation.questions import BenchmarkQuestion


@dataclass(frozen=True)
class Piece:
    """Questions of one evaluation, by its number, that are asked together. tries: how many workers died with them."""

    order: int
    wearer: str
    questions: tuple[BenchmarkQuestion, ...]
    tries: int = 0


class PieceQueue:
    """Pieces that are waiting, by wearer, and which wearers each actor has at hand."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._waiting: dict[str, deque[Piece]] = {}
        self._at_hand: dict[Hashable, list[str]] = {}
        for piece in pieces:
            self._waiting.setdefault(piece.wearer, deque()).append(piece)

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def take(self, actor: Hashable) -> Piece | None:
        """The next piece for an actor; None where nothing is waiting."""
        if not self._waiting:
            return None
        mine = self._at_hand.setdefault(actor, [])
        taken = {wearer for wearers in self._at_hand.values() for wearer in wearers}
        wearer = max(
            self._waiting,
            key=lambda name: (name in mine[-1:], name in mine, name not in taken, len(self._waiting[name])),
        )
        if wearer in mine:
            mine.remove(wearer)
        mine.append(wearer)
        pieces = self._waiting[wearer]
        piece = pieces.popleft()
        if not pieces:
            del self._waiting[wearer]
        return piece

    def put(self, piece: Piece) -> None:
        """Puts a piece back."""
        self._waiting.setdefault(piece.wearer, deque()).append(piece)

    def drop(self, order: int) -> None:
        """Forgets the pieces of an evaluation that has become void."""
        kept = {
            name: deque(piece for piece in pieces if piece.order != order) for name, pieces in self._waiting.items()
        }
        self._waiting = {name: pieces for name, pieces in kept.items() if pieces}

    def forget(self, actor: Hashable) -> None:
        """Forgets an actor that has died."""
        self._at_hand.pop(actor, None)

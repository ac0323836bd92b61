"""Seeded chance that gives the same week on every platform and every Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


class Dice:
    """Draws that rest on `random.Random.random` alone: the one method whose sequence Python promises to keep."""

    def __init__(self, *seed: object) -> None:
        self._random = random.Random("/".join(map(str, seed)))

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def pick(self, items: Sequence[Item]) -> Item:
        """One of `items`, which must not be empty."""
        return items[self.between(0, len(items) - 1)]

    def chance(self, share: float) -> bool:
        """True in `share` (0-1) of the draws."""
        return self._random.random() < share

"""What is made once of each memory, and kept as long as that memory lives."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

from ray_tasks.index.memory import WearerMemory

Made = TypeVar("Made")


class PerMemory(Generic[Made]):
    """Makes something of a memory when it is first asked for it, and gives the same one from then on.

    Memories are told apart as objects: two with equal content are two.
    """

    def __init__(self, make: Callable[[WearerMemory], Made]) -> None:
        self._make = make
        self._made: dict[int, tuple[weakref.ref[WearerMemory], Made]] = {}

    def __contains__(self, key: object) -> bool:
        """Whether something is kept of the memory with this `id()`."""
        return key in self._made

    def __call__(self, memory: WearerMemory) -> Made:
        """What was made of a memory; raises what making it raises."""
        key = id(memory)
        known = self._made.get(key)
        if known is not None and known[0]() is memory:
            return known[1]
        made = self._make(memory)
        self._made[key] = (weakref.ref(memory, lambda _: self._made.pop(key, None)), made)
        return made

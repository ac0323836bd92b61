"""The index pool of the drafting agent (EgoCITE Appendix B.3): no repeats, in order of time, numbers that stay."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ray_tasks.retrieval.llm.asking import tokens_of
from ray_tasks.retrieval.llm.showing import item_json
from ray_tasks.retrieval.types import Evidence


class Pool:
    """Items by number. A number is given at the first sight of an item and never again, even if it is removed."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, int, str], int] = {}
        self._items: dict[int, Evidence] = {}

    def __len__(self) -> int:
        return len(self._items)

    def add(self, item: Evidence) -> tuple[int, bool]:
        """The item's number, and whether the pool lacked it; of equal items the best score stays."""
        key = (item.start_ms, item.end_ms, item.text)
        number = self._numbers.setdefault(key, len(self._numbers) + 1)
        known = self._items.get(number)
        if known is None:
            self._items[number] = item
        elif item.score > known.score:
            self._items[number] = replace(known, score=item.score)
        return number, known is None

    def has(self, number: int) -> bool:
        """Whether an item of this number is in the pool."""
        return number in self._items

    def keep(self, numbers: Iterable[int]) -> int:
        """Removes all but some items and tells how many went; where none of them is known, nothing is removed."""
        kept = {number: self._items[number] for number in numbers if number in self._items}
        removed = len(self._items) - len(kept)
        if not kept:
            return 0
        self._items = kept
        return removed

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The items in order of time."""
        return tuple(item for _, item in self._in_order())

    def shown(self, new: frozenset[int], room_tokens: int) -> tuple[list[str], int]:
        """The items as lines of data, in order of time, and how many had no room.

        What is new comes before what is known, and a better score before a worse one, when there is room for some only.
        """
        lines = {number: item_json(item, number, new=number in new) for number, item in self._in_order()}
        wanted = sorted(lines, key=lambda number: (number not in new, -self._items[number].score, number))
        fitting: set[int] = set()
        for number in wanted:
            room_tokens -= tokens_of(lines[number])
            if room_tokens < 0:
                break
            fitting.add(number)
        return [line for number, line in lines.items() if number in fitting], len(lines) - len(fitting)

    def _in_order(self) -> list[tuple[int, Evidence]]:
        return sorted(self._items.items(), key=lambda pair: (pair[1].start_ms, pair[1].end_ms, pair[1].item_id))

"""What retrieval looks up in a memory of interactions; made once for each memory."""

from __future__ import annotations

import weakref
from dataclasses import dataclass

from ray_tasks.compression.interactions import InteractionMemory
from ray_tasks.errors import UsageError
from ray_tasks.extraction.records.types import Record
from ray_tasks.index.memory import CAPTION_VIEW, WearerMemory
from ray_tasks.retrieval.imprint.fields import describe, people_of
from ray_tasks.retrieval.types import Evidence


class NoInteractionsError(UsageError):
    """A memory that was built without interaction records."""


@dataclass(frozen=True)
class InteractionTable:
    """Records by caption (numbers in order), captions by id (row of the caption view), and phrases by text."""

    interactions: InteractionMemory
    of_caption: dict[str, list[int]]
    caption_rows: dict[str, int]
    phrases: dict[str, int]

    @classmethod
    def of(cls, memory: WearerMemory) -> InteractionTable:
        """The table of a memory, kept as long as that object lives; raises NoInteractionsError."""
        key = id(memory)
        known = _TABLES.get(key)
        if known is not None and known[0]() is memory:
            return known[1]
        table = cls._make(memory)
        _TABLES[key] = (weakref.ref(memory, lambda _: _TABLES.pop(key, None)), table)
        return table

    @classmethod
    def _make(cls, memory: WearerMemory) -> InteractionTable:
        if memory.interactions is None:
            raise NoInteractionsError(
                f"the memory of {memory.wearer} holds no interaction records, which this method answers from; "
                "write `records: rules` into the configuration and build it again (daybook build --config FILE)"
            )
        of_caption: dict[str, list[int]] = {}
        for number, record in enumerate(memory.interactions.records):
            of_caption.setdefault(record.caption_id, []).append(number)
        captions = memory.captions
        rows = {captions.row_id(row): row for row in range(len(captions))}
        phrases = {text: number for number, text in enumerate(memory.interactions.phrases)}
        return cls(memory.interactions, of_caption, rows, phrases)

    def record(self, number: int) -> Record:
        """A record by its number."""
        return self.interactions.records[number]

    def people_at(self, number: int, visible: int) -> frozenset[str]:
        """Everybody who takes part in a record or in another one, among the first `visible`, of the same caption."""
        together = (one for one in self.of_caption[self.record(number).caption_id] if one < visible)
        return frozenset(name for one in together for name in people_of(self.record(one)))

    def evidence(self, number: int, score: float, memory: WearerMemory, at_ms: int) -> Evidence:
        """The caption of a record as evidence; the record itself where its caption is not there or not over."""
        record, captions = self.record(number), memory.captions
        row = self.caption_rows.get(record.caption_id)
        if row is None or int(captions.end_ms[row]) > at_ms:
            return Evidence(record.record_id, "action", record.start_ms, record.end_ms, describe(record), score)
        start, end = int(captions.start_ms[row]), int(captions.end_ms[row])
        return Evidence(record.caption_id, CAPTION_VIEW, start, end, captions.text(row), score)


_TABLES: dict[int, tuple[weakref.ref[WearerMemory], InteractionTable]] = {}

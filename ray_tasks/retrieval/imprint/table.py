"""What retrieval looks up in a memory of interactions; made once for each memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ray_tasks.compression.interactions import InteractionMemory
from ray_tasks.embedding.whole_vectors import Float32
from ray_tasks.errors import UsageError
from ray_tasks.extraction.records.types import Record
from ray_tasks.index.memory import CAPTION_VIEW, WearerMemory
from ray_tasks.retrieval.imprint.fields import describe, people_of
from ray_tasks.retrieval.per_memory import PerMemory
from ray_tasks.retrieval.types import Evidence

READ_ALL_FROM = 10
"""From one record in so many on it is quicker to read all than each."""


class NoInteractionsError(UsageError):
    """A memory that was built without interaction records."""


@dataclass(frozen=True)
class InteractionTable:
    """Captions by id (row of the caption view), phrases by text, and the records that were read before."""

    interactions: InteractionMemory
    caption_rows: dict[str, int]
    phrases: dict[str, int]
    read: dict[int, Record] = field(default_factory=dict)

    @staticmethod
    def of(memory: WearerMemory) -> InteractionTable:
        """The table of a memory, kept as long as that object lives; raises NoInteractionsError."""
        return _TABLES(memory)

    @classmethod
    def make(cls, memory: WearerMemory) -> InteractionTable:
        """A new table; `of` gives the one that is kept."""
        if memory.interactions is None:
            raise NoInteractionsError(
                f"the memory of {memory.wearer} holds no interaction records, which this method answers from; "
                "write `records: rules` into the configuration and build it again (daybook build --config FILE)"
            )
        captions = memory.captions
        rows = {captions.row_id(row): row for row in range(len(captions))}
        phrases = {text: number for number, text in enumerate(memory.interactions.phrases)}
        return cls(memory.interactions, rows, phrases)

    def record(self, number: int) -> Record:
        """A record by its number."""
        if number not in self.read:
            self.read[number] = self.interactions.records[number]
        return self.read[number]

    def records(self, numbers: Sequence[int]) -> list[Record]:
        """Records by their numbers; many are read at once."""
        fresh = sum(number not in self.read for number in set(numbers))
        if fresh * READ_ALL_FROM > len(self.interactions):
            self.read.update(enumerate(self.interactions.records))
        return [self.record(number) for number in numbers]

    def people_at(self, number: int) -> frozenset[str]:
        """Everybody who takes part in a record or in another one of its caption that ended with it."""
        end, ends = self.interactions.end_ms[number], self.interactions.end_ms
        first, last = int(np.searchsorted(ends, end)), int(np.searchsorted(ends, end, side="right"))
        caption = self.record(number).caption_id
        together = [one for one in self.interactions.records[first:last] if one.caption_id == caption]
        return frozenset(name for one in together for name in people_of(one))

    def vector(self, text: str) -> Float32 | None:
        """The whole vector (d,) of a phrase of the memory; None for any other text."""
        number = self.phrases.get(text)
        return None if number is None else self.interactions.vectors[number]

    def evidence(self, number: int, score: float, memory: WearerMemory, at_ms: int) -> Evidence:
        """The caption of a record as evidence; the record itself where its caption is not there or not over."""
        record, captions = self.record(number), memory.captions
        row = self.caption_rows.get(record.caption_id)
        if row is None or int(captions.end_ms[row]) > at_ms:
            return Evidence(record.record_id, "action", record.start_ms, record.end_ms, describe(record), score)
        start, end = int(captions.start_ms[row]), int(captions.end_ms[row])
        return Evidence(record.caption_id, CAPTION_VIEW, start, end, captions.text(row), score)


_TABLES = PerMemory(InteractionTable.make)

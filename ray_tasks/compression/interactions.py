"""What a memory holds of one wearer's interactions: every record, and what compression made of it.

Records are in order of (end, start, id), so what a question may see is a prefix, of entries too: an entry is its
members, and those that ended later are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ray_tasks.compression.online import DISCARDED, Compressed
from ray_tasks.compression.prototypes import Kind
from ray_tasks.compression.settings import CompressionSettings
from ray_tasks.extraction.records.types import Record
from ray_tasks.retrieval.whole_vectors import Float32, Int64


@dataclass(frozen=True)
class InteractionMemory:
    """The records (n) of one wearer, what became of each, and the phrases (m) by which they are found.

    compressed: prototype, kind, importance and entry of each record. actions, objects: (n,) numbers of phrases, -1
    where a record has no object. phrases: the m distinct actions and objects. vectors: (m, d) their whole vectors.
    settings: with which the records were compressed.
    """

    records: tuple[Record, ...]
    compressed: Compressed
    actions: Int64
    objects: Int64
    phrases: tuple[str, ...]
    vectors: Float32
    settings: CompressionSettings

    def __len__(self) -> int:
        return len(self.records)

    @cached_property
    def start_ms(self) -> Int64:
        """(n,) starts of the records, week time."""
        return np.array([record.start_ms for record in self.records], np.int64)

    @cached_property
    def end_ms(self) -> Int64:
        """(n,) ends of the records, ascending."""
        return np.array([record.end_ms for record in self.records], np.int64)

    def visible(self, at_ms: int) -> int:
        """How many records, all of them first in order, end at or before a moment."""
        return int(np.searchsorted(self.end_ms, at_ms, side="right"))

    def kept(self, visible: int) -> npt.NDArray[np.bool_]:
        """(visible,) which of the first records are members of an entry."""
        return self.compressed.entries[:visible] != DISCARDED

    def assignments(self) -> dict[str, int]:
        """How many records came to their prototype in each way (Imprint Figure 6b)."""
        return {kind.name.lower(): int((self.compressed.kinds == kind).sum()) for kind in Kind}

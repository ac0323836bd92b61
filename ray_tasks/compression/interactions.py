"""What a memory holds of one wearer's interactions: every record, and what compression made of it.

Records are in order of (end, start, id), so what a question may see is a prefix, of entries too: an entry is its
members, and those that ended later are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ray_tasks.compression.online import Compressed
from ray_tasks.compression.settings import CompressionSettings
from ray_tasks.embedding.whole_vectors import Float32, Int64
from ray_tasks.extraction.records.types import Record


@dataclass(frozen=True)
class InteractionMemory:
    """The records (n) of one wearer, what became of each, and the phrases (m) by which they are found.

    start_ms, end_ms: (n,) week time. compressed: prototype, kind, importance and entry of each record. actions,
    objects: (n,) numbers of phrases, -1 where a record has no object. phrases: the m distinct actions and objects.
    vectors: (m, d) their whole vectors. settings: with which the records were compressed.
    """

    records: Sequence[Record]
    start_ms: Int64
    end_ms: Int64
    compressed: Compressed
    actions: Int64
    objects: Int64
    phrases: tuple[str, ...]
    vectors: Float32
    settings: CompressionSettings

    def __post_init__(self) -> None:
        if np.any(np.diff(self.end_ms) < 0):
            raise ValueError("records are not in order of their end")

    def __len__(self) -> int:
        return len(self.records)

    def visible(self, at_ms: int) -> int:
        """How many records, all of them first in order, end at or before a moment."""
        return int(np.searchsorted(self.end_ms, at_ms, side="right"))

    def kept(self, visible: int) -> npt.NDArray[np.bool_]:
        """(visible,) which of the first records are members of an entry."""
        return self.compressed.kept[:visible]

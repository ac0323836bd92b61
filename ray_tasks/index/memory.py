"""One wearer's memory in a process: searchable views, the captions behind them, and the recorded timeline.

Rows of a view are in order of (end, start, id), so what a question may see is exactly a prefix. Every search takes the
question's time; there is no way to score a row that ends after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ray_tasks.corpus.recorded_time import RecordedTimeline, hours_outside
from ray_tasks.index.lexical import LexicalIndex, tokenize
from ray_tasks.index.search import DEFAULT_DECAY, Float32, Float64, Int64, exact_top_k
from ray_tasks.rows import VIEWS

CAPTION_VIEW = "caption"


class MemoryMismatchError(ValueError):
    """Parts of a memory, or a query and a memory, that do not belong together."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A found row: its number in the view, the score S x R, and S and R apart."""

    row: int
    score: float
    similarity: float
    relevance: float


@dataclass(frozen=True)
class ViewIndex:
    """Rows of one view in order of (end_ms, start_ms, id); all arrays have n rows.

    vectors: (n, d) float32 unit vectors. caption_rows: (n,) the row, among the wearer's captions, of each row's first
    source caption (for the caption view: its own row).
    """

    view: str
    ids: tuple[str, ...] | pa.ChunkedArray
    start_ms: Int64
    end_ms: Int64
    texts: pa.ChunkedArray
    caption_rows: Int64
    vectors: Float32
    lexical: LexicalIndex
    timeline: RecordedTimeline
    model: str

    def __post_init__(self) -> None:
        sizes = {len(self.ids), len(self.start_ms), len(self.end_ms), len(self.texts), len(self.vectors)}
        if len(sizes) != 1:
            raise MemoryMismatchError(f"view {self.view}: parts of different length {sorted(sizes)}")
        if np.any(np.diff(self.end_ms) < 0):
            raise MemoryMismatchError(f"view {self.view}: rows are not in order of their end")

    def __len__(self) -> int:
        return len(self.start_ms)

    @property
    def dimension(self) -> int:
        """Components of a vector."""
        return int(self.vectors.shape[1])

    @cached_property
    def start_hours(self) -> Float64:
        """(n,) recorded hours of each row's start, the tau of EgoCITE Eq. 1."""
        return self.timeline.hours(self.start_ms)

    def visible(self, at_ms: int) -> int:
        """How many rows, all of them first in order, end at or before a moment."""
        return int(np.searchsorted(self.end_ms, at_ms, side="right"))

    def text(self, row: int) -> str:
        """The text of a row."""
        return str(self.texts[row].as_py())

    def row_id(self, row: int) -> str:
        """The id of a row."""
        value = self.ids[row]
        return value if isinstance(value, str) else str(value.as_py())

    def gap_hours(self, visible: int, time_query: tuple[int, int], at_ms: int) -> Float64:
        """(visible,) recorded hours between each row's start and a window of week time, cut at the question's time."""
        window = np.array([min(*time_query, at_ms), min(max(time_query), at_ms)], np.int64)
        low, high = self.timeline.hours(window)
        return hours_outside(self.start_hours[:visible], low, high)

    def search(
        self,
        query: Float32,
        *,
        at_ms: int,
        k: int,
        time_query: tuple[int, int] | None = None,
        decay: float = DEFAULT_DECAY,
    ) -> list[Hit]:
        """The k best rows for a unit query (d,) by S x R among those that end at or before at_ms; exact.

        time_query is a window of week time [start, end] in ms (a point where both are equal); None means R = 1.
        Raises MemoryMismatchError where the query has another dimension than the vectors.
        """
        self._check(query)
        n = self.visible(at_ms)
        gaps = None if time_query is None else self.gap_hours(n, time_query, at_ms)
        top = exact_top_k(self.vectors[:n], query, k, order_ms=self.start_ms[:n], gap_hours=gaps, decay=decay)
        hits = [
            Hit(int(row), float(score), float(s), float(r))
            for row, score, s, r in zip(top.rows, top.scores, top.similarity, top.relevance, strict=True)
        ]
        self._check_causal(hits, at_ms)
        return hits

    def search_words(self, query: str, *, at_ms: int, k: int) -> list[Hit]:
        """The k best rows by BM25 among those that end at or before at_ms; rows without any query word are no hits."""
        n = self.visible(at_ms)
        scores = self.lexical.scores(tokenize(query), n)
        rows = np.flatnonzero(scores > 0)
        best = rows[np.lexsort((rows, self.start_ms[rows], -scores[rows]))][:k]
        hits = [Hit(int(row), float(scores[row]), float(scores[row]), 1.0) for row in best]
        self._check_causal(hits, at_ms)
        return hits

    def _check(self, query: Float32) -> None:
        if query.shape[-1] != self.dimension:
            raise MemoryMismatchError(
                f"a query of {query.shape[-1]} dimensions cannot search view {self.view}, whose vectors have "
                f"{self.dimension} (made by {self.model}); embed the query with that model or rebuild the memory"
            )

    def _check_causal(self, hits: list[Hit], at_ms: int) -> None:
        for hit in hits:
            if self.end_ms[hit.row] > at_ms:
                raise AssertionError(f"view {self.view}, row {hit.row} ends after the question's time {at_ms}")


@dataclass(frozen=True)
class WearerMemory:
    """All that is remembered of one wearer: the four views and the captions they were made from."""

    wearer: str
    name: str
    views: Mapping[str, ViewIndex]
    captions: ViewIndex
    timeline: RecordedTimeline
    memory_id: str

    def __post_init__(self) -> None:
        missing = [view for view in VIEWS if view not in self.views]
        if missing:
            raise MemoryMismatchError(f"memory of {self.wearer} lacks the views {', '.join(missing)}")


def row_order(start_ms: npt.NDArray[np.int64], end_ms: npt.NDArray[np.int64], ids: list[str]) -> Int64:
    """The order in which a view keeps its rows: by end, then start, then id; (n,) row numbers."""
    return np.asarray(sorted(range(len(ids)), key=lambda i: (end_ms[i], start_ms[i], ids[i])), np.int64)

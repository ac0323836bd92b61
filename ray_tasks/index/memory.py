"""One wearer's memory in a process: searchable views, the captions behind them, and the recorded timeline.

Rows of a view are in order of (end, start, id), so what a question may see is exactly a prefix. Every search takes the
question's time; there is no way to score a row that ends after it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ray_tasks.corpus.recorded_time import RecordedTimeline, hours_outside
from ray_tasks.errors import DaybookError
from ray_tasks.index.device import GpuRows, gpus
from ray_tasks.index.lexical import LexicalIndex, tokenize
from ray_tasks.index.rings import Source, Window, ring_top_k
from ray_tasks.index.search import DEFAULT_DECAY, Float32, Float64, Int64, TopK, exact_top_k
from ray_tasks.rows import VIEWS

if TYPE_CHECKING:
    from ray_tasks.compression.interactions import InteractionMemory
    from ray_tasks.index.inverted import InvertedIndex

CAPTION_VIEW = "caption"

LEAST_GPU_ROWS = 100_000
"""Views of fewer rows are scanned on the CPU within milliseconds."""

logger = logging.getLogger(__name__)


class MemoryMismatchError(DaybookError, ValueError):
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
    source caption (for the caption view: its own row). inverted: lists of the same rows for approximate search.
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
    inverted: InvertedIndex | None = None

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
        window = self._window(time_query, at_ms)
        return hours_outside(self.start_hours[:visible], window.low, window.high)

    def search(
        self,
        query: Float32,
        *,
        at_ms: int,
        k: int,
        time_query: tuple[int, int] | None = None,
        decay: float = DEFAULT_DECAY,
        exact: bool = False,
        products: Float32 | None = None,
    ) -> list[Hit]:
        """The k best rows for a unit query (d,) by S x R among those that end at or before at_ms.

        time_query is a window of week time [start, end] in ms (a point where both are equal); None means R = 1.
        Exact, but where the view has inverted lists: they may miss a row, unless `exact` asks for a scan. Scores are
        exact always. `products` may hand in the float32 products of the query with the first rows, at least the visible
        ones, for a scan (see scanned). Raises MemoryMismatchError where the query has another dimension than vectors.
        """
        self._check(query)
        n = self.visible(at_ms)
        window = None if time_query is None else self._window(time_query, at_ms, decay)
        top = None if exact else self._search_fast(query, n, k, window)
        if top is None:
            gaps = None if time_query is None else self.gap_hours(n, time_query, at_ms)
            top = exact_top_k(
                self.vectors[:n],
                query,
                k,
                order_ms=self.start_ms[:n],
                gap_hours=gaps,
                decay=decay,
                similarity=None if products is None else products[:n],
            )
        hits = [
            Hit(int(row), float(score), float(s), float(r))
            for row, score, s, r in zip(top.rows, top.scores, top.similarity, top.relevance, strict=True)
        ]
        self._check_causal(hits, at_ms)
        return hits

    def scanned(self, at_ms: int) -> bool:
        """Whether a search at a moment reads all visible rows."""
        lists = self.inverted is not None and self.visible(at_ms) >= self.inverted.least_rows
        return not lists and (self.inverted is not None or self._on_gpu is None)

    def _window(self, time_query: tuple[int, int], at_ms: int, decay: float = DEFAULT_DECAY) -> Window:
        """A time query in recorded hours, cut at the question's time."""
        window = np.array([min(*time_query, at_ms), min(max(time_query), at_ms)], np.int64)
        low, high = self.timeline.hours(window)
        return Window(float(low), float(high), decay)

    def _search_fast(self, query: Float32, visible: int, k: int, window: Window | None) -> TopK | None:
        """The best of the first `visible` rows by inverted lists or on a GPU; None where the CPU has to scan.

        That is where a scan is as quick, where lists give too few rows, or where a GPU's result is not proven exact.
        """
        if k <= 0 or (self.inverted and visible < self.inverted.least_rows):
            return None
        source: Source | None = self.inverted or self._on_gpu
        if source is None:
            return None
        top, proven = ring_top_k(
            source,
            self.vectors[:visible],
            query,
            k,
            order_ms=self.start_ms[:visible],
            start_hours=self.start_hours[:visible],
            window=window,
        )
        enough = len(top.rows) == min(k, visible)
        return top if enough and (proven or source.approximate) else None

    @cached_property
    def _on_gpu(self) -> GpuRows | None:
        """The vectors on a GPU; None where there is none, or no room on it, or too few rows to be worth it."""
        if len(self) < LEAST_GPU_ROWS or not gpus():
            return None
        try:
            return GpuRows.upload(self.vectors)
        except RuntimeError as error:
            logger.warning("view %s is searched on the CPU: %s", self.view, error)
            return None

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
    """All that is remembered of one wearer: the four views, the captions they were made from, and Imprint's memory.

    interactions: there where the build made interaction records.
    """

    wearer: str
    name: str
    views: Mapping[str, ViewIndex]
    captions: ViewIndex
    timeline: RecordedTimeline
    memory_id: str
    interactions: InteractionMemory | None = None

    def __post_init__(self) -> None:
        missing = [view for view in VIEWS if view not in self.views]
        if missing:
            raise MemoryMismatchError(f"memory of {self.wearer} lacks the views {', '.join(missing)}")


def row_order(start_ms: npt.NDArray[np.int64], end_ms: npt.NDArray[np.int64], ids: list[str]) -> Int64:
    """The order in which a view keeps its rows: by end, then start, then id; (n,) row numbers."""
    return np.asarray(sorted(range(len(ids)), key=lambda i: (end_ms[i], start_ms[i], ids[i])), np.int64)

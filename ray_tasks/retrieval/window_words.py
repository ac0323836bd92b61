"""BM25 over windows of neighbouring clips, with statistics of the visible windows only.

What a moment is about is often named a minute earlier or later, so each clip is also scored by the words of the clips
round it (measured: about +2 points of hit). A window never crosses a gap in the recording, nor the question's time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ray_tasks.embedding.whole_vectors import Float64, Int64
from ray_tasks.index.lexical import LexicalIndex
from ray_tasks.retrieval.clip_table import ClipTable


@dataclass(frozen=True)
class WindowWords:
    """The windows of the first `visible` clips: bounds [low, high) and length normalisation of each."""

    lexical: LexicalIndex
    visible: int
    low: Int64
    high: Int64
    norm: Float64
    k1: float
    _known: dict[str, Float64 | None] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, table: ClipTable, visible: int, reach: int, *, k1: float = 1.5, b: float = 0.5) -> WindowWords:
        """Windows of up to 2 x reach + 1 clips."""
        lexical = table.captions.lexical
        low, high = table.neighbours(reach, visible)
        lengths = (lexical.length_sums[high] - lexical.length_sums[low]).astype(np.float64)
        mean = max(float(lengths.sum()) / max(visible, 1), 1e-9)
        return cls(lexical, visible, low, high, k1 * (1 - b + b * lengths / mean), k1)

    def scores(self, tokens: Iterable[str]) -> Float64:
        """BM25 of each window for a set of stemmed terms; shape (visible,)."""
        scores = np.zeros(self.visible)
        for term in dict.fromkeys(tokens):
            if term not in self._known:  # a question's variants share most of their terms
                self._known[term] = self._of_term(term)
            known = self._known[term]
            if known is not None:
                scores += known
        return scores

    def _of_term(self, term: str) -> Float64 | None:
        """What one term adds to each window; None where no visible clip holds it."""
        rows, counts = self.lexical.postings(term, self.visible)
        if not len(rows):
            return None
        sums = np.zeros(self.visible + 1)
        sums[rows + 1] = counts
        sums = np.cumsum(sums)
        found = sums[self.high] - sums[self.low]
        holding = int(np.count_nonzero(found))
        idf = np.log1p((self.visible - holding + 0.5) / (holding + 0.5))
        return np.asarray(idf * found * (self.k1 + 1) / (found + self.norm), np.float64)

"""Exact time-aware top-k: score = S x R over the rows that a question may see (EgoCITE Eq. 1, DESIGN §7).

S is the cosine similarity of unit vectors, R = lambda ** (recorded hours between the row and the time query). Decay
never improves a negative S: the score is S then. Fetching K nearest and re-ranking them is not exact, so every visible
row is scored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

DEFAULT_DECAY = 0.99
"""EgoCITE's lambda, per recorded hour (Table 11)."""


@dataclass(frozen=True, slots=True)
class TopK:
    """The best rows, best first: `rows` (k,) row numbers, `scores` = S x R, `similarity` = S, `relevance` = R."""

    rows: Int64
    scores: Float64
    similarity: Float64
    relevance: Float64

    @classmethod
    def nothing(cls) -> TopK:
        """No row at all."""
        none = np.zeros(0)
        return cls(np.zeros(0, np.int64), none, none, none)


def decayed(similarity: Float64, relevance: Float64) -> Float64:
    """S x R where S is positive, S elsewhere; shapes (n,), (n,) -> (n,)."""
    return np.where(similarity > 0, similarity * relevance, similarity)


def time_relevance(gap_hours: Float64, decay: float = DEFAULT_DECAY) -> Float64:
    """R of EgoCITE Eq. 1 from recorded hours outside the time query; (n,) -> (n,)."""
    if not 0 < decay <= 1:
        raise ValueError(f"decay must lie in (0, 1], not {decay}")
    return np.asarray(np.exp(gap_hours * np.log(decay)), np.float64)


def exact_top_k(
    vectors: Float32,
    query: Float32,
    k: int,
    *,
    order_ms: Int64,
    gap_hours: Float64 | None = None,
    decay: float = DEFAULT_DECAY,
    similarity: Float32 | None = None,
) -> TopK:
    """The k rows with the largest S x R, exactly as float64 arithmetic ranks them.

    vectors (n, d) and query (d,) are float32; order_ms (n,) is each row's time. Ties break by smaller gap, then by
    earlier time, then by smaller row number. Rows must already be cut to what may be seen. `similarity` (n,) may hand
    in float32 products made for a batch of queries. Fewer than k rows give fewer hits, never padding.

    One float32 product finds everything that could be among the best; the survivors alone are scored again in float64.
    """
    n = len(vectors)
    if k <= 0 or n == 0:
        return TopK.nothing()
    rough = vectors @ query if similarity is None else similarity
    relevance = np.ones(n) if gap_hours is None else time_relevance(gap_hours, decay)
    rough = np.where(rough > 0, rough * relevance, rough)
    if k < n:
        # A float32 dot product of d terms is off by at most d x eps x |x| |y|; both the k-th value and a row below it
        # may be off, so twice that separates what can be among the best from what cannot.
        norms = float(np.linalg.norm(query)) * 1.01
        margin = 2 * vectors.shape[1] * float(np.finfo(np.float32).eps) * norms
        kth = np.partition(rough, n - k)[n - k]
        rows = np.flatnonzero(rough >= kth - margin)
    else:
        rows = np.arange(n)
    gaps = None if gap_hours is None else gap_hours[rows]
    return rank_rows(vectors, query, rows, k, order_ms=order_ms, gaps=gaps, decay=decay)


def rank_rows(
    vectors: Float32,
    query: Float32,
    rows: Int64,
    k: int,
    *,
    order_ms: Int64,
    gaps: Float64 | None,
    decay: float = DEFAULT_DECAY,
) -> TopK:
    """The best k of some rows (m,), scored in float64; order_ms (n,) is every row's time, gaps (m,) are these rows'."""
    # Summed along the row, not by a matrix product: equal rows then get equal bits wherever they stand.
    exact = (vectors[rows].astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    relevance = np.ones(len(rows)) if gaps is None else time_relevance(gaps, decay)
    scores = decayed(exact, relevance)
    distances = np.zeros(len(rows)) if gaps is None else gaps
    best = np.lexsort((rows, order_ms[rows], distances, -scores))[:k]
    return TopK(rows[best].astype(np.int64), scores[best], exact[best], relevance[best])

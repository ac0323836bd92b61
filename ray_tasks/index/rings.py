"""Time-aware top-k from a source of nearest rows, in rings of time that grow outwards from the time query.

A source (inverted lists, blocks on a GPU) knows similarity alone, but the score is S x R. Rows are in order of time, so
rows at about one distance in time are a few ranges of row numbers, in which R is nearly constant. Rings are searched
from the nearest outwards. In each, ever more rows are fetched until none that is left could reach the k-th score at the
ring's largest R; and once a ring's largest R, with the largest S that a row may have, cannot reach it, no later ring is
looked at.

That largest S is 1 where the result has to be exact. An approximate source is first asked for what is very similar at
any time, in a few lists; for all other rows the largest S is taken to be the largest that the rings have shown so far,
and a margin. So a row can be missed that lies in a list not looked into or is, unlike all others, far off in time and
yet more similar than that. Recall is measured before a memory is published (recall.py).

All scores are computed from the vectors, in float64, as the exact search does. Only numbers below the visible ones are
asked for, and the bounds of rings are made from visible rows, so what is recorded later changes no score and shows no
row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np

from ray_tasks.corpus.recorded_time import hours_outside
from ray_tasks.index.search import DEFAULT_DECAY, Float32, Float64, Int64, TopK, rank_rows, time_relevance

BLOCK_ROWS: Final = 4_096
"""Rows whose distance in time is bounded together."""

FIRST_RING_BLOCKS: Final = 8
FIRST_FETCH: Final = 16
"""Rows fetched at first for each one wanted, and how many times as many when they do not suffice: FETCH_GROWTH."""
FETCH_GROWTH: Final = 4
MOST_FETCHED: Final = 2_048

SURPRISE: Final = 0.04
"""How much more similar than any row of the rings before a row of a later ring is allowed to be."""


class Source(Protocol):
    """Finds rows near a query in a range of row numbers."""

    @property
    def error(self) -> float:
        """How far the similarities that it returns may be from the true ones."""
        ...

    @property
    def approximate(self) -> bool:
        """Whether it may miss rows."""
        ...

    def nearest(
        self, query: Float32, first: int, stop: int, count: int, *, closely: bool = True
    ) -> tuple[Float32, Int64]:
        """Up to `count` rows of [first, stop) with the largest similarity to a query (d,), largest first.

        Not `closely`: only where most similar rows are likely to be.
        """
        ...


@dataclass(frozen=True)
class Ring:
    """Ranges [first, stop) of row numbers and the largest R that a row in them can have."""

    ranges: tuple[tuple[int, int], ...]
    relevance: float


@dataclass(frozen=True)
class Window:
    """A time query in recorded hours [low, high], and lambda for each hour outside it."""

    low: float
    high: float
    decay: float = DEFAULT_DECAY


def rings(start_hours: Float64, window: Window | None, *, block: int = BLOCK_ROWS) -> Iterator[Ring]:
    """All rows, whose starts (n,) are given in recorded hours, as rings of at least doubling size, nearest first."""
    n = len(start_hours)
    if window is None:
        yield Ring(((0, n),), 1.0)
        return
    firsts = np.arange(0, n, block)
    earliest, latest = np.minimum.reduceat(start_hours, firsts), np.maximum.reduceat(start_hours, firsts)
    gaps = np.maximum(np.maximum(window.low - latest, earliest - window.high), 0.0)
    order = np.argsort(gaps, kind="stable")
    relevance = time_relevance(gaps[order], window.decay)
    taken, size = 0, FIRST_RING_BLOCKS
    while taken < len(order):
        numbers = np.sort(order[taken : taken + size])
        breaks = np.flatnonzero(np.diff(numbers) != 1) + 1
        stretches = np.split(numbers, breaks)
        ranges = tuple((int(part[0]) * block, min(n, (int(part[-1]) + 1) * block)) for part in stretches)
        yield Ring(ranges, float(relevance[taken]))
        taken, size = taken + size, size * 2


@dataclass
class _Search:
    """One query on its way outwards: the best k of the rows scored so far, and what is known of the others."""

    source: Source
    vectors: Float32
    query: Float32
    k: int
    order_ms: Int64
    start_hours: Float64
    window: Window | None
    top: TopK = field(default_factory=TopK.nothing)
    known: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))
    shown: float = -np.inf
    proven: bool = True

    @property
    def threshold(self) -> float:
        """The score of the k-th row, below which nothing is of interest."""
        return float(self.top.scores[-1]) if len(self.top.rows) == self.k else -np.inf

    @property
    def largest(self) -> float:
        """The largest similarity that a row of a later ring may have."""
        bound = float(np.linalg.norm(self.query)) * 1.001  # vectors are of unit length within float32's rounding
        if self.source.approximate and np.isfinite(self.shown):
            return min(bound, self.shown + SURPRISE)
        return bound

    def look_everywhere(self) -> None:
        """Takes in what is very similar at whatever time."""
        count = min(FIRST_FETCH * self.k, MOST_FETCHED)
        self.known = self.source.nearest(self.query, 0, len(self.vectors), count, closely=False)[1]
        self._take(self.known)

    def look_into(self, ring: Ring) -> None:
        """Takes in all rows of a ring that could be among the best."""
        for first, stop in ring.ranges:
            self._look_into_range(first, stop, ring.relevance)

    def _look_into_range(self, first: int, stop: int, relevance: float) -> None:
        count = FIRST_FETCH * self.k
        while True:
            wanted = min(count, MOST_FETCHED, stop - first)
            similarity, rows = self.source.nearest(self.query, first, stop, wanted)
            upper = similarity + self.source.error
            reachable = np.where(upper > 0, upper * relevance, upper)
            self._take(rows[reachable >= self.threshold])
            if len(rows) < wanted or wanted == stop - first or reachable[-1] < self.threshold:
                break
            if wanted == MOST_FETCHED:
                self.proven = False
                break
            count *= FETCH_GROWTH
        others = similarity[np.isin(rows, self.known, invert=True)]
        self.shown = max(self.shown, float(others.max(initial=-np.inf)))

    def _take(self, rows: Int64) -> None:
        rows = np.union1d(self.top.rows, rows)
        window = self.window
        gaps = None if window is None else hours_outside(self.start_hours[rows], window.low, window.high)
        decay = DEFAULT_DECAY if window is None else window.decay
        self.top = rank_rows(self.vectors, self.query, rows, self.k, order_ms=self.order_ms, gaps=gaps, decay=decay)


def ring_top_k(
    source: Source,
    vectors: Float32,
    query: Float32,
    k: int,
    *,
    order_ms: Int64,
    start_hours: Float64,
    window: Window | None,
) -> tuple[TopK, bool]:
    """The best k rows by S x R, and whether that is certain (never where the source is approximate).

    vectors (n, d), order_ms (n,) and start_hours (n,) are cut to what may be seen. Ties break as in exact_top_k.
    """
    search = _Search(source, vectors, query, k, order_ms, start_hours, window)
    if source.approximate and window is not None:
        search.look_everywhere()
    for ring in rings(start_hours, window):
        if search.largest * ring.relevance < search.threshold:
            break
        search.look_into(ring)
    return search.top, search.proven and not source.approximate

"""Memory entries: records of one act that recurs, consolidated (Imprint section 3.2.3).

Every record is compared with every entry, as the paper has it. What is compared with whole blocks of records at once
is a matrix product over whole vectors, which gives the same bits in any shape; entries that a block has changed are
compared again one by one. So a record costs a small part of one pass over the entries, and the result is that of the
plain loop.
"""

from __future__ import annotations

import numpy as np

from ray_tasks.compression.context import as_directions
from ray_tasks.compression.settings import CompressionSettings
from ray_tasks.embedding.whole_vectors import SCALE, Float32, Float64, Int64

BLOCK = 256
"""Records compared at once: enough to make the product cheap, few enough that little of it is out of date."""


class Entries:
    """The entries of one wearer; row i is entry i, in the order in which they came to be.

    An entry is known by the means of its members' vectors, alone and in context.
    """

    def __init__(self, dimension: int, settings: CompressionSettings) -> None:
        self._least = settings.merge_threshold * SCALE**2
        self._count = 0
        self._sums: Float64 = np.zeros((2, BLOCK, dimension))
        self._means: Float32 = np.zeros((2, BLOCK, dimension), np.float32)

    def __len__(self) -> int:
        return self._count

    @property
    def sums(self) -> Float64:
        """(2, n, d) sums of the members' whole vectors, alone and in context."""
        return self._sums[:, : self._count]

    @classmethod
    def of(cls, sums: Float64, settings: CompressionSettings) -> Entries:
        """Entries as they were."""
        entries = cls(sums.shape[2], settings)
        entries._reserve(sums.shape[1])
        n = entries._count = sums.shape[1]
        entries._sums[:, :n] = sums
        entries._means[:, :n] = as_directions(sums)
        return entries

    def consolidate(self, vectors: Float32) -> Int64:
        """The entry (n,) of each record; `vectors` (2, n, d) are whole vectors, alone and in context, in order.

        A record goes to the entry to which both cosines exceed delta_m, where there are several to that with the
        largest sum of both, then to the oldest; where there is none, it becomes one.
        """
        found = [self._block(vectors[:, first : first + BLOCK]) for first in range(0, vectors.shape[1], BLOCK)]
        return np.concatenate([np.zeros(0, np.int64), *found])

    def _block(self, vectors: Float32) -> Int64:
        """The entries of at most BLOCK records."""
        size = vectors.shape[1]
        self._reserve(self._count + size)
        near = vectors[0] @ self._means[0, : self._count].T > self._least
        changed: dict[int, None] = {}
        placed = np.zeros(size, np.int64)
        for record in range(size):
            candidates = np.flatnonzero(near[record])
            if changed:
                candidates = np.union1d(candidates, np.fromiter(changed, np.int64))
            entry = self._best(vectors[:, record], candidates)
            self._sums[:, entry] += vectors[:, record]
            self._means[:, entry] = as_directions(self._sums[:, entry])
            changed[entry] = None
            placed[record] = entry
        return placed

    def _best(self, vectors: Float32, candidates: Int64) -> int:
        """The best of the candidates (ascending numbers) for a record, or a new entry."""
        alone = self._means[0, candidates] @ vectors[0]
        context = self._means[1, candidates] @ vectors[1]
        both = np.where((alone > self._least) & (context > self._least), alone + context, -np.inf)
        if len(both) and both.max() > -np.inf:
            return int(candidates[np.argmax(both)])
        self._count += 1
        return self._count - 1

    def _reserve(self, rows: int) -> None:
        """Makes room for so many rows; doubling keeps the copying small."""
        room = self._means.shape[1]
        if rows > room:
            more = max(rows, 2 * room) - room
            grow = ((0, 0), (0, more), (0, 0))
            self._sums, self._means = np.pad(self._sums, grow), np.pad(self._means, grow)

"""Event prototypes: recurring patterns with how often and when last they were seen (Imprint section 3.2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ray_tasks.compression.context import as_directions
from ray_tasks.compression.settings import CompressionSettings
from ray_tasks.embedding.whole_vectors import Float32, Float64, Int64, as_cosines


class Kind(IntEnum):
    """How a record came to its prototype: near enough, as the first of a new one, or because there may be no more."""

    GENUINE = 0
    NEW = 1
    FORCED = 2


@dataclass(frozen=True, slots=True)
class Assignment:
    """A record's prototype: its number, how it came to it, nu with this record, and ms since it was seen before.

    prototypes: how many there are now, N of Eq. 2.
    """

    number: int
    kind: Kind
    recurrences: int
    elapsed_ms: int
    prototypes: int


class PrototypeBank:
    """The prototypes of one wearer; arrays have one row for each, in the order in which they came to be.

    A centroid is the mean of the records that came to it by nearness. Those that were forced to it count for how often
    and when it was seen, but do not move it: they are not alike.
    """

    def __init__(self, dimension: int, settings: CompressionSettings) -> None:
        self._settings = settings
        self.sums: Float64 = np.zeros((settings.most_prototypes, dimension))
        self.recurrences: Int64 = np.zeros(settings.most_prototypes, np.int64)
        self.last_ms: Int64 = np.zeros(settings.most_prototypes, np.int64)
        self._centroids: Float32 = np.zeros((settings.most_prototypes, dimension), np.float32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @classmethod
    def of(cls, sums: Float64, recurrences: Int64, last_ms: Int64, settings: CompressionSettings) -> PrototypeBank:
        """A bank as it was: sums (n, d) of whole vectors, counts (n,), times (n,) in ms."""
        bank = cls(sums.shape[1], settings)
        n = bank._count = len(sums)
        bank.sums[:n], bank.recurrences[:n], bank.last_ms[:n] = sums, recurrences, last_ms
        bank._centroids[:n] = as_directions(sums)
        return bank

    def assign(self, vector: Float32, start_ms: int) -> Assignment:
        """The prototype of a record, by its whole vector (d,) in context; it is counted there.

        Of equally near ones the older counts. A record is genuine where its cosine exceeds delta_g.
        """
        n = self._count
        number, kind = n, Kind.NEW
        if n:
            similar = as_cosines(self._centroids[:n] @ vector)
            nearest = int(np.argmax(similar))
            if similar[nearest] > self._settings.prototype_threshold:
                number, kind = nearest, Kind.GENUINE
            elif n == self._settings.most_prototypes:
                number, kind = nearest, Kind.FORCED
        elapsed = 0 if kind is Kind.NEW else max(start_ms - int(self.last_ms[number]), 0)
        if kind is Kind.NEW:
            self._count += 1
        if kind is not Kind.FORCED:
            self.sums[number] += vector
            self._centroids[number] = as_directions(self.sums[number])
        self.recurrences[number] += 1
        self.last_ms[number] = max(int(self.last_ms[number]), start_ms)
        return Assignment(number, kind, int(self.recurrences[number]), elapsed, self._count)

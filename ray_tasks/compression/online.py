"""Online compression: one pass over a wearer's records, each met once, in the order in which they end (Imprint 3.2).

What becomes of a record depends on it and on those before it only, so whatever a question may see of the memory is
what an earlier stop would have held. State can be taken at any record and gone on from: the result is the same, bit by
bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ray_tasks.compression.context import contextualised
from ray_tasks.compression.entries import Entries
from ray_tasks.compression.importance import importance
from ray_tasks.compression.prototypes import Assignment, Kind, PrototypeBank
from ray_tasks.compression.settings import CompressionSettings
from ray_tasks.corpus.week_time import day_of
from ray_tasks.embedding.whole_vectors import Float32, Float64, Int64, whole_vectors

DISCARDED = -1
"""In place of an entry: the record was not important enough."""


class OrderError(ValueError):
    """Records that do not come in the order in which they end."""


@dataclass(frozen=True)
class Compressed:
    """What became of n records, in their order; arrays (n,).

    prototypes: number of each one's prototype. kinds: a Kind. importance: w of Eq. 2. entries: number of the memory
    entry, or DISCARDED.
    """

    prototypes: Int64
    kinds: Int64
    importance: Float64
    entries: Int64

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def kept(self) -> npt.NDArray[np.bool_]:
        """(n,) which records are members of an entry."""
        return np.asarray(self.entries != DISCARDED, np.bool_)

    @property
    def founders(self) -> Int64:
        """Ascending numbers of the records that are the first of an entry, one for each entry.

        Entries are counted by these: their numbers have gaps where consolidation is off and a record was not kept.
        """
        numbers, first = np.unique(self.entries, return_index=True)
        return np.sort(first[numbers != DISCARDED])

    def assignments(self) -> dict[str, int]:
        """How many records came to their prototype in each way (Imprint Figure 6b)."""
        return {kind.name.lower(): int((self.kinds == kind).sum()) for kind in Kind}


@dataclass(frozen=True)
class State:
    """All that the next record may depend on.

    prototype_sums (p, d), recurrences (p,), last_ms (p,); entry_sums (2, m, d); history (h, d) whole vectors of the
    last records and their days (h,); seen: how many records there were; last_end_ms: when the last of them ended.
    """

    prototype_sums: Float64
    recurrences: Int64
    last_ms: Int64
    entry_sums: Float64
    history: Float32
    history_days: Int64
    seen: int
    last_end_ms: int


class Compressor:
    """Compresses the records of one wearer as they come."""

    def __init__(self, dimension: int, settings: CompressionSettings | None = None) -> None:
        self._settings = settings or CompressionSettings()
        self._bank = PrototypeBank(dimension, self._settings)
        self._entries = Entries(dimension, self._settings)
        self._history: Float32 = np.zeros((0, dimension), np.float32)
        self._history_days: Int64 = np.zeros(0, np.int64)
        self._last_end_ms = -1
        self._seen = 0

    @classmethod
    def resume(cls, state: State, settings: CompressionSettings | None = None) -> Compressor:
        """A compressor that goes on where another one, with the same settings, stopped."""
        compressor = cls(state.prototype_sums.shape[1], settings)
        compressor._bank = PrototypeBank.of(
            state.prototype_sums, state.recurrences, state.last_ms, compressor._settings
        )
        compressor._entries = Entries.of(state.entry_sums, compressor._settings)
        compressor._history, compressor._history_days = state.history, state.history_days
        compressor._seen, compressor._last_end_ms = state.seen, state.last_end_ms
        return compressor

    @property
    def state(self) -> State:
        """A copy of all that the next record may depend on."""
        n = len(self._bank)
        return State(
            self._bank.sums[:n].copy(),
            self._bank.recurrences[:n].copy(),
            self._bank.last_ms[:n].copy(),
            self._entries.sums.copy(),
            self._history.copy(),
            self._history_days.copy(),
            self._seen,
            self._last_end_ms,
        )

    def feed(self, vectors: Float32, start_ms: Sequence[int] | Int64, end_ms: Sequence[int] | Int64) -> Compressed:
        """What becomes of the next n records.

        `vectors` (n, d) are unit vectors of "action object"; times are week time in ms. Raises OrderError where a
        record ends before one that came earlier.
        """
        starts, ends = np.asarray(start_ms, np.int64), np.asarray(end_ms, np.int64)
        if len(ends) and np.any(np.diff(np.append(self._last_end_ms, ends)) < 0):
            raise OrderError("records must come in the order in which they end; sort them by (end, start, id)")
        alone = whole_vectors(vectors)
        context = self._in_context(alone, starts)
        assigned = [self._assign(vector, int(start)) for vector, start in zip(context, starts, strict=True)]
        weights = np.array(
            [importance(one.recurrences, one.elapsed_ms, one.prototypes, self._settings) for one in assigned],
            np.float64,
        )
        entries = np.full(len(starts), DISCARDED, np.int64)
        kept = np.flatnonzero(weights >= self._settings.least_importance)
        if self._settings.consolidation:
            entries[kept] = self._entries.consolidate(np.stack([alone[kept], context[kept]]))
        else:
            entries[kept] = self._seen + kept
        self._seen += len(starts)
        self._last_end_ms = int(ends[-1]) if len(ends) else self._last_end_ms
        return Compressed(
            np.array([one.number for one in assigned], np.int64),
            np.array([one.kind for one in assigned], np.int64),
            weights,
            entries,
        )

    def _in_context(self, alone: Float32, starts: Int64) -> Float32:
        """The records' vectors in context; the last of them become the history of the next."""
        known = len(self._history)
        vectors = np.concatenate([self._history, alone])
        days = np.concatenate([self._history_days, np.array([day_of(int(start)) for start in starts], np.int64)])
        context = contextualised(vectors, days, known, self._settings)
        first = max(len(vectors) - self._settings.history, 0)
        self._history, self._history_days = vectors[first:], days[first:]
        return context

    def _assign(self, vector: Float32, start_ms: int) -> Assignment:
        """A record's prototype; where there are none, it is the first of its pattern and N is 0."""
        if self._settings.prototypes:
            return self._bank.assign(vector, start_ms)
        return Assignment(0, Kind.NEW, 1, 0, 0)

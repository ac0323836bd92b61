"""Ranking of memory entries for a question (Imprint Eq. 3), over what it may see of them.

An entry is its members. The paper compares a question with "the object and action" of an entry, which after merging are
several: here the most similar among its visible members counts, so a specific object stays findable. Importance is
aggregated over the visible members too: an entry that goes on after the question weighs what it weighed by then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ray_tasks.compression.interactions import InteractionMemory
from ray_tasks.compression.online import DISCARDED
from ray_tasks.compression.settings import UNIT_MS
from ray_tasks.embedding.whole_vectors import Float32, Float64, Int64, cosines
from ray_tasks.retrieval.imprint.settings import ImprintSettings

NO_ENTRY = -1


@dataclass(frozen=True)
class Found:
    """An entry that was found: its score, and the numbers of those members that count, in order of their end."""

    entry: int
    score: float
    members: Int64


@dataclass(frozen=True)
class Ranking:
    """All visible entries of one question.

    owners (n,): the entry of each visible record, NO_ENTRY where it is in none. fits (n,): how well each record's own
    object and action fit, without importance. scores (m,): s of Eq. 3 by entry, -inf where no member is visible.
    """

    owners: Int64
    fits: Float64
    scores: Float64

    def best(self, k: int) -> list[Found]:
        """The k best entries, best first; of equal ones the older."""
        seen = np.flatnonzero(self.scores > -np.inf)
        if len(seen) > k:
            least = np.partition(self.scores[seen], len(seen) - k)[len(seen) - k]
            seen = seen[self.scores[seen] >= least]
        order = seen[np.lexsort((seen, -self.scores[seen]))][:k]
        return [Found(int(entry), float(self.scores[entry]), np.flatnonzero(self.owners == entry)) for entry in order]


def owners_of(memory: InteractionMemory, visible: int, settings: ImprintSettings) -> Int64:
    """(visible,) the entry of each of the first records, as far as the settings do not ignore compression."""
    entries = memory.compressed.entries[:visible]
    numbers = np.arange(visible, dtype=np.int64)
    kept = entries != DISCARDED
    if "consolidation" in settings.ignore:
        return numbers if "selection" in settings.ignore else np.where(kept, numbers, NO_ENTRY)
    if "selection" in settings.ignore and visible:
        return np.where(kept, entries, entries.max() + 1 + numbers)
    return np.where(kept, entries, NO_ENTRY)


def phrase_cosines(memory: InteractionMemory, queries: Float32) -> Float64:
    """(q, m) cosines of q whole query vectors with every phrase; the same bits however many are asked at once."""
    return np.ascontiguousarray(cosines(memory.vectors, queries).T)


def rank(
    memory: InteractionMemory, at_ms: int, of_object: Float64, of_action: Float64, settings: ImprintSettings
) -> Ranking:
    """Eq. 3 over the entries that have a member which ended by `at_ms`.

    of_object, of_action: (m,) cosines of the question's object and action with every phrase; a record without an object
    has the cosine 0.
    """
    n = memory.visible(at_ms)
    owners = owners_of(memory, n, settings)
    weights = settings.gammas
    objects = memory.objects[:n]
    own_object = np.where(objects >= 0, of_object[np.maximum(objects, 0)], 0.0) if n else np.zeros(0)
    own_action = of_action[memory.actions[:n]] if n else np.zeros(0)
    members = np.flatnonzero(owners != NO_ENTRY)
    entries, size = owners[members], int(owners.max(initial=NO_ENTRY)) + 1
    terms = (
        _largest(own_object[members], entries, size),
        _largest(own_action[members], entries, size),
        _importance(memory, at_ms, members, entries, size, settings),
    )
    scores, seen = np.full(size, -np.inf), np.bincount(entries, minlength=size) > 0
    scores[seen] = sum(weight * term[seen] for weight, term in zip(weights, terms, strict=True))
    return Ranking(owners, weights[0] * own_object + weights[1] * own_action, scores)


def _largest(values: Float64, entries: Int64, size: int) -> Float64:
    """(size,) the largest value of each entry's members; -inf for entries without any."""
    largest = np.full(size, -np.inf)
    np.maximum.at(largest, entries, values)
    return largest


def _importance(
    memory: InteractionMemory, at_ms: int, members: Int64, entries: Int64, size: int, settings: ImprintSettings
) -> Float64:
    """(size,) w of each entry as of the question; of no meaning where no member is visible."""
    weights = memory.compressed.importance[members]
    if memory.settings.combine == "max":
        combined = _largest(weights, entries, size)
    else:
        counts = np.bincount(entries, minlength=size)
        combined = np.bincount(entries, weights=weights, minlength=size) / np.maximum(counts, 1)
    if settings.rescore == "query":
        last = np.zeros(size, np.int64)
        np.maximum.at(last, entries, memory.end_ms[members])
        units = (at_ms - last) / UNIT_MS[memory.settings.elapsed_unit]
        combined = combined * np.power(math.e, -memory.settings.decay * units)
    return np.asarray(combined, np.float64)

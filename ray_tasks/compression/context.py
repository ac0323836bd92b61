"""The contextualised embedding of a record: what was done right before gives an act its meaning (Imprint 3.2.1, 4.1).

The paper gives no formula, only alpha_h, delta_h and k. Read here as: of the k records before, those whose cosine with
this one exceeds delta_h are averaged, weighted by that cosine, and the average is mixed in with weight alpha_h.
"""

from __future__ import annotations

import numpy as np

from ray_tasks.compression.settings import CompressionSettings
from ray_tasks.embedding.whole_vectors import SCALE, Float32, Float64, Int64, as_cosines


def contextualised(vectors: Float32, days: Int64, before: int, settings: CompressionSettings) -> Float32:
    """Whole vectors (n - before, d) of records in their context.

    `vectors` (n, d) are whole vectors of action and object in order of arrival, `days` (n,) the day of each; the first
    `before` only serve as history. History does not reach across midnight of the recording, where a night lies between.
    Sums run in one fixed order, so a record gets the same bits however many are asked for at once.
    """
    own = np.asarray(vectors[before:], np.float64)
    gathered = np.zeros_like(own)
    weights = np.zeros(len(own))
    places = np.arange(before, len(vectors))
    for lag in range(1, settings.history + 1):
        there = np.flatnonzero((places >= lag) & (days[places] == days[np.maximum(places - lag, 0)]))
        earlier = vectors[places[there] - lag]
        similar = as_cosines(np.einsum("ij,ij->i", vectors[places[there]], earlier))
        similar = np.where(similar > settings.history_threshold, similar, 0.0)
        gathered[there] += similar[:, None] * earlier
        weights[there] += similar
    told = weights > 0
    mixed = own.copy()
    history = gathered[told] / weights[told, None]
    mixed[told] = (1 - settings.history_weight) * own[told] + settings.history_weight * history
    return as_directions(mixed)


def as_directions(sums: Float64) -> Float32:
    """The whole unit vectors (n, d) that point where sums (n, d) point; a sum of zero gives zeros."""
    lengths = np.sqrt(np.square(sums).sum(axis=-1, keepdims=True))
    return np.asarray(np.rint(sums * (SCALE / np.maximum(lengths, 1e-9))), np.float32)

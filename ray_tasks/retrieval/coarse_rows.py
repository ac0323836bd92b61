"""Activities and conversations over the clips they cover.

A coarse row lasts minutes and ends later than its first clips, so unlike a fine row it may be unseen although they are
seen: at every question only rows that have ended count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ray_tasks.embedding.whole_vectors import Float32, Float64, Int64, as_cosines, whole_vectors
from ray_tasks.index.memory import ViewIndex


@dataclass(frozen=True)
class CoarseRows:
    """Rows of a coarse view in order of their end, and which of them cover each clip.

    vectors (rows, d) whole numbers. layers: each (clips,) one of the rows that cover a clip, every such row in one of
    them; the number of rows where there is none. Rows hardly ever overlap, so there is mostly one layer.
    """

    view: ViewIndex
    vectors: Float32
    layers: tuple[Int64, ...]

    @classmethod
    def of(cls, view: ViewIndex, clip_starts: Int64, clip_ends: Int64) -> CoarseRows:
        """A row covers the clips from its first caption on that have ended by its end."""
        layers: list[Int64] = []
        ended = np.searchsorted(clip_ends, view.end_ms, side="right")
        for row, (first, last) in enumerate(zip(view.caption_rows, ended, strict=True)):
            left = np.arange(first, last)
            left = left[clip_starts[left] >= view.start_ms[row]]
            number = 0
            while len(left):
                if number == len(layers):
                    layers.append(np.full(len(clip_ends), len(view), np.int64))
                free = layers[number][left] == len(view)
                layers[number][left[free]] = row
                left = left[~free]
                number += 1
        return cls(view, whole_vectors(view.vectors), tuple(layers))

    def best_in_clips(self, queries: Float32, at_ms: int, best: Float32) -> None:
        """Raises best (m, clips) to the largest product of m queries (m, d) with the ended rows covering each clip."""
        ended = self.view.visible(at_ms)
        products = np.full((len(queries), ended + 1), -np.inf, np.float32)
        products[:, :ended] = queries @ self.vectors[:ended].T
        for layer in self.layers:
            covering = np.minimum(layer[: best.shape[1]], ended)
            np.maximum(best, products[:, covering], out=best)


def coarse_cosines(views: Sequence[CoarseRows], queries: Float32, at_ms: int, visible: int) -> Float64:
    """(m, visible) the largest cosine of the coarse rows over each clip; NaN where no ended row covers it."""
    best = np.full((len(queries), visible), -np.inf, np.float32)
    for view in views:
        view.best_in_clips(queries, at_ms, best)
    cosines = as_cosines(best)
    cosines[np.isinf(cosines)] = np.nan
    return cosines

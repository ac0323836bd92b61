"""Activities and conversations over the clips they cover.

A coarse row lasts minutes and ends later than its first clips, so unlike a fine row it may be unseen although they are
seen: at every question only rows that have ended count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ray_tasks.index.memory import ViewIndex
from ray_tasks.retrieval.whole_vectors import Float32, Float64, Int64, cosines, whole_vectors


@dataclass(frozen=True)
class CoarseRows:
    """Rows of a coarse view in order of their end, and the pairs (row, clip) of what each covers, in order of rows."""

    view: ViewIndex
    vectors: Float32
    pair_rows: Int64
    pair_clips: Int64

    @classmethod
    def of(cls, view: ViewIndex, clip_starts: Int64, clip_ends: Int64) -> CoarseRows:
        """Each row with the clips from its first caption on that have ended by its end."""
        rows: list[Int64] = []
        clips: list[Int64] = []
        ended = np.searchsorted(clip_ends, view.end_ms, side="right")
        for row, (first, last) in enumerate(zip(view.caption_rows, ended, strict=True)):
            covered = np.arange(first, last)
            covered = covered[clip_starts[covered] >= view.start_ms[row]]
            clips.append(covered)
            rows.append(np.full(len(covered), row))
        nothing = np.zeros(0, np.int64)
        return cls(
            view, whole_vectors(view.vectors), np.concatenate([nothing, *rows]), np.concatenate([nothing, *clips])
        )

    def best_in_clips(self, queries: Float32, at_ms: int, best: Float64) -> None:
        """Raises best (m, clips) to the largest cosine of the ended rows that cover each clip, for m queries (m, d)."""
        ended = self.view.visible(at_ms)
        pairs = int(np.searchsorted(self.pair_rows, ended))
        if not pairs:
            return
        values = cosines(queries, self.vectors[:ended])[:, self.pair_rows[:pairs]]
        for row, value in zip(best, values, strict=True):
            np.maximum.at(row, self.pair_clips[:pairs], value)


def coarse_cosines(views: Sequence[CoarseRows], queries: Float32, at_ms: int, visible: int) -> Float64:
    """(m, visible) the largest cosine of the coarse rows over each clip; NaN where no ended row covers it."""
    best = np.full((len(queries), visible), -np.inf)
    for view in views:
        view.best_in_clips(queries, at_ms, best)
    best[~np.isfinite(best)] = np.nan
    return best

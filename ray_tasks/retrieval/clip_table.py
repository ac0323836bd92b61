"""What retrieval precomputes of a memory: its clips, the rows of each, and which clips are one recording.

A clip is a caption of the memory (30 seconds). Clips are in order of (end, start, id), so what a question may see is a
prefix of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ray_tasks.corpus.recorded_time import RecordedTimeline
from ray_tasks.corpus.week_time import MINUTE_MS
from ray_tasks.embedding.whole_vectors import Float32, Float64, Int64, whole_vectors
from ray_tasks.index.lexical import LexicalIndex
from ray_tasks.index.memory import ViewIndex, WearerMemory
from ray_tasks.retrieval.coarse_rows import CoarseRows
from ray_tasks.retrieval.per_memory import PerMemory

FINE_VIEWS = ("action", "utterance")
COARSE_VIEWS = ("activity", "conversation")
GAP_MS = 2 * MINUTE_MS
"""Clips further apart than this belong to different recordings; no window of neighbours crosses such a gap."""

_ROWS_AT_ONCE = 1024  # a block of scores that stays in the processor's cache


@dataclass(frozen=True)
class EqualClips:
    """Clips, ascending, that have `rows` rows each; these lie together from position `first` on."""

    rows: int
    first: int
    clips: Int64


@dataclass(frozen=True)
class RowBlock:
    """Rows of one view; those of a clip lie together, and so do the clips that have equally many.

    vectors (rows, d) whole numbers; row_numbers (rows,) their rows in the view; firsts (clips,) and counts (clips,)
    where each clip's rows begin, and how many it has; equal: the clips that have any, by their number of rows.
    """

    view: ViewIndex
    vectors: Float32
    row_numbers: Int64
    firsts: Int64
    counts: Int64
    equal: tuple[EqualClips, ...]

    @classmethod
    def of(cls, view: ViewIndex, clip_ends: Int64) -> RowBlock:
        """The rows of a view by clip: that of its first caption, or a later one where the row itself ends later.

        A clip that has ended therefore holds no row that has not. Rows that outlast every clip are left out.
        """
        clips = np.maximum(view.caption_rows, np.searchsorted(clip_ends, view.end_ms))
        rows = np.flatnonzero(clips < len(clip_ends))
        counts = np.bincount(clips[rows], minlength=len(clip_ends))
        order = rows[np.lexsort((rows, clips[rows], counts[clips[rows]]))]
        by_count = np.argsort(counts, kind="stable")
        firsts = np.empty(len(clip_ends), np.int64)
        firsts[by_count] = np.cumsum(counts[by_count]) - counts[by_count]
        equal = (np.flatnonzero(counts == number) for number in np.unique(counts[counts > 0]))
        return cls(
            view=view,
            vectors=whole_vectors(view.vectors[order]),
            row_numbers=order,
            firsts=firsts,
            counts=counts,
            equal=tuple(EqualClips(int(counts[same[0]]), int(firsts[same[0]]), same) for same in equal),
        )

    @cached_property
    def lexical(self) -> LexicalIndex:
        """The words of each clip's rows of this view, one document for each clip."""
        clips = np.full(len(self.view), len(self.counts))
        for same in self.equal:
            clips[self.row_numbers[same.first : same.first + len(same.clips) * same.rows]] = np.repeat(
                same.clips, same.rows
            )
        return self.view.lexical.grouped(clips, len(self.counts))

    @cached_property
    def position_of(self) -> Int64:
        """(rows of the view,) the position of each row in this block; beyond the last for rows left out."""
        places = np.full(len(self.view), len(self.row_numbers))
        places[self.row_numbers] = np.arange(len(self.row_numbers))
        return places

    def largest_in_clips(self, values: Float64, best: Float64) -> None:
        """Raises best (clips,) to the largest of the values (rows,) of each clip's rows; `best` as in best_in_clips."""
        for same in self.equal:
            seen = int(np.searchsorted(same.clips, len(best)))
            clips = same.clips[:seen]
            largest = values[same.first : same.first + seen * same.rows].reshape(seen, same.rows).max(axis=1)
            best[clips] = np.maximum(best[clips], largest)

    def positions(self, clip: int) -> range:
        """Positions in this block of a clip's rows."""
        first = int(self.firsts[clip])
        return range(first, first + int(self.counts[clip]))

    def best_in_clips(self, queries: Float32, best: Float32) -> None:
        """Raises best (clips, m) to the largest product of each clip's rows with m whole query vectors.

        `best` may hold only the first clips, as many as can be seen; the others are not looked at.
        """
        for same in self.equal:
            step = max(1, _ROWS_AT_ONCE // same.rows)
            seen = int(np.searchsorted(same.clips, len(best)))
            for place in range(0, seen, step):
                clips = same.clips[place : min(place + step, seen)]
                low = same.first + place * same.rows
                scores = self.vectors[low : low + len(clips) * same.rows] @ queries.T
                largest = scores.reshape(len(clips), same.rows, len(queries)).max(axis=1)
                best[clips] = np.maximum(best[clips], largest)


@dataclass(frozen=True)
class ClipTable:
    """The clips of one memory; arrays have n entries, one for each clip in order of (end, start, id)."""

    captions: ViewIndex
    vectors: Float32  # (n, d) whole vectors of the captions
    blocks: tuple[RowBlock, ...]
    coarse: tuple[CoarseRows, ...]
    timeline: RecordedTimeline
    start_ms: Int64
    end_ms: Int64
    hours: Float64  # recorded hours of the starts
    segments: Int64  # ascending number of the recording that each clip belongs to

    @staticmethod
    def of(memory: WearerMemory) -> ClipTable:
        """The table of a memory, made once for each memory object and kept as long as that object lives."""
        return _TABLES(memory)

    @classmethod
    def make(cls, memory: WearerMemory) -> ClipTable:
        """A new table; `of` gives the one that is kept."""
        captions = memory.captions
        breaks = np.zeros(len(captions), np.int64)
        breaks[1:] = captions.start_ms[1:] - captions.end_ms[:-1] > GAP_MS
        return cls(
            captions=captions,
            vectors=whole_vectors(captions.vectors),
            blocks=tuple(RowBlock.of(memory.views[view], captions.end_ms) for view in FINE_VIEWS),
            coarse=tuple(
                CoarseRows.of(memory.views[view], captions.start_ms, captions.end_ms) for view in COARSE_VIEWS
            ),
            timeline=memory.timeline,
            start_ms=captions.start_ms,
            end_ms=captions.end_ms,
            hours=captions.start_hours,
            segments=np.cumsum(breaks),
        )

    def __len__(self) -> int:
        return len(self.start_ms)

    def visible(self, at_ms: int) -> int:
        """How many clips, all first in order, end at or before a moment."""
        return self.captions.visible(at_ms)

    def gap_hours(self, visible: int, windows: list[tuple[int, int]]) -> Float64:
        """(visible,) recorded hours from each clip's start to the nearest window of week time (EgoCITE Eq. 1).

        Without windows: to the last visible clip, which stands for the moment of asking. Windows are cut at its end, so
        that what is recorded later does not matter.
        """
        if visible == 0:
            return np.zeros(0)
        last = int(self.end_ms[visible - 1])
        hours = self.hours[:visible]
        gaps = np.full(visible, np.inf)
        for start, end in windows or [(last, last)]:
            low, high = self.timeline.hours(np.array([min(start, last), min(end, last)], np.int64))
            gaps = np.minimum(gaps, np.maximum(np.maximum(low - hours, hours - high), 0.0))
        return gaps

    def touching(self, visible: int, windows: list[tuple[int, int]]) -> npt.NDArray[np.bool_]:
        """(visible,) whether each clip touches one of the windows of week time."""
        touches = np.zeros(visible, np.bool_)
        for start, end in windows:
            touches |= (self.start_ms[:visible] <= end) & (self.end_ms[:visible] >= start)
        return touches

    def row_words(self, tokens: Sequence[str], visible: int) -> Float64:
        """(visible,) of the words asked for, weighted by rarity among clips, the share that the best row holds."""
        best, total = np.zeros(visible), 1e-9
        held = [np.zeros(len(block.row_numbers) + 1) for block in self.blocks]
        for term in dict.fromkeys(tokens):
            holding = len(self.captions.lexical.postings(term, visible)[0])
            idf = float(np.log1p((visible - holding + 0.5) / (holding + 0.5)))
            total += idf
            for block, values in zip(self.blocks, held, strict=True):
                values[block.position_of[block.view.lexical.postings(term, len(block.view))[0]]] += idf
        for block, values in zip(self.blocks, held, strict=True):
            block.largest_in_clips(values, best)
        return best / total

    @cached_property
    def _segment_bounds(self) -> tuple[Int64, Int64]:
        low = np.searchsorted(self.segments, self.segments, side="left")
        high = np.searchsorted(self.segments, self.segments, side="right")
        return low, high

    def neighbours(self, reach: int, visible: int) -> tuple[Int64, Int64]:
        """For each visible clip the bounds [low, high) of the visible clips at most `reach` away in its recording."""
        numbers = np.arange(visible)
        low, high = self._segment_bounds
        return (
            np.maximum(numbers - reach, low[:visible]),
            np.minimum(np.minimum(numbers + reach + 1, high[:visible]), visible),
        )


_TABLES = PerMemory(ClipTable.make)

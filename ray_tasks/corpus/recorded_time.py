"""Recorded time: week time without the unrecorded nights, in hours (EgoCITE §4.2, Appendix B.3).

A day counts from its first to its last recorded moment; gaps inside a day remain, what lies between days is removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RecordedTimeline:
    """The recorded span of each day, joined end to end. Build it with `from_intervals`."""

    starts: Int64  # (days,) first recorded ms of each day, ascending
    ends: Int64  # (days,) last recorded ms of each day
    offsets: Int64  # (days,) recorded ms before each day

    @classmethod
    def from_intervals(cls, start_ms: Int64, end_ms: Int64) -> RecordedTimeline:
        """Days and their bounds from intervals (ms of week time); an interval belongs to the day in which it starts."""
        bounds: dict[int, tuple[int, int]] = {}
        days = np.asarray(start_ms, np.int64) // DAY_MS
        for day in np.unique(days):
            inside = days == day
            bounds[int(day)] = (int(np.min(start_ms[inside])), int(np.max(end_ms[inside])))
        return cls.from_bounds(bounds)

    @classmethod
    def from_bounds(cls, bounds: Mapping[int, tuple[int, int]]) -> RecordedTimeline:
        """From (first, last) recorded ms for each day; a day that runs into the next one is cut where that begins."""
        starts = np.array([bounds[day][0] for day in sorted(bounds)], np.int64)
        ends = np.array([bounds[day][1] for day in sorted(bounds)], np.int64)
        if len(starts) > 1:
            ends[:-1] = np.minimum(ends[:-1], starts[1:])
        lengths = ends - starts
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)[:-1]]) if len(starts) else starts
        return cls(starts, ends, offsets)

    def hours(self, ms: int | Int64) -> Float64:
        """Recorded hours at week times; an unrecorded moment maps to the last recorded one before it (or the first)."""
        times = np.asarray(ms, np.int64)
        if not len(self.starts):
            return np.zeros(times.shape, np.float64)
        day = np.clip(np.searchsorted(self.starts, times, side="right") - 1, 0, None)
        inside = np.clip(times, self.starts[day], self.ends[day]) - self.starts[day]
        return np.asarray((self.offsets[day] + inside) / HOUR_MS, np.float64)

    def gap_hours(self, ms: Int64, start: int, end: int) -> Float64:
        """Recorded hours between each time and the window [start, end] (swapped where reversed); 0 inside it.

        Shapes: (n,) -> (n,). This is the exponent of EgoCITE Eq. 1.
        """
        low, high = self.hours(np.array([min(start, end), max(start, end)], np.int64))
        at = self.hours(ms)
        return np.asarray(np.maximum(np.maximum(low - at, at - high), 0.0), np.float64)

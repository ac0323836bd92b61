"""Recorded time: week time without the unrecorded nights, in hours (EgoCITE §4.2, Appendix B.3).

A day counts from its first to its last recorded moment; gaps inside a day remain, what lies between days is removed.
For a question only what ended before it exists, and recorded time must not move with what ends later. So a day begins
with the interval that ends first, and an interval that is still open when a later day has ended its first is not
counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS, day_of

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]


def day_bounds(start_ms: Int64, end_ms: Int64) -> dict[int, tuple[int, int]]:
    """First and last recorded ms of each day (from 1); an interval belongs to the day in which it starts."""
    bounds: dict[int, tuple[int, int]] = {}
    for start, end in zip(start_ms.tolist(), end_ms.tolist(), strict=True):
        first, last = bounds.get(day_of(start), (start, end))
        bounds[day_of(start)] = (min(first, start), max(last, end))
    return bounds


def hours_outside(hours: Float64, low: float, high: float) -> Float64:
    """Recorded hours between each of some moments and the window [low, high], all in recorded hours; 0 inside it.

    Shapes: (n,) -> (n,). This is the exponent of EgoCITE Eq. 1.
    """
    return np.asarray(np.maximum(np.maximum(low - hours, hours - high), 0.0), np.float64)


@dataclass(frozen=True)
class RecordedTimeline:
    """The recorded span of each day, joined end to end. Made by `from_intervals` or `from_bounds`."""

    starts: Int64  # (days,) first recorded ms of each day, ascending
    ends: Int64  # (days,) last recorded ms of each day
    offsets: Int64  # (days,) recorded ms before each day

    @classmethod
    def from_intervals(cls, start_ms: Int64, end_ms: Int64) -> RecordedTimeline:
        """The timeline of intervals in ms of week time, by the days in which they start.

        For any time T, recorded hours between moments up to T are those of the intervals that end by T alone.
        """
        order = np.lexsort((start_ms, end_ms))
        starts, ends, days = start_ms[order], end_ms[order], start_ms[order] // DAY_MS + 1
        bounds: dict[int, tuple[int, int]] = {}
        known = len(ends)  # intervals, in order of their end, that have ended when the days after this one begin
        for day in np.unique(days)[::-1]:
            first = int(np.argmax(days == day))
            so_far = ends[:known][days[:known] <= day]
            bounds[int(day)] = (int(starts[first]), max(int(starts[first]), int(so_far.max(initial=0))))
            known = min(known, first + 1)
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
        """Recorded hours between each time and the window [start, end] of week time (swapped where reversed)."""
        low, high = self.hours(np.array([min(start, end), max(start, end)], np.int64))
        return hours_outside(self.hours(ms), low, high)

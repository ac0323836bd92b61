"""Intervals of source rows: what is done with reversed, endless and misplaced ones. Times in ms."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

MAX_ROW_MS = 600_000
"""Beyond ten minutes an end is wrong (the longest real row lasts 71 s): the row is kept as a point at its start."""

STRAY_MS = 3_600_000
"""A row that starts more than an hour after the end of its file's hour is kept where it says, with a warning."""

ASSUMED_LENGTH_MS = 10_000
"""The longest that a row without an end is taken to last."""


TOLD: Final = {
    "reversed": "ends before it starts; kept as a point at its start",
    "implausible_end": "lasts longer than ten minutes; kept as a point at its start",
    "clamped": "runs past the end of its clip; cut there",
    "stray": "starts more than an hour after its file's hour; kept where it says",
}
"""Notes on single rows that a person should look at, in words."""


class Span(NamedTuple):
    """An interval as it is kept, and words for what was odd about it."""

    start_ms: int
    end_ms: int
    notes: tuple[str, ...] = ()


def settle_span(start_ms: int, end_ms: int, hour_end_ms: int, limit_ms: int | None = None) -> Span:
    """The interval of a row, never dropped and never moved to another hour.

    `hour_end_ms` is the end of the hour that the file is named for; `limit_ms` is the end of a clip of known length,
    to which rows are cut. Notes: ``clamped``, ``reversed``, ``implausible_end`` (both kept as a point at the start),
    ``zero_length``, ``past_hour`` (ends after the hour), ``starts_past_hour``, ``stray``.
    """
    notes: list[str] = []
    if limit_ms is not None and max(start_ms, end_ms) > limit_ms:
        start_ms, end_ms = min(start_ms, limit_ms), min(end_ms, limit_ms)
        notes.append("clamped")
    if end_ms < start_ms:
        end_ms = start_ms
        notes.append("reversed")
    elif end_ms - start_ms > MAX_ROW_MS:
        end_ms = start_ms
        notes.append("implausible_end")
    elif end_ms == start_ms:
        notes.append("zero_length")
    if end_ms > hour_end_ms:
        notes.append("past_hour")
    if start_ms >= hour_end_ms:
        notes.append("starts_past_hour")
    if start_ms > hour_end_ms + STRAY_MS:
        notes.append("stray")
    return Span(start_ms, end_ms, tuple(notes))


def assume_ends(starts: Sequence[int]) -> list[tuple[int, int]]:
    """Intervals, in order of time, for annotations that have starts only; the input is left as it is.

    Each lasts until the next different start, and at most ASSUMED_LENGTH_MS.
    """
    following = dict(pairwise(sorted(set(starts))))
    return [
        (start, min(following.get(start, start + ASSUMED_LENGTH_MS), start + ASSUMED_LENGTH_MS))
        for start in sorted(starts)
    ]

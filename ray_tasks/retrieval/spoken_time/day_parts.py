"""Parts of a day and meals: the hours each of them covers, and what lies before or after it.

Widths follow measurements on questions whose true moment is known: people stretch every part.
"""

from __future__ import annotations

from typing import Final

from ray_tasks.corpus.week_time import HOUR_MS

DAY_END_HOUR: Final = 28
"""An evening runs on to 04:00, which is when people begin to speak of another day."""

PARTS: Final[dict[str, tuple[float, float]]] = {
    "dawn": (4, 8.5),
    "sunrise": (4, 8.5),
    "early morning": (0, 9),
    "morning": (0, 12.2),
    "mid morning": (8.5, 12),
    "late morning": (9.5, 12.5),
    "breakfast": (6, 11),
    "noon": (11, 14.5),
    "midday": (11, 14.5),
    "lunchtime": (11, 14.5),
    "lunch": (11, 14.5),
    "early afternoon": (12, 15.5),
    "afternoon": (12, 18.6),
    "mid afternoon": (13, 17.5),
    "late afternoon": (14.5, 19),
    "dusk": (16.5, 21),
    "sunset": (16.5, 21),
    "dinnertime": (16.5, 22),
    "dinner": (16.5, 22),
    "supper": (16.5, 22),
    "early evening": (16.5, 20.5),
    "evening": (17, 28),
    "late evening": (19.5, 28),
    "night": (17, 28),
    "late night": (20.5, 28),
    "bedtime": (21, 28),
    "midnight": (22.5, 28),
}
"""Hours of a day that each part of it covers; those from 24 on are of the next calendar day."""

MEALS: Final = frozenset(["breakfast", "lunchtime", "lunch", "dinnertime", "dinner", "supper"])
"""Parts that a household keeps at its own hours, so that their windows are less sure."""
POINTS: Final[dict[str, float]] = {"noon": 12, "midday": 12, "midnight": 24}
"""Parts that are a moment where a range begins or ends with them."""
_CORES: Final[dict[str, tuple[float, float]]] = {
    "breakfast": (7.5, 9.5),
    "noon": (12, 12.5),
    "midday": (12, 12.5),
    "lunchtime": (12, 13.5),
    "lunch": (12, 13.5),
    "dinnertime": (18, 20),
    "dinner": (18, 20),
    "supper": (18, 20),
    "midnight": (24, 24),
}
"""The usual hours of what people speak of as "just before" and "right after"."""
_CLOSE_HOURS: Final = 2.0

Hours = tuple[float, float]


def hours_of(part: str, modifier: str | None = None) -> Hours:
    """The hours of a part; `modifier` is early or late, which a few parts know."""
    return PARTS.get(f"{modifier} {part}", PARTS[part])


def related(part: str, relation: str | None, *, close: bool, modifier: str | None = None) -> Hours:
    """The hours before, after or at a part of the same day; `close`: just before it, or right after it."""
    low, high = hours_of(part, modifier)
    core_low, core_high = _CORES.get(part, (low, high))
    if relation in ("before", "until"):
        return (core_low - _CLOSE_HOURS, core_low + 0.5) if close else (0.0, high)
    if relation in ("after", "since"):
        return (core_high - 0.5, core_high + _CLOSE_HOURS) if close else (low, float(DAY_END_HOUR))
    return low, high


def hours_ms(hours: float) -> int:
    """Hours as milliseconds."""
    return round(hours * HOUR_MS)

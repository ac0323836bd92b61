"""Parts of a day as hours, and how long ago a moment was in the words of people (Imprint Appendix D).

The paper maps the time since a record to a label such as "this morning" without saying which hours it has. These are
narrower than those by which evidence is preferred (time_phrases.PARTS), since here they exclude.
"""

from __future__ import annotations

import re
from typing import Final

from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS, MINUTE_MS, day_of

PARTS: Final[dict[str, tuple[float, float]]] = {
    "early morning": (4, 9),
    "morning": (5, 12),
    "breakfast": (6, 11),
    "noon": (11, 14),
    "midday": (11, 14),
    "lunch": (11, 14),
    "afternoon": (12, 18),
    "dinner": (17, 22),
    "supper": (17, 22),
    "evening": (17, 22),
    "midnight": (22, 28),
    "night": (20, 29),
}
"""Hours of each part; what goes past 24 is of the next day, up to five in the morning."""

_PART: Final = re.compile("|".join(sorted(PARTS, key=len, reverse=True)))
_NIGHT_ENDS: Final = 5.0


def day_parts_in(text: str) -> tuple[tuple[float, float], ...]:
    """The parts of a day that a text names, as (from, to) hours."""
    return tuple(PARTS[name] for name in _PART.findall(text.lower()))


def is_in_part(at_ms: int, part: tuple[float, float]) -> bool:
    """Whether a moment of week time lies in a part of any day; its end is not part of it."""
    hour = at_ms % DAY_MS / HOUR_MS
    return part[0] <= hour < part[1] or part[0] <= hour + 24 < part[1]


def temporal_label(at_ms: int, asked_ms: int) -> str:
    """How people would say when a moment was: "20 minutes ago", "this morning", "yesterday evening", "3 days ago"."""
    minutes = max(asked_ms - at_ms, 0) // MINUTE_MS
    if minutes < 60:
        return f"{minutes} minute{'' if minutes == 1 else 's'} ago"
    # People who are awake at two in the morning still call it the night of the day before.
    days = day_of(asked_ms - round(_NIGHT_ENDS * HOUR_MS)) - day_of(at_ms - round(_NIGHT_ENDS * HOUR_MS))
    hour = at_ms % DAY_MS / HOUR_MS
    part = next(
        (name for name in ("morning", "afternoon", "evening") if PARTS[name][0] <= hour < PARTS[name][1]), "night"
    )
    if days <= 0:
        return "tonight" if part == "night" else f"this {part}"
    if days == 1:
        return "last night" if part == "night" else f"yesterday {part}"
    return f"{days} days ago, {'at' if part == 'night' else 'in the'} {part}"

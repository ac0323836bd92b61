"""What recurs in a memory of interactions, and how the memory grows: for people who look at it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from ray_tasks.compression.interactions import InteractionMemory
from ray_tasks.corpus.week_time import DAY_MS, day_of, hour_of

PARTS_OF_DAY: Final = {
    "night": (20, 29),
    "morning": (5, 12),
    "midday": (12, 14),
    "afternoon": (14, 18),
    "evening": (18, 20),
}
"""Hours of the day, from and before; night runs on to five o'clock.

They divide the day, to count with. What a question means by "evening" is wider and overlaps its neighbours.
"""


@dataclass(frozen=True, slots=True)
class Pattern:
    """An entry of the memory: its commonest wording, importance, members, the days they are on and parts of the day."""

    text: str
    importance: float
    members: int
    days: int
    parts: dict[str, int]


def patterns(memory: InteractionMemory, most: int) -> list[Pattern]:
    """The most important entries that recur, by importance to one digit and then by the number of their members."""
    kept = np.flatnonzero(memory.kept(len(memory)))
    entries = memory.compressed.entries[kept]
    order = np.argsort(entries, kind="stable")
    bounds = np.flatnonzero(np.diff(entries[order], prepend=-1, append=-1))
    weights = memory.compressed.importance[kept[order]]
    combine = np.max if memory.settings.combine == "max" else np.mean
    groups = [(float(combine(weights[low:high])), kept[order[low:high]]) for low, high in pairwise(bounds)]
    recurring = [group for group in groups if len(group[1]) > 1]
    recurring.sort(key=lambda group: (-round(group[0], 1), -len(group[1])))
    return [_pattern(memory, weight, members.tolist()) for weight, members in recurring[:most]]


def _pattern(memory: InteractionMemory, weight: float, members: list[int]) -> Pattern:
    records = [memory.records[row] for row in members]
    texts = Counter(" ".join(filter(None, (record.person, record.action, record.object))) for record in records)
    parts = Counter(_part(hour_of(record.start_ms)) for record in records)
    days = {day_of(record.start_ms) for record in records}
    return Pattern(texts.most_common(1)[0][0], weight, len(records), len(days), dict(parts.most_common()))


def _part(hour: int) -> str:
    return next(name for name, (first, last) in PARTS_OF_DAY.items() if first <= hour < last or hour + 24 < last)


def growth(memory: InteractionMemory) -> dict[int, tuple[int, int]]:
    """By day, how many records and how many entries there are up to its end."""
    days = range(1, day_of(int(memory.end_ms[-1])) + 1) if len(memory) else range(0)
    sizes = {day: memory.visible(day * DAY_MS - 1) for day in days}
    founders = memory.compressed.founders
    return {day: (size, int(np.searchsorted(founders, size))) for day, size in sizes.items()}

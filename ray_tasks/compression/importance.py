"""The importance of a record (Imprint Eq. 2)."""

from __future__ import annotations

import math

from ray_tasks.compression.settings import UNIT_MS, CompressionSettings


def importance(recurrences: int, elapsed_ms: int, prototypes: int, settings: CompressionSettings) -> float:
    """w = ln(1 + nu) x exp(-lambda Delta T) / (1 + ln(1 + N)), with the factors that are switched on.

    `recurrences` is nu, this record included: otherwise the first of a pattern would weigh nothing. `elapsed_ms` is the
    time since the pattern was last seen before this record, 0 for a new one. `prototypes` is N, also after this record.
    """
    if not settings.importance:
        return 1.0
    weight = math.log(1 + recurrences) if settings.frequency else 1.0
    if settings.recency:
        weight *= math.exp(-settings.decay * elapsed_ms / UNIT_MS[settings.elapsed_unit])
    if settings.distinctiveness:
        weight /= 1 + math.log(1 + prototypes)
    return weight

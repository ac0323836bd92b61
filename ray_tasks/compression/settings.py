"""Settings of compression: the paper's values as defaults, and a switch for every part that it takes away in turn."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Final, Literal

from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS, MINUTE_MS
from ray_tasks.errors import UsageError

UNIT_MS: Final = {"minutes": MINUTE_MS, "hours": HOUR_MS, "days": DAY_MS}
"""The units that the elapsed time may have, in ms."""


@dataclass(frozen=True, slots=True)
class CompressionSettings:
    """What decides how records become a memory (Imprint sections 3.2 and 4.1). All cosines lie in [-1, 1].

    history, history_weight, history_threshold: k, alpha_h and delta_h of the context. prototype_threshold,
    most_prototypes: delta_g and N_max. decay, elapsed_unit: lambda and the unit of Delta T, which the paper does not
    state; it says that lambda governs long horizons, and in hours all that is a day old would weigh e^-27, so: days.
    least_importance: tau. merge_threshold: delta_m.

    prototypes, importance, consolidation: whether the stage is there (Tables 2 and 5). Without prototypes every record
    is the first of its pattern; without importance all are kept and weigh 1. frequency, recency, distinctiveness:
    whether the factor of Eq. 2 is there (Table 3). combine: how the importance of an entry follows from its members;
    the largest, since a sum grows without bound beside the cosines of Eq. 3.
    """

    history: int = 5
    history_weight: float = 0.5
    history_threshold: float = 0.3
    prototype_threshold: float = 0.75
    most_prototypes: int = 300
    decay: float = 1.14
    elapsed_unit: Literal["minutes", "hours", "days"] = "days"
    least_importance: float = 0.2
    merge_threshold: float = 0.75
    prototypes: bool = True
    importance: bool = True
    consolidation: bool = True
    frequency: bool = True
    recency: bool = True
    distinctiveness: bool = True
    combine: Literal["max", "mean"] = "max"

    def __post_init__(self) -> None:
        for name in ("history_threshold", "prototype_threshold", "merge_threshold"):
            if not -1 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} is a cosine and must lie in [-1, 1], not {getattr(self, name)}")
        if not 0 <= self.history_weight <= 1:
            raise UsageError(f"history_weight must lie in [0, 1], not {self.history_weight}")
        if self.history < 0 or self.most_prototypes < 1 or self.decay < 0 or self.least_importance < 0:
            raise UsageError(
                "history, decay and least_importance must not be negative, and most_prototypes must be at least 1"
            )
        if self.elapsed_unit not in UNIT_MS or self.combine not in ("max", "mean"):
            raise UsageError("elapsed_unit must be minutes, hours or days, and combine must be max or mean")

    def to_json(self) -> dict[str, object]:
        """Plain values for a report or a cache key."""
        return asdict(self)

    def without(self, *parts: str) -> CompressionSettings:
        """These settings with stages or factors taken away; raises TypeError for a part that there is not."""
        return replace(self, **dict.fromkeys(parts, False))  # type: ignore[arg-type]

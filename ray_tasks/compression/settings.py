"""Settings of compression: the paper's values as defaults, and a switch for every part that it takes away in turn."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS, MINUTE_MS

UNIT_MS: Final = {"minutes": MINUTE_MS, "hours": HOUR_MS, "days": DAY_MS}
"""The units that the elapsed time may have, in ms."""


class CompressionSettings(BaseModel):
    """What decides how records become a memory (Imprint sections 3.2 and 4.1); thresholds are cosines."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    history: int = Field(5, ge=0, le=1000, description="k: records before this one that may be its context")
    history_weight: float = Field(0.5, ge=0, le=1, description="alpha_h: the part of the context in its vector")
    history_threshold: float = Field(0.3, ge=-1, le=1, description="delta_h: how near a record before must be")
    prototype_threshold: float = Field(0.75, ge=-1, le=1, description="delta_g: how near a prototype must be")
    most_prototypes: int = Field(
        300, ge=1, le=1_000_000, description="N_max: beyond it a record goes to the nearest one"
    )
    decay: float = Field(1.14, ge=0, description="lambda: loss of importance with time")
    # The paper does not state it; it says that lambda governs long horizons, and in hours all that is a day old would
    # weigh e^-27.
    elapsed_unit: Literal["minutes", "hours", "days"] = Field("days", description="unit of the time that lambda counts")
    least_importance: float = Field(0.2, ge=0, description="tau: below it a record is not kept")
    merge_threshold: float = Field(0.75, ge=-1, le=1, description="delta_m: how near an entry must be, in both vectors")
    # The largest, since a sum would grow without bound beside the cosines of Eq. 3.
    combine: Literal["max", "mean"] = Field("max", description="importance of an entry from those of its members")
    # Without prototypes every record is the first of its pattern; without importance all are kept, and weigh 1.
    prototypes: bool = Field(True, description="whether there are event prototypes (Tables 2 and 5)")
    importance: bool = Field(True, description="whether importance decides what is kept (Tables 2 and 5)")
    consolidation: bool = Field(True, description="whether like records become one entry (Tables 2 and 5)")
    frequency: bool = Field(True, description="whether importance grows with recurrence (Table 3)")
    recency: bool = Field(True, description="whether importance falls with the time since the last one (Table 3)")
    distinctiveness: bool = Field(True, description="whether importance falls with the number of prototypes (Table 3)")

    def without(self, *parts: str) -> CompressionSettings:
        """These settings with stages or factors taken away."""
        return self.model_copy(update=dict.fromkeys(parts, False))

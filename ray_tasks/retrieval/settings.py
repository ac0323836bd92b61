"""Settings of retrieval that a run may change and an evaluation records."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from ray_tasks.errors import UsageError
from ray_tasks.index.search import DEFAULT_DECAY
from ray_tasks.retrieval.types import MAX_EVIDENCE


class SettingsError(UsageError):
    """A setting outside its range; the message names it."""


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """What a method may be told.

    decay: EgoCITE's lambda per recorded hour, in (0, 1]. evidence: items kept, 1 to 15. pool_per_round: clips that one
    round adds to the pool. rounds: 1 searches for the question alone, 2 for its choices too, 3 also beside the event by
    which it places another one. use_choices: whether retrieval may look at the choices at all.
    """

    decay: float = DEFAULT_DECAY
    evidence: int = MAX_EVIDENCE
    pool_per_round: int = 50
    rounds: int = 3
    use_choices: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.decay <= 1:
            raise SettingsError(f"decay must lie in (0, 1], not {self.decay}")
        if not 1 <= self.evidence <= MAX_EVIDENCE:
            raise SettingsError(f"evidence must lie between 1 and {MAX_EVIDENCE}, not {self.evidence}")
        if self.pool_per_round < self.evidence:
            raise SettingsError(
                f"pool_per_round ({self.pool_per_round}) must not be less than evidence ({self.evidence})"
            )
        if not 1 <= self.rounds <= 3:
            raise SettingsError(f"rounds must lie between 1 and 3, not {self.rounds}")

    def to_json(self) -> dict[str, object]:
        """Plain values for a report or a cache key."""
        return asdict(self)

"""What a plan of a build says: shards by stage, and the time, tokens and money that they will take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from ray_tasks.config import Prices
from ray_tasks.engines.settings import TokenPrices

UNKNOWN: Final = "no earlier run to go by"


@dataclass
class StagePlan:
    """Shards of one stage: done already, and to do; what one takes in seconds of work, and GPUs while it does.

    None where the seconds are not known. `all_cpus` says that a shard has all CPUs of a machine to itself, `cpus` what
    it takes otherwise. `tokens_each` are those that a language model reads and writes for one, at `prices`.
    """

    cached: int = 0
    to_do: int = 0
    seconds_each: float | None = None
    gpus: float = 0.0
    all_cpus: bool = False
    cpus: float = 1.0
    tokens_each: tuple[float, float] = (0.0, 0.0)
    prices: TokenPrices = field(default_factory=TokenPrices)

    @property
    def tokens(self) -> tuple[float, float]:
        """Tokens to read and to write."""
        return self.to_do * self.tokens_each[0], self.to_do * self.tokens_each[1]

    @property
    def seconds(self) -> float | None:
        """Seconds of work to do."""
        if self.to_do == 0:
            return 0.0
        return None if self.seconds_each is None else self.to_do * self.seconds_each


@dataclass
class Plan:
    """The plan of a build, by stage in order, and where its times come from."""

    stages: dict[str, StagePlan] = field(default_factory=dict)
    source: str = UNKNOWN

    @property
    def to_do(self) -> int:
        """Shards to make."""
        return sum(stage.to_do for stage in self.stages.values())

    def seconds(self, cpus: int) -> float | None:
        """Wall seconds on so many CPUs; None where a stage's rate is unknown."""
        return self._sum(lambda stage: 1.0 if stage.all_cpus else stage.cpus / cpus)

    def cpu_hours(self, cpus: int) -> float | None:
        """Hours of CPUs that are held, on machines of so many CPUs."""
        return self._sum(lambda stage: (cpus if stage.all_cpus else stage.cpus) / 3600)

    def tokens(self) -> tuple[float, float]:
        """Tokens that language models read and write."""
        stages = self.stages.values()
        return sum(stage.tokens[0] for stage in stages), sum(stage.tokens[1] for stage in stages)

    def token_cost(self) -> float:
        """What these cost at the prices of their models."""
        return sum(stage.prices.of(*stage.tokens) for stage in self.stages.values())

    def gpu_hours(self) -> float | None:
        """Hours of GPUs that are held."""
        return self._sum(lambda stage: stage.gpus / 3600)

    def cost(self, cpus: int, prices: Prices) -> float | None:
        """What its machines cost; None where its hours or the price of what it needs are unknown."""
        total = 0.0
        for hours, price in ((self.cpu_hours(cpus), prices.cpu_hour), (self.gpu_hours(), prices.gpu_hour)):
            if hours is None or (hours and price is None):
                return None
            total += hours * (price or 0.0)
        return None if prices.cpu_hour is None and prices.gpu_hour is None else total

    def _sum(self, weight: Callable[[StagePlan], float]) -> float | None:
        total = 0.0
        for stage in self.stages.values():
            if stage.seconds is None:
                return None
            total += stage.seconds * weight(stage)
        return total

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        stages = {
            name: {"cached": stage.cached, "to_do": stage.to_do, "work_seconds": stage.seconds}
            for name, stage in self.stages.items()
        }
        read, written = self.tokens()
        tokens = {"tokens_in": round(read), "tokens_out": round(written), "token_cost": round(self.token_cost(), 4)}
        return {"stages": stages, "to_do": self.to_do, **tokens, "rates": self.source}

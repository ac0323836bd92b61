"""What shards cost in the last runs, so that a plan knows before the next one: runs/rates.json.

Every run adds what it made to half of what stood there before, so recent runs count most and a run that made three
shards does not overrule one that made thousands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ray_tasks.storage.run_records import DamagedRunError, RunRecord, read_object
from ray_tasks.storage.store import MissingObjectError, ObjectStore

RATES_KEY: Final = "runs/rates.json"
KEPT_SHARE: Final = 0.5


class Rate(BaseModel):
    """Sums over shards, the older ones faded: shards made, seconds of work (or of a wave), seconds of a GPU, tokens."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    made: float = 0.0
    seconds: float = 0.0
    gpu_seconds: float = 0.0
    tokens_in: float = 0.0
    tokens_out: float = 0.0

    @property
    def seconds_each(self) -> float | None:
        """Seconds for one shard; None where none was made."""
        return self.seconds / self.made if self.made > 0 else None

    @property
    def tokens_each(self) -> tuple[float, float]:
        """Tokens read and written for one shard."""
        return (self.tokens_in / self.made, self.tokens_out / self.made) if self.made > 0 else (0.0, 0.0)

    def then(self, run: Rate) -> Rate:
        """The sums after a further run."""
        before = self.model_dump()
        return Rate(**{name: KEPT_SHARE * before[name] + value for name, value in run.model_dump().items()})


class Rates(BaseModel):
    """Rates by stage (work) and by wave (wall clock), shards of the last whole run by wave, and the last run's id."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    stages: Mapping[str, Rate] = Field(default_factory=dict)
    waves: Mapping[str, Rate] = Field(default_factory=dict)
    totals: Mapping[str, int] = Field(default_factory=dict)
    run_id: str = ""
    ended: str = ""


def read_rates(store: ObjectStore) -> tuple[Rates, str | None]:
    """The rates, none where no run has ended yet, and a note where they are damaged."""
    try:
        return Rates.model_validate(read_object(store, RATES_KEY)), None
    except MissingObjectError:
        return Rates(), None
    except (DamagedRunError, ValidationError):
        return Rates(), f"{RATES_KEY} in {store.url} is damaged and is left out; the next build writes it again"


def add_run(store: ObjectStore, run: RunRecord) -> None:
    """Adds what a run made to the rates; one that made nothing changes nothing."""
    made = {stage: work for stage, work in run.stages.items() if work.made}
    if not made:
        return
    before, _ = read_rates(store)
    stages = dict(before.stages)
    for stage, work in made.items():
        stages[stage] = stages.get(stage, Rate()).then(Rate(**work.model_dump(exclude={"rows"})))
    waves = dict(before.waves)
    for wave in run.waves:
        if wave.made:
            waves[wave.wave] = waves.get(wave.wave, Rate()).then(Rate(made=wave.made, seconds=wave.seconds))
    whole = run.state == "finished" and run.published
    totals = {wave.wave: wave.total for wave in run.waves} if whole else before.totals
    rates = Rates(stages=stages, waves=waves, totals=totals, run_id=run.run_id, ended=run.ended or run.updated)
    store.write(RATES_KEY, rates.model_dump_json(indent=1).encode())


def seconds_left(run: RunRecord, rates: Rates) -> tuple[float | None, float | None]:
    """Wall seconds until the present wave ends, and until the run does; None where nothing is known to go by.

    Waves that have not begun are taken to be as large as in the last whole run, in the proportion of the present wave,
    with nothing cached: the second figure is the most that is to be expected.
    """
    if not run.waves:
        return None, None
    wave = run.waves[-1]
    known = rates.waves.get(wave.wave, Rate()).seconds_each
    each = 1 / wave.rate if wave.rate else known
    here = 0.0 if wave.over or not wave.left else None if each is None else wave.left * each
    if here is None or not rates.totals or run.request.get("shards") or run.request.get("limit"):
        return here, None
    scale = wave.total / rates.totals[wave.wave] if rates.totals.get(wave.wave) else 1.0
    begun = {wave.wave for wave in run.waves}
    whole = here
    for name, total in rates.totals.items():
        if name in begun:
            continue
        each = rates.waves.get(name, Rate()).seconds_each
        if each is None:
            return here, None
        whole += total * scale * each
    return here, whole

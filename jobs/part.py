"""A build of some hours only, for a first look or a test of a change: shards are made, nothing is published."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from jobs.building import begun_build
from jobs.console import console
from jobs.models import check_models
from jobs.request import BuildRequest
from jobs.words import count_text, duration_text
from ray_tasks.scheduling.build import BuildOutcome
from ray_tasks.scheduling.gates import SHOWN_LINES, BuildFailedError
from ray_tasks.scheduling.tasks import failure_lines
from ray_tasks.storage.preflight import preflight
from ray_tasks.storage.store import ObjectStore


@dataclass(frozen=True)
class PartBuilt:
    """What was made of some hours."""

    run_id: str
    hours: tuple[str, ...]
    outcome: BuildOutcome
    seconds: float

    def summary(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "run_id": self.run_id,
            "published": False,
            "hours": list(self.hours),
            "made_shards": self.outcome.made,
            "seconds": round(self.seconds, 2),
            "stages": {stage: totals.to_json() for stage, totals in self.outcome.totals.items()},
            "failures": failure_lines(self.outcome.failures),
        }

    def show(self) -> None:
        """Prints what was made, and how to publish."""
        shards, hours = count_text(self.outcome.made, "shard"), count_text(len(self.hours), "hour")
        made = f"{shards} made for {hours} in {duration_text(self.seconds)}"
        console.print(
            f"{made}. A build of some hours publishes nothing: to publish, run daybook build without --shard and "
            "--limit, which finds these shards done",
            soft_wrap=True,
        )


def build_part(
    request: BuildRequest,
    store: ObjectStore,
    *,
    use_cache: bool = True,
    cpus: int | None = None,
    deadline_s: float | None = None,
    command: str = "build",
) -> PartBuilt:
    """Makes the hours that are asked for, up to their vectors; raises BuildFailedError where a shard failed."""
    started = time.monotonic()
    found = request.discover()
    preflight(store)
    check_models(request.config, video=found.footage is not None)
    with begun_build(request, store, found.selection, use_cache, cpus, deadline_s, command) as (run, build):
        outcome = build.run(found.layout, found.footage)
        if outcome.failures:
            raise BuildFailedError(_failed(outcome))
        run.finished(None, published=False)
    hours = tuple(str(shard) for shard in outcome.records["extract"])
    return PartBuilt(run.run_id, hours, outcome, time.monotonic() - started)


def _failed(outcome: BuildOutcome) -> str:
    lines = failure_lines(outcome.failures[:SHOWN_LINES])
    if len(outcome.failures) > SHOWN_LINES:
        lines.append(f"and {len(outcome.failures) - SHOWN_LINES} more")
    listed = "\n  ".join(lines)
    return (
        f"{len(outcome.failures)} shards failed\n  {listed}\n"
        "mend the cause and run the same command again, or daybook retry-failed; finished shards are kept"
    )

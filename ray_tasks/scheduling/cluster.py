"""Ray: joining or starting a cluster, and running a wave of shards on it with Ray Data."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import ray
import ray.data
from ray.data import ActorPoolStrategy, DataContext

from ray_tasks.scheduling.stages import STAGES, Stages, Worker, run_task
from ray_tasks.scheduling.tasks import ShardResult, ShardTask, WorkerSettings

OBJECT_STORE_BYTES: Final = 256 << 20
"""Shards pass through files, only descriptors through Ray, so a small object store is enough on one machine."""

TASKS_PER_ROW: Final[Mapping[str, int]] = {"embed": 8, "extract": 2}
"""Tasks that make one row, and so go to one actor together, by the stage of the first; one where nothing is said.

Texts of several shards are embedded together, for longer batches of equal length and still a commit every few seconds.
Fine and coarse extraction of an hour, which follow each other, share the reading of its captions.
"""

BLOCKS_PER_ACTOR: Final = 64
"""Blocks for each actor: enough that a slow shard leaves no other idle, few enough to cost the driver little."""


MOST_ACTORS: Final = 64
"""How far a pool may grow on a cluster of several machines where --cpus does not say."""


@contextmanager
def ray_session(cpus: int | None = None) -> Iterator[int]:
    """A Ray cluster for the length of a block, and how many CPUs a build may use of it.

    Joins the cluster of RAY_ADDRESS, which `ray job submit` sets; otherwise starts one on this machine and stops it.
    """
    joined = bool(os.environ.get("RAY_ADDRESS"))
    # Ray's C++ core warns on the terminal that Ray Data's own actor arguments live in the object store. The
    # driver holds them there and a user has nothing to mend, so only its log files keep such lines.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    logging.getLogger("ray").setLevel(logging.ERROR)
    options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if not joined:
        options |= {
            "num_cpus": cpus or os.cpu_count(),
            "include_dashboard": False,
            "object_store_memory": OBJECT_STORE_BYTES,
        }
    with _silent_stderr():
        ray.init(**options)
    try:
        _quieten_ray_data()
        present = int(ray.cluster_resources().get("CPU", 0))  # type: ignore[no-untyped-call]
        # A cluster that scales from nothing shows no CPUs before somebody asks for them.
        yield (cpus or max(present, MOST_ACTORS)) if joined else present
    finally:
        ray.shutdown()


@contextmanager
def _silent_stderr() -> Iterator[None]:
    """Standard error of native code goes nowhere; Python's exceptions come out afterwards as usual."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _quieten_ray_data() -> None:
    """Progress and results are reported by the command, once, so Ray Data's own bars and summaries are switched off."""
    context = DataContext.get_current()
    context.enable_progress_bars = False
    context.enable_operator_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)


def _run_shards(batch: dict[str, Any], settings: WorkerSettings, stages: Stages) -> dict[str, Any]:
    """Makes shards inside a Ray task."""
    return ShardActor(settings, stages)(batch)


class ShardActor:
    """Makes shards inside a Ray actor; what is costly to load is loaded once for each actor."""

    def __init__(self, settings: WorkerSettings, stages: Stages) -> None:
        self._worker = Worker(settings)
        self._stages = stages

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        return {"results": ["\n".join(self._run([*map(ShardTask.load, text.split("\n"))])) for text in batch["tasks"]]}

    def _run(self, tasks: list[ShardTask]) -> list[str]:
        started = time.monotonic()
        if tasks[0].stage == "embed":
            self._worker.embed_together(tasks)
        shared = (time.monotonic() - started) / len(tasks)
        return [run_task(task, self._worker, self._stages, shared).dump() for task in tasks]


@dataclass(frozen=True)
class RayExecutor:
    """Runs a wave with Ray Data, results streamed as they come.

    On one machine the pool of actors has a fixed size; on a cluster (`grows`) it starts with one and asks for more, so
    that the cluster grows with the work.
    """

    cpus: int
    grows: bool = False
    stages: Stages = field(default_factory=lambda: STAGES)

    def run(self, tasks: Sequence[ShardTask], settings: WorkerSettings) -> Iterator[ShardResult]:
        """See Executor.run."""
        if not tasks:
            return
        embedding = tasks[0].stage == "embed"
        size = TASKS_PER_ROW.get(tasks[0].stage, 1)
        groups = [tasks[start : start + size] for start in range(0, len(tasks), size)]
        rows = [{"tasks": "\n".join(task.dump() for task in group)} for group in groups]
        # One encoder, on as many cores as one machine has: its memory of texts then spans the run.
        actors = 1 if embedding else min(self.cpus, len(rows))
        blocks = min(len(rows), actors * BLOCKS_PER_ACTOR)
        descriptors = ray.data.from_items(rows, override_num_blocks=blocks)
        common = {"settings": settings, "stages": self.stages}
        if embedding:
            results = descriptors.map_batches(
                ShardActor,
                fn_constructor_kwargs=common,
                batch_size=1,
                compute=ActorPoolStrategy(min_size=1 if self.grows else actors, max_size=actors),
                num_cpus=settings.threads,
            )
        else:
            # Tasks, not actors: there is nothing costly to load, and Ray's workers live on from wave to wave.
            run_shards: Any = _run_shards  # map_batches is typed for functions of a batch alone, without fn_kwargs
            results = descriptors.map_batches(run_shards, fn_kwargs=common, batch_size=1, num_cpus=1)
        for row in results.iter_rows():
            yield from map(ShardResult.load, row["results"].split("\n"))

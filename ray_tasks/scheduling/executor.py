"""Running a wave of shards on Ray, with Ray Data."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import ray.data
from ray.data import ActorPoolStrategy, TaskPoolStrategy
from ray.exceptions import RayError

from ray_tasks.config import BuildConfig
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.scheduling.making import Stages, embed_together, run_task
from ray_tasks.scheduling.models import WAITING_CPUS, model_of
from ray_tasks.scheduling.session import Cluster, ClusterError
from ray_tasks.scheduling.stages import STAGES
from ray_tasks.scheduling.tasks import ENCODER_STAGES, ShardResult, ShardTask, WorkerSettings
from ray_tasks.scheduling.worker import Worker

TASKS_PER_ROW: Final[Mapping[str, int]] = {"embed": 8, "extract": 2}
"""Tasks that make one row, and so go to one actor together, by the stage of the first; one where nothing is said.

Texts of several shards are embedded together, for longer batches of equal length and still a commit every few seconds.
Fine and coarse extraction of an hour, which follow each other, share the reading of its captions.
"""

GPU_STAGES: Final = frozenset({*ENCODER_STAGES, "train", "fill"})
"""Stages that use a GPU where their worker has one; Ray shows a worker only the GPUs that it asked for."""

LEAST_CALLS_EACH: Final = 4
"""Calls that each actor should be allowed to have under way; more actors than that would only wait for a turn."""

BLOCKS_PER_WORKER: Final = 64
"""Blocks for each worker: enough that a slow shard leaves no other idle, few enough to cost the driver little."""


def _run_shards(batch: dict[str, Any], worker: Worker, stages: Stages) -> dict[str, Any]:
    """Makes shards inside a Ray task."""
    return ShardActor(worker, stages)(batch)


class ShardActor:
    """Makes shards inside a Ray actor; what is costly to load is loaded once for each actor."""

    def __init__(self, worker: Worker, stages: Stages) -> None:
        self._worker = worker
        self._stages = stages

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        return {"results": ["\n".join(self._run([*map(ShardTask.load, text.split("\n"))])) for text in batch["tasks"]]}

    def _run(self, tasks: list[ShardTask]) -> list[str]:
        started = time.monotonic()
        if tasks[0].stage == "embed":
            embed_together(tasks, self._worker)
        shared = (time.monotonic() - started) / len(tasks)
        return [run_task(task, self._worker, self._stages, shared).dump() for task in tasks]


@dataclass(frozen=True)
class RayExecutor:
    """Runs a wave with Ray Data, results streamed as they come.

    On one machine there is one encoder; on a cluster the pool starts with one and asks for more, so that the cluster
    grows with the work. Stages that ask a language model run in actors, which keep their connections.
    """

    cluster: Cluster
    stages: Stages = field(default_factory=lambda: STAGES)
    worker: Callable[[WorkerSettings], Worker] = Worker

    def run(self, tasks: Sequence[ShardTask], settings: WorkerSettings) -> Iterator[ShardResult]:
        """See Executor.run; raises ClusterError where Ray itself fails."""
        try:
            yield from self._run(tasks, settings)
        except RayError as error:
            raise ClusterError(
                f"Ray failed ({reason_of(error)}); finished shards are kept, so run the same command again to go on"
            ) from error

    def _run(self, tasks: Sequence[ShardTask], settings: WorkerSettings) -> Iterator[ShardResult]:
        if not tasks:
            return
        stage = tasks[0].stage
        model = model_of(stage, settings.config)
        pool = self._pool(stage, model, settings.config)
        size = 1 if model else TASKS_PER_ROW.get(stage, 1)
        groups = [tasks[start : start + size] for start in range(0, len(tasks), size)]
        rows = [{"tasks": "\n".join(task.dump() for task in group)} for group in groups]
        workers = min(pool.most, len(rows)) if pool else self.cluster.cpus
        blocks = min(len(rows), workers * BLOCKS_PER_WORKER)
        descriptors = ray.data.from_items(rows, override_num_blocks=blocks)
        common = {"worker": self.worker(replace(settings, workers=workers)), "stages": self.stages}
        gpus = (self.cluster.encoder_gpus or None) if stage in GPU_STAGES else None
        if pool:
            results = descriptors.map_batches(
                ShardActor,
                fn_constructor_kwargs=common,
                batch_size=1,
                compute=ActorPoolStrategy(min_size=workers if model else 1, max_size=workers),
                num_cpus=pool.cpus,
                num_gpus=pool.gpus or None,
            )
        else:
            # Tasks, not actors: there is nothing costly to load, and Ray's workers live on from wave to wave.
            run_shards: Any = _run_shards  # map_batches is typed for functions of a batch alone, without fn_kwargs
            results = descriptors.map_batches(
                run_shards,
                fn_kwargs=common,
                batch_size=1,
                # On a Ray of its own --cpus is what there is; where Ray was joined, it has to be kept to.
                compute=TaskPoolStrategy(
                    size=min(workers, blocks) if self.cluster.joined and self.cluster.limited else None
                ),
                num_cpus=1,
                num_gpus=gpus,
            )
        for row in results.iter_rows():
            yield from map(ShardResult.load, row["results"].split("\n"))

    def _pool(self, stage: str, model: ChatSettings | None, config: BuildConfig) -> _Pool | None:
        """The actors of a stage that holds something costly: an encoder, or a client of a language model."""
        # Windows of a language model are compared by vectors.
        if stage in ENCODER_STAGES or (stage == "join" and model):
            return _Pool(self.cluster.encoders, self.cluster.encoder_cpus, self.cluster.encoder_gpus)
        if model is None:
            return None
        if stage == "describe":  # which decodes video beside its calls
            each = min(config.video.decoders, self.cluster.cpus)
            return _Pool(max(1, self.cluster.cpus // each), each)
        # Such an actor mostly waits, so a CPU serves several; each should still have a few calls under way.
        useful = max(1, model.concurrency * max(1, len(model.urls)) // LEAST_CALLS_EACH)
        return _Pool(min(int(self.cluster.cpus / WAITING_CPUS), useful), WAITING_CPUS)


@dataclass(frozen=True)
class _Pool:
    """How many actors at most, and what each holds."""

    most: int
    cpus: float
    gpus: float = 0.0


def reason_of(error: RayError) -> str:
    """The first line of Ray's report that names an exception (the one that began it), else its first line."""
    text = str(error).strip() or type(error).__name__
    named = re.search(r"^[\w.]+(?:Error|Exception): .+", text, re.MULTILINE)
    return named[0] if named else text.splitlines()[0]

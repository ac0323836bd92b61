"""Runs tasks in this process, with a hashing encoder instead of a model: the stages without Ray."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ray_tasks.scheduling.making import run_task
from ray_tasks.scheduling.stages import STAGES
from ray_tasks.scheduling.tasks import ShardResult, ShardTask, WorkerSettings
from ray_tasks.scheduling.worker import Worker
from tests.index.builder import MemoryBuilder


@dataclass(frozen=True)
class HashingEncoder:
    """Stands in for a SentenceEncoder; every model gives other vectors."""

    model: str

    def __call__(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Unit vectors, one for each text."""
        return MemoryBuilder(dimension=16).embed([f"{self.model} {text}" for text in texts])

    def count_tokens(self, texts: list[str]) -> int:
        """Words."""
        return sum(len(text.split()) for text in texts)


@dataclass
class InlineExecutor:
    """Keeps the shards that it was asked to make, as ``stage shard``; fails those in `broken`."""

    broken: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    def run(self, tasks: Sequence[ShardTask], settings: WorkerSettings) -> Iterator[ShardResult]:
        """See Executor.run."""
        worker = Worker(settings)
        worker.__dict__["encoder"] = HashingEncoder(settings.config.embedding_model)
        try:
            for task in tasks:
                self.asked.append(f"{task.stage} {task.shard}")
                if self.asked[-1] in self.broken:
                    task = ShardTask(task.stage, task.shard, task.key, {})
                yield run_task(task, worker, STAGES)
        finally:
            worker.close()


class SilentReporter:
    """Hears and says nothing."""

    def wave_started(self, name: str, total: int, cached: int) -> None:
        """See Reporter."""

    def shard_finished(self, result: ShardResult) -> None:
        """See Reporter."""

    def wave_finished(self, name: str, seconds: float) -> None:
        """See Reporter."""

"""The command line with an encoder that is there at once: `python -m tests.chaos.light_build build --corpus ...`.

Importing a model's libraries takes longer than all else that a small build does; Ray, stages, files, gates and
publication are the real ones. Where an encoder is loaded, too, is for the builds that run `jobs.cli` itself.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from jobs import cli, gating
from ray_tasks.scheduling import executor
from ray_tasks.scheduling.worker import Worker
from tests.scheduling.inline import HashingEncoder


class LightEncoder(HashingEncoder):
    """Also for queries, as the gates ask them."""

    queries = HashingEncoder.__call__


class LightWorker(Worker):
    """A worker whose encoder needs no libraries."""

    @property
    def encoder(self) -> Any:
        """Stands in for a sentence encoder."""
        return LightEncoder(self.settings.config.embedding_model)


if __name__ == "__main__":
    vars(executor)["RayExecutor"] = partial(executor.RayExecutor, worker=LightWorker)
    vars(gating)["load_encoder"] = LightEncoder
    cli.main()

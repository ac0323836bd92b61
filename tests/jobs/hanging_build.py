"""A build in which one hour's extraction never ends: `python -m tests.jobs.hanging_build CORPUS ROOT DEADLINE`.

The worker that hangs writes its process id to ROOT.pid and does not heed SIGTERM.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from jobs.building import begun_build
from jobs.console import ends_well, run_app
from jobs.request import BuildRequest
from ray_tasks.scheduling import executor
from ray_tasks.scheduling.stages import STAGES
from ray_tasks.scheduling.tasks import ShardTask, StageOutput
from ray_tasks.scheduling.worker import Worker
from ray_tasks.storage.store import LocalStore

HANGING = "B1_MARA/DAY1/10"


def extract(task: ShardTask, worker: Worker) -> StageOutput:
    """The real stage for all hours but one."""
    if str(task.shard) != HANGING:
        return STAGES["extract"](task, worker)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    Path(f"{worker.settings.root}.pid").write_text(str(os.getpid()), encoding="ascii")
    while True:
        time.sleep(3600)


@ends_well
def hanging_build(corpus: Path, root: Path, deadline: float) -> None:
    """Runs it."""
    request, store = BuildRequest(corpus), LocalStore(root)
    layout = request.discover().layout
    with begun_build(request, store, None, True, 2, deadline, "build") as (_, build):
        build.run(layout)


if __name__ == "__main__":
    vars(executor)["STAGES"] = {**STAGES, "extract": extract}
    sys.argv[0] = "hanging_build"
    run_app(hanging_build)

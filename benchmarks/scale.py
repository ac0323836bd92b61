"""Many wearers: what planning, driving and resuming a build cost the driver when the work itself is trivial.

python -m benchmarks.scale --wearers 1000 --days 7 --hours 10

Writes a corpus of tiny transcripts, plans its build, builds it on real Ray with stages that write a few bytes each, and
builds it again with everything cached. Each phase runs in a process of its own, whose CPU time and greatest memory are
those of the driver. One JSON document comes out.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import discover
from ray_tasks.extraction.report import AtomReport
from ray_tasks.ledger import Ledger
from ray_tasks.scheduling.build import Build
from ray_tasks.scheduling.estimate import plan_build
from ray_tasks.scheduling.executor import RayExecutor
from ray_tasks.scheduling.selection import Recordings
from ray_tasks.scheduling.session import ray_session
from ray_tasks.scheduling.tasks import STAGE_ORDER, ShardResult, ShardTask, StageOutput
from ray_tasks.scheduling.worker import Worker
from ray_tasks.storage.store import open_store

CUE: Final = "1\n00:00:01,000 --> 00:00:02,000\nMara: the kettle is on the shelf.\n"


class Quiet:
    """A reporter that counts shards and says nothing."""

    def __init__(self) -> None:
        self.shards = 0

    def wave_started(self, name: str, total: int, cached: int) -> None:
        """See Reporter."""
        self.shards += total
        sys.stderr.write(f"{name}: {total} shards, {cached} cached\n")

    def shard_finished(self, result: ShardResult) -> None:
        """See Reporter."""

    def wave_finished(self, name: str, seconds: float) -> None:
        """See Reporter."""
        sys.stderr.write(f"{name}: {seconds:.1f} s\n")


def trivial(task: ShardTask, worker: Worker) -> StageOutput:
    """A stage that reads nothing and writes a few bytes, with all that the next stages plan with."""
    del worker
    extra: dict[str, Any] = {}
    if task.stage == "observe":
        extra = {"touches": {str(task.shard): task.key}, "problems": [], "ledgers": {}}
    elif task.stage == "caption":
        extra = {"tail": task.key}
    elif task.stage in ("extract", "segment", "join"):
        extra = {"report": AtomReport().to_json()}
    elif task.stage == "part":
        extra = {"counts": {}}
    return StageOutput({"data.parquet": f"{task.stage} {task.key}".encode()}, 1, Ledger(taken=1, done=1), extra)


def write_corpus(folder: Path, wearers: int, days: int, hours: int) -> None:
    """Transcripts of one cue each."""
    for wearer in range(wearers):
        for day in range(1, days + 1):
            where = folder / "EgoLifeCap" / "Transcript" / f"W{wearer:05d}" / f"DAY{day}"
            where.mkdir(parents=True)
            for hour in range(8, 8 + hours):
                (where / f"W{wearer:05d}_DAY{day}_{hour:02d}000000.srt").write_text(CUE)


def plan(corpus: Path, root: Path, cpus: int) -> dict[str, Any]:
    """Discovers the corpus and plans its build."""
    del cpus
    planned = plan_build(Recordings(discover(corpus, (), ())), open_store(root), BuildConfig())
    return {"to_do": planned.to_do}


def build(corpus: Path, root: Path, cpus: int) -> dict[str, Any]:
    """Builds, or finds everything cached."""
    layout = discover(corpus, (), ())
    reporter = Quiet()
    with ray_session(cpus) as cluster:
        executor = RayExecutor(cluster, dict.fromkeys(STAGE_ORDER, trivial))
        outcome = Build(open_store(root), BuildConfig(), executor, reporter, 1, "run").run(layout)
    assert not outcome.failures, outcome.failures[0]
    return {"shards": reporter.shards, "made": outcome.made, "waves": outcome.wave_seconds}


PHASES: Final[dict[str, Callable[[Path, Path, int], dict[str, Any]]]] = {"plan": plan, "build": build, "resume": build}


def run_phase(name: str, corpus: Path, root: Path, cpus: int) -> dict[str, Any]:
    """One phase, with its wall and CPU seconds and greatest memory (MB), all of this process."""
    started = time.perf_counter()
    found = PHASES[name](corpus, root, cpus)
    seconds, busy = time.perf_counter() - started, time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {**found, "seconds": round(seconds, 2), "cpu_seconds": round(busy, 2), "peak_mb": round(peak)}


def main() -> None:
    """Runs all phases and prints one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wearers", type=int, default=1000)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--hours", type=int, default=10, help="recorded hours of each day, at most 16")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where corpus and root are made, and stay; else a temporary one")
    parser.add_argument("--phase", choices=PHASES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.phase:
        where = (options.folder / "corpus", options.folder / "root")
        json.dump(run_phase(options.phase, *where, options.cpus), sys.stdout)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        if not (folder / "corpus").exists():
            write_corpus(folder / "corpus", options.wearers, options.days, options.hours)
        command = [sys.executable, "-m", "benchmarks.scale", "--folder", str(folder), "--cpus", str(options.cpus)]
        measured = {
            phase: json.loads(subprocess.run([*command, "--phase", phase], stdout=subprocess.PIPE, check=True).stdout)
            for phase in PHASES
        }
    made = measured["build"]
    start_up = measured["resume"]["cpu_seconds"]
    measured["driver_ms_per_shard"] = round(1000 * made["cpu_seconds"] / made["made"], 3)
    measured["driver_ms_per_shard_beyond_resume"] = round(1000 * (made["cpu_seconds"] - start_up) / made["made"], 3)
    json.dump({"hours": options.wearers * options.days * options.hours, **measured}, sys.stdout, indent=2)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()

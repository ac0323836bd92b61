"""A build from corpus to published memory, as `build` and `demo` run it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jobs.console import make_reporter, say
from jobs.evaluating import Asked
from jobs.gating import measure_gates
from jobs.models import check_models
from jobs.request import BuildRequest
from jobs.stopping import deadline, stoppable
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.scheduling.assembly import assemble_manifest, with_gates
from ray_tasks.scheduling.build import Build, BuildOutcome
from ray_tasks.scheduling.gates import BuildFailedError, GateResult, refusal
from ray_tasks.scheduling.models import RunModels
from ray_tasks.scheduling.run_log import RunLog
from ray_tasks.scheduling.selection import Selection
from ray_tasks.storage.manifests import Manifest, memory_before, pointer_to_replace, publish, write_manifest
from ray_tasks.storage.preflight import preflight
from ray_tasks.storage.store import ObjectStore


@dataclass(frozen=True)
class Built:
    """What a build did; `kept` are wearers carried over, `published` says whether the pointer moved."""

    run_id: str
    manifest: Manifest
    outcome: BuildOutcome
    kept: tuple[str, ...]
    gates: list[GateResult]
    gate_seconds: float
    published: bool
    seconds: float

    def summary(self) -> dict[str, Any]:
        """The build as JSON."""
        return {
            "run_id": self.run_id,
            "memory_id": self.manifest.memory_id,
            "published": self.published,
            "made_shards": self.outcome.made,
            "seconds": round(self.seconds, 2),
            "gate_seconds": round(self.gate_seconds, 2),
            "kept_wearers": list(self.kept),
            **self.manifest.build,
        }


class RefusedError(BuildFailedError):
    """A finished memory that did not pass its gates; `built` says what the build did."""

    def __init__(self, message: str, built: Built) -> None:
        super().__init__(message)
        self.built = built


@contextmanager
def begun_build(
    request: BuildRequest,
    store: ObjectStore,
    selection: Selection | None,
    use_cache: bool,
    cpus: int | None,
    deadline_s: float | None,
    command: str,
) -> Iterator[tuple[RunLog, Build]]:
    """A build ready to run, for the length of a block: on a Ray session, with its record kept and its end seen to."""
    from ray_tasks.scheduling.executor import GPU_STAGES, RayExecutor
    from ray_tasks.scheduling.metrics import MeteredReporter
    from ray_tasks.scheduling.session import check_shared, ray_session

    config = request.config
    run = RunLog(store, request.to_json(), command, say=say)
    with (
        deadline(deadline_s, run.passed_deadline),
        run,
        stoppable(run.interrupted),
        ray_session(cpus, config.encoder_gpus) as cluster,
        stoppable(run.interrupted),  # again, since Ray puts a handler of its own in
        make_reporter() as reporter,
        RunModels(_serving, say) as models,
    ):
        if cluster.joined:
            check_shared(store)
        for stage in GPU_STAGES:
            run.uses_gpus(stage, cluster.encoder_gpus)
        watched = run.watch(MeteredReporter(reporter))
        executor = RayExecutor(cluster)
        yield (
            run,
            Build(store, config, executor, watched, cluster.encoder_cpus, run.run_id, use_cache, selection, models),
        )


def _serving(settings: ChatSettings, say: Callable[[str], None]) -> AbstractContextManager[ChatSettings]:
    from ray_tasks.engines.serve import serving

    return serving(settings, say)


def build_and_publish(
    request: BuildRequest,
    store: ObjectStore,
    *,
    use_cache: bool = True,
    cpus: int | None = None,
    deadline_s: float | None = None,
    method: str = "egocite",
    command: str = "build",
) -> Built:
    """Builds the memory of a corpus and makes it the current one; raises RefusedError where it may not be.

    A build that changes nothing publishes nothing. DeadlineError ends it after deadline_s seconds. `method` asks the
    known questions of the configuration (see jobs.gating); `command` is what the record of the run calls it.
    """
    started = time.monotonic()
    config = request.config
    found = request.discover()
    known = {wearer: Asked.read(Path(file), wearer) for wearer, file in config.canary.items()}
    preflight(store)
    check_models(config, video=found.footage is not None)
    with begun_build(request, store, None, use_cache, cpus, deadline_s, command) as (run, build):
        # Read within the run: a collection that it had to wait for has moved the pointer.
        pointer, notes = pointer_to_replace(store)
        before, more = memory_before(store, pointer)
        for note in (*notes, *more):
            say(note)
        outcome = build.run(found.layout, found.footage)
        manifest, kept = assemble_manifest(outcome, config, before, request.source)
        begun = time.monotonic()
        gates = measure_gates(store, outcome, manifest, before, config, days=request.days, known=known, method=method)
        gate_seconds = time.monotonic() - begun
        run.note(gates=[gate.to_json() for gate in gates])
        manifest = with_gates(manifest, gates)
        fresh = pointer is None or pointer.damaged or manifest.memory_id != pointer.memory_id
        built = Built(run.run_id, manifest, outcome, kept, gates, gate_seconds, fresh, time.monotonic() - started)
        if not all(gate.passed for gate in gates):
            raise _refused(store, replace(built, published=False), fresh)
        if fresh:
            publish(store, manifest, pointer)
        elif before is None or before.memory_id != manifest.memory_id:
            write_manifest(store, manifest)  # the current memory's own was damaged or gone
        run.finished(manifest.memory_id, published=fresh)
    return replace(built, seconds=time.monotonic() - started)


def _refused(store: ObjectStore, built: Built, fresh: bool) -> RefusedError:
    """Keeps the manifest of a memory that did not pass, so that a person may publish it all the same."""
    offered = fresh and bool(built.outcome.indexes)
    if offered:
        write_manifest(store, built.manifest)
    message = refusal(built.gates, built.manifest.memory_id if offered else None, store.url)
    return RefusedError(message, built)

"""A build from corpus to published memory, as `build` and `demo` run it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jobs.console import make_reporter
from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import discover
from ray_tasks.errors import DaybookError
from ray_tasks.scheduling.assembly import assemble_manifest
from ray_tasks.scheduling.build import Build, BuildOutcome
from ray_tasks.scheduling.gates import check_gates
from ray_tasks.scheduling.run_log import RunLog
from ray_tasks.storage.manifests import Manifest, publish, read_manifest, read_pointer
from ray_tasks.storage.preflight import preflight
from ray_tasks.storage.store import ObjectStore


class DeadlineError(DaybookError):
    """The build took longer than it was given."""


@dataclass(frozen=True)
class BuildRequest:
    """What to build: recordings, a selection of them (empty: all), and how."""

    corpus: Path
    wearers: tuple[str, ...] = ()
    days: tuple[str, ...] = ()
    config: BuildConfig = field(default_factory=BuildConfig)

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary; the corpus as an absolute path."""
        return {
            "corpus": str(self.corpus.absolute()),
            "wearers": list(self.wearers),
            "days": list(self.days),
            "config": self.config.model_dump(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BuildRequest:
        """The inverse of to_json."""
        config = BuildConfig(**data["config"])
        return cls(Path(data["corpus"]), tuple(data["wearers"]), tuple(data["days"]), config)


@dataclass(frozen=True)
class Built:
    """What a build did; `kept` are wearers carried over, `published` says whether the pointer moved."""

    manifest: Manifest
    outcome: BuildOutcome
    kept: tuple[str, ...]
    published: bool
    seconds: float

    def summary(self) -> dict[str, Any]:
        """The build as JSON."""
        return {
            "memory_id": self.manifest.memory_id,
            "published": self.published,
            "made_shards": self.outcome.made,
            "seconds": round(self.seconds, 2),
            "kept_wearers": list(self.kept),
            **self.manifest.build,
        }


def build_and_publish(
    request: BuildRequest,
    store: ObjectStore,
    *,
    use_cache: bool = True,
    cpus: int | None = None,
    deadline_s: float | None = None,
) -> Built:
    """Builds the memory of a corpus and makes it the current one; raises BuildFailedError where it may not be.

    A build that changes nothing publishes nothing. DeadlineError ends it after deadline_s seconds.
    """
    from ray_tasks.scheduling.cluster import RayExecutor, ray_session

    started = time.monotonic()
    layout = discover(request.corpus, request.wearers, request.days)
    preflight(store)
    pointer = read_pointer(store)
    with (
        RunLog(store, request.to_json()) as run,
        _deadline(deadline_s),
        ray_session(cpus) as available,
        make_reporter() as reporter,
    ):
        threads = min(available, os.cpu_count() or 1)
        executor = RayExecutor(available, grows=bool(os.environ.get("RAY_ADDRESS")))
        build = Build(store, request.config, executor, run.watch(reporter), threads, run.run_id, use_cache)
        outcome = build.run(layout)
        check_gates(outcome, request.config)
        before = read_manifest(store, pointer.memory_id) if pointer else None
        manifest, kept = assemble_manifest(outcome, request.config, before, str(layout.root))
        fresh = pointer is None or manifest.memory_id != pointer.memory_id
        if fresh:
            publish(store, manifest, pointer)
        run.finished(manifest.memory_id)
    return Built(manifest, outcome, kept, fresh, time.monotonic() - started)


@contextmanager
def _deadline(seconds: float | None) -> Iterator[None]:
    """Raises DeadlineError in the block after so many seconds; the signal also reaches a wait inside Ray."""
    if seconds is None:
        yield
        return

    def ring(_signal: int, _frame: object) -> None:
        raise DeadlineError(f"the deadline of {seconds:g} s has passed; run the same command again to go on")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

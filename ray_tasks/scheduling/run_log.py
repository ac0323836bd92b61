"""The record of the last run, written as it goes, so that `status` can tell from another terminal how far it is."""

from __future__ import annotations

import json
import os
import socket
import time
import uuid
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Final

from ray_tasks.scheduling.build import Reporter
from ray_tasks.scheduling.tasks import ShardResult
from ray_tasks.storage.manifests import timestamp
from ray_tasks.storage.store import MissingObjectError, ObjectStore

RUN_KEY: Final = "runs/latest.json"
WRITE_EVERY_SECONDS: Final = 1.0


class RunLog:
    """Keeps runs/latest.json: who runs what since when, shards by wave, failures, and how it ended."""

    def __init__(
        self, store: ObjectStore, request: Mapping[str, Any], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`request` is what was asked for, as JSON, so that it can be asked for again."""
        self._store = store
        self._clock = clock
        self._written = float("-inf")
        self.run_id = f"{timestamp()}-{uuid.uuid4().hex[:8]}"
        self._state: dict[str, Any] = {
            "run_id": self.run_id,
            "state": "running",
            "request": dict(request),
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "started": timestamp(),
            "updated": timestamp(),
            "waves": [],
            "failed": [],
            "memory_id": None,
        }

    def __enter__(self) -> RunLog:
        self._write()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if error is not None:
            self._state["state"] = "interrupted" if kind is KeyboardInterrupt else "failed"
            self._state["error"] = f"{type(error).__name__}: {error}"
        self._write()

    def finished(self, memory_id: str) -> None:
        """The run has published, or found published, this memory."""
        self._state.update(state="finished", memory_id=memory_id)

    def watch(self, reporter: Reporter) -> Reporter:
        """A reporter that keeps this record and passes everything on."""
        return _Watcher(self, reporter)

    def begin_wave(self, name: str, total: int, cached: int) -> None:
        """A wave begins."""
        counts = {"total": total, "cached": cached, "made": 0, "failed": 0}
        self._state["waves"].append({"wave": name, **counts, "seconds": 0})
        self._write()

    def count(self, result: ShardResult, seconds: float) -> None:
        """A shard came to its end, so many seconds into its wave."""
        wave = self._state["waves"][-1]
        wave["seconds"] = round(seconds, 2)
        wave["failed" if result.failure else "made"] += 1
        if result.failure:
            self._state["failed"].append(f"{result.stage} {result.shard}: {result.failure.message}")
        if self._clock() - self._written >= WRITE_EVERY_SECONDS:
            self._write()

    def end_wave(self, seconds: float) -> None:
        """A wave is over."""
        self._state["waves"][-1]["seconds"] = round(seconds, 2)
        self._write()

    def _write(self) -> None:
        self._written = self._clock()
        self._state["updated"] = timestamp()
        self._store.write(RUN_KEY, json.dumps(self._state, ensure_ascii=False, indent=1).encode())


class _Watcher:
    def __init__(self, run: RunLog, reporter: Reporter) -> None:
        self._run, self._reporter, self._started = run, reporter, time.monotonic()

    def wave_started(self, name: str, total: int, cached: int) -> None:
        """See Reporter."""
        self._started = time.monotonic()
        self._run.begin_wave(name, total, cached)
        self._reporter.wave_started(name, total, cached)

    def shard_finished(self, result: ShardResult) -> None:
        """See Reporter."""
        self._run.count(result, time.monotonic() - self._started)
        self._reporter.shard_finished(result)

    def wave_finished(self, name: str, seconds: float) -> None:
        """See Reporter."""
        self._run.end_wave(seconds)
        self._reporter.wave_finished(name, seconds)


def read_run(store: ObjectStore) -> dict[str, Any] | None:
    """The record of the last run, or None where there is none."""
    try:
        state: dict[str, Any] = json.loads(store.read(RUN_KEY))
    except MissingObjectError:
        return None
    return state

"""Keeps the record of a run (storage/run_records.py) while it goes on.

Everything is written by one thread of its own. So a shard that comes in costs the run a few additions, heartbeats go on
while no shard ends, a store that hiccups costs a record and not the run, and a signal handler can have the run's end
written at once: `ray job stop` kills three seconds after it has asked.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Final

from ray_tasks.scheduling.build import Reporter
from ray_tasks.scheduling.holder import this_holder
from ray_tasks.scheduling.record_writer import RecordWriter
from ray_tasks.scheduling.run_counts import RunningWave, StageSums
from ray_tasks.scheduling.run_report import running_lines, wave_lines
from ray_tasks.scheduling.tasks import ShardResult
from ray_tasks.storage.collecting import wait_for_collection
from ray_tasks.storage.manifests import timestamp
from ray_tasks.storage.run_rates import add_run
from ray_tasks.storage.run_records import (
    HEARTBEAT_S,
    LATEST_KEY,
    OPEN,
    FailedShard,
    RunRecord,
    State,
    run_key,
)
from ray_tasks.storage.store import ObjectStore

SIGNAL_WAIT_S: Final = 2.0
LAST_WRITE_S: Final = 120.0
RECORDED_FAILURES: Final = 50
"""Failed shards in the record itself, which is written every second; the list of all is written as it grows by half."""

REPORT_S: Final = 10.0
_LOGGER: Final = logging.getLogger(__name__)


class RunLog:
    """Use as a context manager around a run; whatever ends the block, the record says how it ended."""

    def __init__(
        self,
        store: ObjectStore,
        request: Mapping[str, Any],
        command: str = "build",
        *,
        say: Callable[[str], None] = _LOGGER.warning,
        heartbeat_s: float = HEARTBEAT_S,
    ) -> None:
        """`request` is what was asked for, as JSON, so that it can be asked for again; `say` tells a person."""
        self.run_id = f"{timestamp()}-{uuid.uuid4().hex[:8]}"
        self._store, self._request, self._command = store, dict(request), command
        self._say = say
        self._holder = this_holder()
        self._started = self._progressed = timestamp()
        self._state: State = "running"
        self._end: dict[str, Any] = {}
        self._notes: dict[str, Any] = {}
        self._waves: list[RunningWave] = []
        self._stages: dict[str, StageSums] = {}
        self._gpus: dict[str, float] = {}
        self._failures: list[FailedShard] = []
        self._listed_failures = 0
        self._missed = 0
        self._report_wanted = False
        self._still_running: list[str] = []
        self._writer = RecordWriter(self._write, heartbeat_s)

    def __enter__(self) -> RunLog:
        # The record comes first and the look for a collection second; `gc` does it the other way round. So of two that
        # start together at least one sees the other.
        self._store.write(run_key(self.run_id), self._dump())
        self._store.write(f"{OPEN}/{self.run_id}", b"{}")
        self._store.write(LATEST_KEY, json.dumps({"run_id": self.run_id}).encode())
        self._writer.start()
        try:
            wait_for_collection(self._store, self._say)
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if error is not None and self._state in ("running", "finished"):
            stopped = isinstance(error, KeyboardInterrupt)
            self._set_end("interrupted" if stopped else "failed", f"{type(error).__name__}: {error}")
        self._writer.write_now(LAST_WRITE_S, last=True)
        if self._missed:
            self._say(f"the record of this run missed {self._missed} updates, as the store did not take them")

    def finished(self, memory_id: str | None, *, published: bool = True) -> None:
        """The run did what it was asked for; `published` says whether readers see `memory_id` now."""
        self._end.update(memory_id=memory_id, published=published)
        self._state = "finished"

    def interrupted(self, reason: str) -> None:
        """The run is told to stop. Written at once; safe in a signal handler."""
        self._set_end("interrupted", reason)
        self._writer.write_now(SIGNAL_WAIT_S)

    def passed_deadline(self, seconds: float) -> str:
        """The run's time is over: written at once, and a report of what was done and what was still running.

        Safe in a signal handler: the store is asked by the writer's thread, for which this one waits no longer than
        REPORT_S, as it may have been stopped while it held a lock of the store's client.
        """
        self._set_end("deadline", f"the deadline of {seconds:g} s has passed")
        self._report_wanted = True
        self._writer.write_now(REPORT_S)
        waves = wave_lines([wave.frozen() for wave in self._waves])
        return "\n".join([str(self._end["error"]), *waves, *self._still_running])

    def note(self, **fields: Any) -> None:
        """Keeps further facts (JSON) about the run in its record."""
        self._notes = {**self._notes, **fields}
        self._writer.changed()

    def uses_gpus(self, stage: str, gpus: float) -> None:
        """Each shard of a stage holds so many GPUs while it is made."""
        self._gpus[stage] = gpus

    def watch(self, reporter: Reporter) -> Reporter:
        """A reporter that keeps this record and passes everything on."""
        return _Watcher(self, reporter)

    def begin_wave(self, name: str, total: int, cached: int) -> None:
        """A wave begins."""
        self._waves.append(RunningWave(name, total, cached))
        self._writer.changed()

    def count(self, result: ShardResult) -> None:
        """A shard came to its end."""
        wave = self._waves[-1]
        wave.count(failed=result.failure is not None)
        if result.failure:
            failure = result.failure
            self._failures.append(
                FailedShard(
                    stage=result.stage,
                    shard=str(result.shard),
                    error=failure.error,
                    message=failure.message,
                    traceback=failure.traceback,
                )
            )
        elif result.record:
            sums = self._stages.setdefault(result.stage, StageSums())
            sums.add(result.record, self._gpus.get(result.stage, 0.0))
        self._progressed = timestamp()
        self._writer.changed()

    def end_wave(self) -> None:
        """A wave is over."""
        self._waves[-1].end()
        self._writer.changed()

    def flush(self) -> None:
        """Waits until what has been said so far is written."""
        self._writer.write_now(LAST_WRITE_S)

    def _set_end(self, state: State, error: str) -> None:
        self._state = state
        self._end["error"] = error

    def _write(self, last: bool) -> None:
        if last and "ended" not in self._end:
            self._end["ended"] = timestamp()
        try:
            if len(self._failures) > 1.5 * self._listed_failures or (last and self._failures):
                self._write_failures()
            self._store.write(run_key(self.run_id), self._dump())
            if last:
                self._store.delete(f"{OPEN}/{self.run_id}")
                add_run(self._store, self._record())
            if self._report_wanted:
                self._report_wanted = False
                self._still_running = running_lines(self._store, self.run_id)
        except Exception as error:  # noqa: BLE001 - no fault of the store may end the thread, or the run looks dead
            self._missed += 1
            if self._missed == 1:
                self._say(f"the record of this run could not be written ({error}); the run itself goes on")

    def _write_failures(self) -> None:
        failures = list(self._failures)
        data = {"failures": [failure.model_dump() for failure in failures]}
        self._store.write(run_key(self.run_id, "failures.json"), json.dumps(data, ensure_ascii=False).encode())
        self._listed_failures = len(failures)

    def _dump(self) -> bytes:
        return self._record().model_dump_json(indent=1).encode()

    def _record(self) -> RunRecord:
        """The record as of now. Lists are copied first: the run's own thread goes on adding to them."""
        return RunRecord(
            run_id=self.run_id,
            state=self._state,
            command=self._command,
            request=self._request,
            holder=self._holder,
            started=self._started,
            updated=timestamp(),
            progressed=self._progressed,
            waves=tuple(wave.frozen() for wave in list(self._waves)),
            stages={stage: sums.frozen() for stage, sums in dict(self._stages).items()},
            failed=len(self._failures),
            failures=tuple(self._failures[:RECORDED_FAILURES]),
            missed_writes=self._missed,
            notes=self._notes,
            **self._end,
        )


class _Watcher:
    def __init__(self, run: RunLog, reporter: Reporter) -> None:
        self._run, self._reporter = run, reporter

    def wave_started(self, name: str, total: int, cached: int) -> None:
        """See Reporter."""
        self._run.begin_wave(name, total, cached)
        self._reporter.wave_started(name, total, cached)

    def shard_finished(self, result: ShardResult) -> None:
        """See Reporter."""
        self._run.count(result)
        self._reporter.shard_finished(result)

    def wave_finished(self, name: str, seconds: float) -> None:
        """See Reporter."""
        self._run.end_wave()
        self._reporter.wave_finished(name, seconds)

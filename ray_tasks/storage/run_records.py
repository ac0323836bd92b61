"""Records of runs: who builds what since when, how far it is and how it ended; written by scheduling/run_log.py.

    runs/latest.json              names the run that began last
    runs/open/{run_id}            there while a run goes on; a run that was killed leaves it behind
    runs/{run_id}/run.json        the record, written again every few seconds
    runs/{run_id}/failures.json   every failed shard; the record itself holds only the first ones
    runs/{run_id}/attempts/...    a note for each shard that is being made (scheduling/stages.py)

Whoever reads a record may be on another machine, so a run is known to be alive by its heartbeat. Only where writer and
reader share the kernel and its table of processes does the process itself decide, known by number and start time.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ray_tasks.storage.json_objects import DamagedObjectError, read_json_object
from ray_tasks.storage.manifests import TIMESTAMP_FORMAT
from ray_tasks.storage.processes import process_started, this_machine
from ray_tasks.storage.store import MissingObjectError, ObjectStore, StoreError

RUNS: Final = "runs"
LATEST_KEY: Final = f"{RUNS}/latest.json"
OPEN: Final = f"{RUNS}/open"

HEARTBEAT_S: Final = 10.0
SILENT_S: Final = 180.0
"""A run that cannot be looked at and has been silent for so long is taken for dead: eighteen missed heartbeats."""

UNHARMED: Final = "shards and memories are unharmed, and the next build keeps a record of its own"

State = Literal["running", "finished", "failed", "interrupted", "deadline"]


class DamagedRunError(StoreError):
    """A run's record cannot be read; the run itself, and every shard it made, are unharmed."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Holder(_Part):
    """Who holds a run. `machine` names kernel and process table, `pid_started` the process (clock ticks since boot)."""

    user: str
    host: str
    pid: int
    machine: str | None = None
    pid_started: int | None = None
    ray_address: str | None = None
    submission_id: str | None = None
    commit: str | None = None


class Wave(_Part):
    """Shards of one wave: `seconds` since it began, the wait for the cluster included."""

    wave: str
    total: int
    cached: int
    made: int = 0
    failed: int = 0
    seconds: float = 0.0
    over: bool = False

    @property
    def left(self) -> int:
        """Shards that have not come to an end."""
        return max(self.total - self.cached - self.made - self.failed, 0)

    @property
    def rate(self) -> float:
        """Shards made or failed per second; 0 where none was."""
        return (self.made + self.failed) / self.seconds if self.seconds > 0 else 0.0


class StageWork(_Part):
    """What a stage's shards cost in this run (cached ones are not in it).

    Seconds of work, rows, seconds of a GPU, and the tokens that a language model read and wrote.
    """

    made: int = 0
    seconds: float = 0.0
    rows: int = 0
    gpu_seconds: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0


class FailedShard(_Part):
    """A shard that failed: error class, message and the end of the traceback."""

    stage: str
    shard: str
    error: str
    message: str
    traceback: str = ""

    def __str__(self) -> str:
        return f"{self.stage} {self.shard}: {self.error}: {self.message}"


class RunRecord(_Part):
    """One run. Times are UTC; `updated` is its last heartbeat, `progressed` when a shard last came to its end."""

    run_id: str
    state: State
    command: str = "build"
    request: Mapping[str, Any] = Field(default_factory=dict)
    holder: Holder
    started: str
    updated: str
    progressed: str
    ended: str | None = None
    waves: tuple[Wave, ...] = ()
    stages: Mapping[str, StageWork] = Field(default_factory=dict)
    failed: int = 0
    failures: tuple[FailedShard, ...] = ()
    memory_id: str | None = None
    published: bool = False
    error: str | None = None
    missed_writes: int = 0
    notes: Mapping[str, Any] = Field(default_factory=dict)


def run_key(run_id: str, name: str = "run.json") -> str:
    """Where an object of a run is."""
    return f"{RUNS}/{run_id}/{name}"


def read_run(store: ObjectStore, run_id: str | None = None) -> RunRecord | None:
    """A run's record, the latest by default; None where there is none. Raises DamagedRunError."""
    try:
        if run_id is None:
            run_id = str(read_object(store, LATEST_KEY)["run_id"])
        return RunRecord.model_validate(read_object(store, run_key(run_id)))
    except MissingObjectError:
        return None
    except (ValidationError, KeyError) as error:
        where = run_key(run_id) if run_id else LATEST_KEY
        raise DamagedRunError(f"{where} in {store.url} is damaged ({_first_fault(error)}); {UNHARMED}") from error


def read_failures(store: ObjectStore, run: RunRecord) -> tuple[FailedShard, ...]:
    """All failed shards of a run; those of its record where the full list is missing. Raises DamagedRunError."""
    try:
        data = read_object(store, run_key(run.run_id, "failures.json"))
        return tuple(FailedShard.model_validate(entry) for entry in data["failures"])
    except MissingObjectError:
        return run.failures
    except (ValidationError, KeyError, TypeError) as error:
        where = run_key(run.run_id, "failures.json")
        raise DamagedRunError(f"{where} in {store.url} is damaged ({_first_fault(error)}); {UNHARMED}") from error


def open_runs(store: ObjectStore) -> tuple[list[RunRecord], list[str]]:
    """Runs that have not ended, alive or dead, in the order in which they began, and a note for each damaged record."""
    runs: list[RunRecord] = []
    notes: list[str] = []
    for key in store.list_keys(OPEN):
        try:
            run = read_run(store, key.rpartition("/")[2])
        except DamagedRunError as error:
            notes.append(str(error))
            continue
        if run and run.state == "running":
            runs.append(run)
    return runs, notes


class Attempt(_Part):
    """A shard that is being made: since when (seconds since 1970), where, and for which time."""

    stage: str = ""
    shard: str
    since: float
    host: str = ""
    attempts: int = 1


def running_shards(store: ObjectStore, run_id: str) -> list[Attempt]:
    """The shards that workers of a run have begun and not ended, longest first; also those of workers that died."""
    base = run_key(run_id, "attempts")
    found = []
    for key in store.list_keys(base):
        try:
            attempt = Attempt.model_validate(read_object(store, key))
        except (MissingObjectError, DamagedRunError, ValidationError):
            continue  # it ended just now, or its note was cut off: there is nothing to say about it
        stage = key.removeprefix(f"{base}/").split("/")[0]
        # Texts of several shards are embedded together, under one note that names the first of them.
        found.append(attempt.model_copy(update={"stage": "embed" if stage == "together" else stage}))
    return sorted(found, key=lambda attempt: (attempt.since, attempt.shard))


def silence_s(run: RunRecord, now: float | None = None) -> float:
    """Seconds since the run was last heard of; 0 where its clock is ahead of ours, infinite for an unreadable time."""
    heard = epoch_s(run.updated)
    return float("inf") if heard is None else max((now or datetime.now(UTC).timestamp()) - heard, 0.0)


def is_alive(run: RunRecord, *, silent_s: float = SILENT_S) -> bool:
    """Whether a run is still at work, as far as can be told from here; `silent_s` is what a heartbeat may be late."""
    if run.state != "running":
        return False
    holder = run.holder
    if holder.machine and holder.pid_started is not None and holder.machine == this_machine():
        return process_started(holder.pid) == holder.pid_started
    return silence_s(run) < silent_s


def epoch_s(stamp: str) -> float | None:
    """A timestamp of a record as seconds since 1970; None for one that cannot be read."""
    try:
        return datetime.strptime(stamp, TIMESTAMP_FORMAT).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def read_object(store: ObjectStore, key: str) -> dict[str, Any]:
    """A JSON object below runs/; raises MissingObjectError or DamagedRunError."""
    try:
        return read_json_object(store, key, UNHARMED)
    except DamagedObjectError as error:
        raise DamagedRunError(str(error)) from error


def _first_fault(error: ValidationError | KeyError | TypeError) -> str:
    if isinstance(error, ValidationError):
        fault = error.errors()[0]
        return f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
    return f"missing: {error}"

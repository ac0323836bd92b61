"""Runs, as a collection sees them: those that are alive forbid it, and records older than the kept memories go."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Final

from ray_tasks.errors import DaybookError
from ray_tasks.storage.interface import StoredObject
from ray_tasks.storage.run_records import (
    LATEST_KEY,
    OPEN,
    RUNS,
    DamagedRunError,
    RunRecord,
    epoch_s,
    is_alive,
    read_object,
    read_run,
)
from ray_tasks.storage.store import MissingObjectError, ObjectStore

UNHEARD_S: Final = 3600.0
"""A run on another machine may be out of touch with the store for so long before what it needs may go."""


class RunningBuildError(DaybookError):
    """A build is at work: what it needs is not yet named by any manifest."""


def require_no_live_run(store: ObjectStore) -> None:
    """Raises RunningBuildError while any run is, or may be, at work."""
    for key in store.list_keys(OPEN):
        run_id = key.rpartition("/")[2]
        try:
            run = read_run(store, run_id)
        except DamagedRunError as error:
            heard = max((found.modified for found in store.list_objects(f"{RUNS}/{run_id}")), default=0.0)
            _require_old(run_id, heard, error)
            continue
        if run and is_alive(run, silent_s=UNHEARD_S):
            raise RunningBuildError(
                f"a build is running since {run.started} on {run.holder.host} (process {run.holder.pid}, last heard of "
                f"{run.updated}): collect when it has ended; nothing was removed"
            )


def _require_old(run_id: str, heard: float, error: DamagedRunError) -> None:
    if time.time() - heard < UNHEARD_S:
        raise RunningBuildError(
            f"run {run_id} may still be at work, but its record is damaged ({error}); nothing was removed: "
            f"collect {UNHEARD_S / 3600:g} h after its last sign of life"
        ) from error


def collect_runs(
    store: ObjectStore, kept: set[str], oldest: str, limit: float, remove: Callable[[Iterable[StoredObject]], None]
) -> tuple[int, int]:
    """Removes what ended runs left; the number of removed records and the bytes of all that went.

    Kept is the record of the latest run, of each that made a kept memory, and of each that began after the oldest of
    these was made (`oldest`) or wrote anything after `limit`. Notes of attempts of ended runs always go.
    """
    latest = _latest(store)
    since = epoch_s(oldest) or 0.0
    removed = size = 0
    for (_, name), group in groupby(store.list_objects(RUNS), key=lambda found: tuple(found.key.split("/")[:2])):
        objects = [found for found in group if found.key.count("/") > 1]
        if name == "open" or not objects:
            continue
        run = _read(store, name)
        wanted = name == latest or max(found.modified for found in objects) > limit
        wanted = wanted or (run is not None and (run.memory_id in kept or (epoch_s(run.started) or 0.0) >= since))
        going = [found for found in objects if not wanted or found.key.startswith(f"{RUNS}/{name}/attempts/")]
        # The record goes last: what is left of an interrupted removal is still known for a run.
        remove(sorted(going, key=lambda found: found.key.endswith("/run.json")))
        removed += not wanted
        size += sum(found.size for found in going)
    for found in store.list_objects(OPEN):
        run = _read(store, found.key.rpartition("/")[2])
        if run is None or not is_alive(run, silent_s=UNHEARD_S):  # a build that waits for this collection is alive
            remove([found])
    return removed, size


def _latest(store: ObjectStore) -> str | None:
    try:
        return str(read_object(store, LATEST_KEY).get("run_id"))
    except (MissingObjectError, DamagedRunError):
        return None


def _read(store: ObjectStore, run_id: str) -> RunRecord | None:
    try:
        return read_run(store, run_id)
    except DamagedRunError:
        return None

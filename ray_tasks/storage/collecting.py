"""Keeps `gc` and everything that makes or publishes memories apart, with no more than reads and writes of a store.

A build writes its record and then looks for runs/collecting.json; `gc` writes that and then looks for open runs. Stores
are consistent, so of two that begin together at least one sees the other: `gc` gives way, a build waits.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from ray_tasks.errors import DaybookError
from ray_tasks.storage.manifests import timestamp
from ray_tasks.storage.processes import process_started, this_machine
from ray_tasks.storage.run_records import (
    DamagedRunError,
    epoch_s,
    read_object,
)
from ray_tasks.storage.store import ConflictError, MissingObjectError, ObjectStore

COLLECTING_KEY: Final = "runs/collecting.json"
REFRESH_S: Final = 20.0
SILENT_S: Final = 900.0
"""A collection that has written nothing for so long is taken for dead: one request with all its retries takes less."""

POLL_S: Final = 2.0


class CollectionRunningError(DaybookError):
    """A collection is at work, and what it takes away might be just what is wanted."""


class Collecting:
    """The marker of a collection at work."""

    def __init__(self, store: ObjectStore, pid: int) -> None:
        self._store, self._pid = store, pid
        self._started = timestamp()
        self._written = float("-inf")

    def claim(self) -> None:
        """Takes the place of a marker that is dead, or of none; raises CollectionRunningError where one is alive."""
        version = self._store.version(COLLECTING_KEY)
        refuse_during_collection(self._store)
        try:
            self._store.write_if_version(COLLECTING_KEY, self._dump(), version)
        except ConflictError as error:
            raise CollectionRunningError(
                f"another `daybook gc` has just begun on {self._store.url}; it does the work"
            ) from error
        self._written = time.monotonic()

    def refresh(self) -> None:
        """Says that the collection is still at work; cheap enough to call for every object."""
        if time.monotonic() - self._written >= REFRESH_S:
            self._store.write(COLLECTING_KEY, self._dump())
            self._written = time.monotonic()

    def _dump(self) -> bytes:
        marker = {
            "host": socket.gethostname(),
            "pid": self._pid,
            "machine": this_machine(),
            "pid_started": process_started(self._pid),
            "started": self._started,
            "updated": timestamp(),
        }
        return json.dumps(marker, indent=1).encode()


@contextmanager
def collecting(store: ObjectStore, pid: int) -> Iterator[Collecting]:
    """Marks the store as being collected for the length of a block; raises CollectionRunningError if it is already."""
    marker = Collecting(store, pid)
    marker.claim()
    try:
        yield marker
    finally:
        store.delete(COLLECTING_KEY)


def refuse_during_collection(store: ObjectStore) -> None:
    """Raises CollectionRunningError while a collection is at work."""
    marker = _at_work(store)
    if marker:
        raise CollectionRunningError(
            f"{_named(marker)} is at work on {store.url}; run the command again when it is done"
        )


def wait_for_collection(store: ObjectStore, say: Callable[[str], None], *, poll_s: float = POLL_S) -> None:
    """Returns once no collection is at work on the store, and says that it waits."""
    marker = _at_work(store)
    if marker:
        say(f"{_named(marker)} is at work on {store.url}; the build begins when it is done")
    while marker:
        time.sleep(poll_s)
        marker = _at_work(store)


def _named(marker: dict[str, Any]) -> str:
    return f"`daybook gc` (process {marker.get('pid')} on {marker.get('host')}, since {marker.get('started')})"


def _at_work(store: ObjectStore) -> dict[str, Any] | None:
    """The marker of a collection that is alive; a damaged one is somebody's half-dead work and counts as none."""
    try:
        marker = read_object(store, COLLECTING_KEY)
    except (MissingObjectError, DamagedRunError):
        return None
    if marker.get("machine") and marker.get("machine") == this_machine():
        return marker if process_started(int(marker["pid"])) == marker.get("pid_started") else None
    heard = epoch_s(str(marker.get("updated")))
    return marker if heard is not None and time.time() - heard < SILENT_S else None

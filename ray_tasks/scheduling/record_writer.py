"""A thread that writes a record again and again: soon after a change, at every heartbeat, and at once on an order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final

WRITE_EVERY_S: Final = 1.0


class RecordWriter:
    """Calls `write(last)` in a thread of its own; `write` must not raise."""

    def __init__(self, write: Callable[[bool], None], heartbeat_s: float) -> None:
        self._write, self._heartbeat_s = write, heartbeat_s
        self._changed = False
        self._orders: SimpleQueue[tuple[threading.Event, bool]] = SimpleQueue()
        self._thread = threading.Thread(target=self._keep_writing, name="run-log", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def changed(self) -> None:
        """There is something new to write, within WRITE_EVERY_S."""
        self._changed = True

    def write_now(self, wait_s: float, *, last: bool = False) -> None:
        """Has it written at once and waits for that no longer than `wait_s`; nothing is written after the last time.

        A fresh event and a SimpleQueue take no lock that the caller may hold already: it may be a signal handler.
        """
        written = threading.Event()
        self._orders.put((written, last))
        written.wait(wait_s)

    def _keep_writing(self) -> None:
        """At most one write in WRITE_EVERY_S without an order, at least one in every heartbeat."""
        begun = time.monotonic()
        while True:
            try:
                written, last = self._orders.get(timeout=WRITE_EVERY_S)
            except Empty:
                if not self._changed and time.monotonic() - begun < self._heartbeat_s:
                    continue
                written, last = threading.Event(), False
            self._changed = False
            self._write(last)
            begun = time.monotonic()
            written.set()
            if last:
                return

"""Work that many questions ask for at once is done together: what waits for its turn becomes one batch."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Together(Generic[Item, Result]):
    """Does the work of several event loops in one thread; a batch that fails is done again one by one."""

    def __init__(self, work: Callable[[list[Item]], Sequence[Result]], name: str) -> None:
        """`work` gives one result for each item, in their order."""
        self._work = work
        self._guard = threading.Lock()
        self._waiting: list[tuple[Item, Future[Result]]] = []
        self._busy = False
        self._worker = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def one(self, item: Item) -> Result:
        """The result of one item; raises what the work raises for it alone."""
        future: Future[Result] = Future()
        with self._guard:
            self._waiting.append((item, future))
            idle, self._busy = not self._busy, True
        if idle:
            self._worker.submit(self._serve_all)
        return await asyncio.wrap_future(future)

    def _serve_all(self) -> None:
        """Does whatever waits, until nothing does."""
        while True:
            with self._guard:
                batch, self._waiting = self._waiting, []
                self._busy = bool(batch)
            if not batch:
                return
            wanted = [(item, future) for item, future in batch if future.set_running_or_notify_cancel()]
            if wanted:
                self._serve(wanted)

    def _serve(self, wanted: list[tuple[Item, Future[Result]]]) -> None:
        try:
            results = self._work([item for item, _ in wanted])
        except BaseException as error:  # noqa: BLE001 (raised again where the result is awaited)
            if len(wanted) == 1:
                wanted[0][1].set_exception(error)
            else:
                for one in wanted:
                    self._serve([one])
            return
        for (_, future), result in zip(wanted, results, strict=True):
            future.set_result(result)

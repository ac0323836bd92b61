"""An event loop in a thread of its own, so that code that knows nothing of coroutines can wait for them."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

Result = TypeVar("Result")

END_S: Final = 10.0
"""Seconds within which what was cancelled must end."""


class OwnLoop:
    """The loop starts with its first use; after a fork the child gets one of its own, for threads are not copied."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._process = 0

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Runs a coroutine on the loop and waits for it; what interrupts the wait also cancels the coroutine.

        Raises RuntimeError where the loop is closed meanwhile, and on the loop itself, which cannot wait for itself.
        """
        loop = self.started()
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise RuntimeError("run() was called from a coroutine of the same client; await it instead")
        ended, begun = threading.Event(), list[asyncio.Task[Result]]()

        def begin() -> None:
            begun.append(loop.create_task(coroutine))
            begun[0].add_done_callback(lambda _: ended.set())

        def cancel() -> None:
            if begun:
                begun[0].cancel()
            else:  # interrupted before it was even handed over
                coroutine.close()
                ended.set()

        try:
            loop.call_soon_threadsafe(begin)
            ended.wait()
        except BaseException:
            loop.call_soon_threadsafe(cancel)
            ended.wait(END_S)
            raise
        if begun[0].cancelled():
            raise RuntimeError("the chat client was closed while calls were under way")
        return begun[0].result()

    def started(self) -> asyncio.AbstractEventLoop:
        """The loop, which runs."""
        with self._turn:
            if self._loop is None or self._process != os.getpid():
                self._loop, self._process = asyncio.new_event_loop(), os.getpid()
                self._thread = threading.Thread(target=self._loop.run_forever, name="chat", daemon=True)
                self._thread.start()
            return self._loop

    def close(self, last: Coroutine[Any, Any, None]) -> None:
        """Cancels what is under way, runs a last coroutine and ends the thread; the next use starts a new one."""
        with self._turn:
            loop, thread, process = self._loop, self._thread, self._process
            self._loop = self._thread = None
        if loop is None or thread is None or process != os.getpid():
            last.close()
            return
        asyncio.run_coroutine_threadsafe(_cancel_others(last), loop).result(END_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(END_S)
        loop.close()


async def _cancel_others(last: Coroutine[Any, Any, None]) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await last

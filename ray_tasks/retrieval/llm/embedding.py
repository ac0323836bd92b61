"""One embedder for many questions at once: queries that wait for their turn are embedded together."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from ray_tasks.retrieval.types import Embed, FloatMatrix
from ray_tasks.retrieval.whole_vectors import Float32


class SharedEmbed:
    """An Embed for several threads and event loops; the embedder behind it is used by one of them at a time."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._using = threading.Lock()
        self._guard = threading.Lock()
        self._waiting: list[tuple[str, Future[Float32]]] = []
        self._busy = False
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="queries")

    def __call__(self, texts: list[str]) -> FloatMatrix:
        """Unit vectors (n, d) of texts, float32; waits."""
        with self._using:
            return self._embed(texts)

    async def one(self, text: str) -> Float32:
        """The unit vector (d,) of one text."""
        future: Future[Float32] = Future()
        with self._guard:
            self._waiting.append((text, future))
            idle, self._busy = not self._busy, True
        if idle:
            self._worker.submit(self._work)
        return await asyncio.wrap_future(future)

    def _work(self) -> None:
        """Embeds whatever waits, until nothing does."""
        while True:
            with self._guard:
                batch, self._waiting = self._waiting, []
                self._busy = bool(batch)
            if not batch:
                return
            wanted = [(text, future) for text, future in batch if future.set_running_or_notify_cancel()]
            try:
                vectors: Iterable[Float32] = self([text for text, _ in wanted]) if wanted else ()
            except BaseException as error:  # noqa: BLE001 (raised again where the vectors are awaited)
                for _, future in wanted:
                    future.set_exception(error)
                continue
            for (_, future), vector in zip(wanted, vectors, strict=True):
                future.set_result(vector)

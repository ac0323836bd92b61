"""One embedder for many questions at once: queries that wait for their turn are embedded together."""

from __future__ import annotations

import threading

from ray_tasks.embedding.whole_vectors import Float32
from ray_tasks.retrieval.llm.together import Together
from ray_tasks.retrieval.types import Embed, FloatMatrix


class SharedEmbed:
    """An Embed for several threads and event loops; the embedder behind it is used by one of them at a time."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._using = threading.Lock()
        self._together: Together[str, Float32] = Together(lambda texts: list(self(texts)), "queries")

    def __call__(self, texts: list[str]) -> FloatMatrix:
        """Unit vectors (n, d) of texts, float32; waits."""
        with self._using:
            return self._embed(texts)

    async def one(self, text: str) -> Float32:
        """The unit vector (d,) of one text."""
        return await self._together.one(text)

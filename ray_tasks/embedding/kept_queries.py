"""Vectors of search queries, kept in the store: benchmarks ask the same questions of every memory and method.

On a CPU most of the time of an evaluation on rules is spent in the encoder, for texts that are the same every night.
"""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ray_tasks.embedding.buckets import distinct
from ray_tasks.embedding.encoder import Float32
from ray_tasks.storage.cache import table_bytes
from ray_tasks.storage.shards import content_key
from ray_tasks.storage.store import MissingObjectError, ObjectStore


class KeptQueries:
    """An embedder that asks another one only for texts whose vectors are not in the store, and puts those there."""

    def __init__(self, embed: Callable[[list[str]], Float32], store: ObjectStore, encoder: str) -> None:
        """`encoder` is the identity of what `embed` embeds with."""
        self._embed, self._store = embed, store
        self._prefix = f"evaluations/vectors/{content_key(encoder)[:16]}"

    def __call__(self, texts: list[str]) -> Float32:
        """Unit vectors, float32 of shape (len(texts), d), in the order of the texts."""
        known = self._known
        fresh = [text for text in distinct(texts) if text not in known]
        if fresh:
            vectors = self._embed(fresh)
            self._keep(fresh, vectors)
            known.update(zip(fresh, vectors, strict=True))
        return np.stack([known[text] for text in texts]) if texts else self._embed([])

    @cached_property
    def _known(self) -> dict[str, Float32]:
        with ThreadPoolExecutor(self._store.parallel) as threads:
            parts = threads.map(self._read, list(self._store.list_keys(self._prefix)))
        return {text: vector for part in parts for text, vector in part}

    def _keep(self, texts: list[str], vectors: Float32) -> None:
        flat = pa.array(np.ascontiguousarray(vectors, np.float32).reshape(-1))
        rows = pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
        data = table_bytes(pa.table({"text": texts, "vector": rows}), dictionary=False)
        self._store.write(f"{self._prefix}/{uuid.uuid4().hex}.parquet", data, durable=False)

    def _read(self, key: str) -> list[tuple[str, Float32]]:
        return list(self._pairs(key))

    def _pairs(self, key: str) -> Iterator[tuple[str, Float32]]:
        try:
            table = pq.read_table(io.BytesIO(self._store.read(key)))
            texts = table.column("text").to_pylist()
            flat = table.column("vector").combine_chunks().flatten().to_numpy()
        except (MissingObjectError, pa.ArrowException, OSError, ValueError, KeyError):  # one that a power cut emptied
            return
        if texts:
            yield from zip(texts, flat.reshape(len(texts), -1), strict=True)

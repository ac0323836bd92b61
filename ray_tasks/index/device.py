"""Where index work runs: on a GPU where FAISS sees one, else on the CPU.

faiss-gpu and faiss-cpu have the same interface but for the functions used here, and faiss.get_num_gpus() says 0 where
there is none (or where Ray has given the task none). Training clusters on the GPU through `clustering_index`, so that
the template itself stays a CPU index and its file is the same kind of file; adding clones the template to the GPU and
back. A GPU rounds otherwise, so a row between two lists can land in the other one: recall is compared between machines,
not bytes.

Exact search cannot use a selector there: GpuIndexFlat ignores it without a word, and future rows would come out. So the
rows of a view lie on the GPU as blocks in order of time. A range of rows is answered by the blocks that lie in it as a
whole, and what is left at its two ends is scanned on the CPU.

Nothing here has been run on a GPU; it is written against faiss-gpu 1.15's interface and tested with a stand-in for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ray_tasks.index.search import Float32, Int64

BLOCK_ROWS: Final = 16_384
"""Rows of one Flat index on the GPU: at most two such blocks of a range are left to the CPU."""

MOST_RESULTS: Final = 2_048
"""What a GPU index can return for one query."""


def gpus() -> int:
    """GPUs that FAISS can use here."""
    import faiss

    return int(faiss.get_num_gpus())


def train(index: Any, sample: Float32) -> None:
    """Trains a CPU IVF index, with the clustering on the GPU where there is one."""
    import faiss

    if not gpus():
        index.train(sample)
        return
    resources = faiss.StandardGpuResources()
    clustering = faiss.index_cpu_to_gpu(resources, 0, faiss.IndexFlatIP(sample.shape[1]))
    index.clustering_index = clustering
    try:
        index.train(sample)
    finally:
        index.clustering_index = None  # FAISS does not own it, and it dies with this function


def add(index: Any, vectors: Float32) -> Any:
    """The CPU IVF index with vectors (n, d) added under the numbers that follow its own."""
    import faiss

    if not gpus():
        index.add(vectors)
        return index
    resources = faiss.StandardGpuResources()
    on_gpu = faiss.index_cpu_to_gpu(resources, 0, index)
    on_gpu.add(vectors)
    return faiss.index_gpu_to_cpu(on_gpu)


@dataclass(frozen=True)
class GpuRows:
    """Vectors (n, d) in order of time, as blocks on the GPU; `vectors` is the same array on the CPU."""

    vectors: Float32
    blocks: tuple[Any, ...]
    resources: Any
    block_rows: int = BLOCK_ROWS

    @classmethod
    def upload(cls, vectors: Float32, block_rows: int = BLOCK_ROWS) -> GpuRows:
        """Copies the whole blocks of some vectors to the GPU; raises RuntimeError where they do not fit."""
        import faiss

        resources = faiss.StandardGpuResources()
        blocks = []
        for first in range(0, len(vectors) - block_rows + 1, block_rows):
            flat = faiss.IndexFlatIP(vectors.shape[1])
            flat.add(np.ascontiguousarray(vectors[first : first + block_rows]))
            blocks.append(faiss.index_cpu_to_gpu(resources, 0, flat))
        return cls(vectors, tuple(blocks), resources, block_rows)

    @property
    def error(self) -> float:
        """See Source.error; how far a float32 product of unit vectors of some thousand components may be off."""
        return 1e-4

    @property
    def approximate(self) -> bool:
        """See Source.approximate."""
        return False

    def nearest(
        self, query: Float32, first: int, stop: int, count: int, *, closely: bool = True
    ) -> tuple[Float32, Int64]:
        """See Source.nearest; always everything that is nearest."""
        del closely
        low, high = -(-first // self.block_rows), min(stop // self.block_rows, len(self.blocks))
        ends = [(first, stop)] if low >= high else [(first, low * self.block_rows), (high * self.block_rows, stop)]
        found = [self._on_cpu(query, begin, end) for begin, end in ends]
        for number in range(low, high):
            similarity, rows = self.blocks[number].search(query[None], min(count, self.block_rows, MOST_RESULTS))
            found.append((similarity[0], rows[0] + number * self.block_rows))
        values = np.concatenate([similarity for similarity, _ in found])
        numbers = np.concatenate([rows for _, rows in found])
        best = np.argsort(-values, kind="stable")[:count]
        return values[best], numbers[best]

    def _on_cpu(self, query: Float32, first: int, stop: int) -> tuple[Float32, Int64]:
        return self.vectors[first:stop] @ query, np.arange(first, stop)

"""Writing a FAISS Flat index file piece by piece, with no more in memory than one piece.

`merge_from` keeps the merged vectors in memory and, while its array grows, twice; FAISS's own on-disk merge
(contrib.ondisk) is for inverted lists alone. A Flat file is a header and then the vectors as they are, so a merged one
can be written as its parts are read. The header is FAISS's own, of an index that is told how many rows will follow.
"""

from __future__ import annotations

import struct
from pathlib import Path
from types import TracebackType
from typing import Final

import numpy as np

from ray_tasks.index.memory import MemoryMismatchError
from ray_tasks.index.search import Float32

_EMPTY_VECTORS: Final = struct.pack("<Q", 0)


def flat_header(dimension: int, rows: int) -> bytes:
    """What stands before the vectors in the file of a Flat index for inner products of `rows` vectors."""
    import faiss

    index = faiss.IndexFlatIP(dimension)
    index.ntotal = rows
    data = bytes(faiss.serialize_index(index).data)
    if not data.endswith(_EMPTY_VECTORS):
        raise RuntimeError(f"faiss {faiss.__version__} writes Flat indexes in another form than flat_file.py knows")
    return data.removesuffix(_EMPTY_VECTORS) + struct.pack("<Q", rows * dimension)


class FlatFile:
    """A Flat index file being written: `append` in order of rows, exactly as many as were announced."""

    def __init__(self, path: Path, dimension: int, rows: int) -> None:
        self._path, self._dimension, self._rows = path, dimension, rows
        self._written = 0
        self._stream = path.open("wb")
        self._stream.write(flat_header(dimension, rows))

    def __enter__(self) -> FlatFile:
        return self

    def append(self, vectors: Float32) -> None:
        """Adds vectors (n, d) behind those there are; raises MemoryMismatchError for another dimension."""
        if vectors.shape[1] != self._dimension:
            raise MemoryMismatchError(f"vectors of {vectors.shape[1]} dimensions among those of {self._dimension}")
        self._stream.write(np.ascontiguousarray(vectors, "<f4").data)
        self._written += len(vectors)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._stream.close()
        if error is None and self._written != self._rows:
            raise MemoryMismatchError(f"{self._path.name}: {self._written} vectors came for {self._rows} rows")

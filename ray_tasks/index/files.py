"""The files of one wearer's memory: for each view a FAISS index, its rows beside it, and its lexical postings.

The index holds row i of the rows file as vector i; so do the inverted lists that a large view has besides. Files are
disposable: Parquet shards of vectors are the truth, and the manifest holds the sha256 of each file, which is checked
before loading.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ray_tasks.compression.files import INTERACTIONS_FILE, read_interactions
from ray_tasks.corpus.recorded_time import RecordedTimeline
from ray_tasks.index.inverted import InvertedIndex
from ray_tasks.index.lexical import LexicalIndex
from ray_tasks.index.memory import CAPTION_VIEW, MemoryMismatchError, ViewIndex, WearerMemory
from ray_tasks.index.search import Float32, Int64
from ray_tasks.rows import VIEWS

ROW_SCHEMA: Final = pa.schema(
    [
        ("id", pa.string()),
        ("start_ms", pa.int64()),
        ("end_ms", pa.int64()),
        ("text", pa.string()),
        ("people", pa.list_(pa.string())),
        ("caption_row", pa.int64()),
    ]
)
"""Rows of a view in order of (end_ms, start_ms, id); caption_row points into the rows of the caption view."""


def load_wearer_memory(
    wearer: str,
    name: str,
    path_of: Callable[[str], Path],
    *,
    model: str,
    memory_id: str,
    names: Collection[str] = (),
) -> WearerMemory:
    """A wearer's memory from its files; `path_of` gives the checked local path of a file name.

    `names` are the files that there are: a view may have inverted lists (`action.ivf`) beside its Flat index, and the
    memory may hold interactions.

    Vectors are memory-mapped, so processes of one machine share them. Raises MemoryMismatchError where an index and its
    rows do not belong together.
    """
    recorded = pq.read_table(path_of(f"{CAPTION_VIEW}.rows.parquet"), schema=ROW_SCHEMA)
    timeline = RecordedTimeline.from_intervals(_int64(recorded.column("start_ms")), _int64(recorded.column("end_ms")))
    views = {view: _load_view(view, path_of, timeline, model, names) for view in (*VIEWS, CAPTION_VIEW)}
    captions = views.pop(CAPTION_VIEW)
    interactions = read_interactions(path_of) if INTERACTIONS_FILE in names else None
    return WearerMemory(wearer, name, views, captions, timeline, memory_id, interactions)


def _load_view(
    view: str, path_of: Callable[[str], Path], timeline: RecordedTimeline, model: str, names: Collection[str]
) -> ViewIndex:
    vectors = _mapped_vectors(path_of(f"{view}.faiss"))
    rows = pq.read_table(path_of(f"{view}.rows.parquet"), schema=ROW_SCHEMA).combine_chunks()
    if len(rows) != len(vectors):
        raise MemoryMismatchError(f"view {view}: the index holds {len(vectors)} vectors for {len(rows)} rows")
    inverted = InvertedIndex(path_of(f"{view}.ivf")) if f"{view}.ivf" in names else None
    if inverted and inverted.rows != len(rows):
        raise MemoryMismatchError(f"view {view}: inverted lists of {inverted.rows} rows for {len(rows)} rows")
    lexical = LexicalIndex.from_table(pq.read_table(path_of(f"{view}.terms.parquet")), len(rows))
    return ViewIndex(
        view=view,
        ids=rows.column("id"),
        start_ms=_int64(rows.column("start_ms")),
        end_ms=_int64(rows.column("end_ms")),
        texts=rows.column("text"),
        caption_rows=_int64(rows.column("caption_row")),
        vectors=vectors,
        lexical=lexical,
        timeline=timeline,
        model=model,
        inverted=inverted,
    )


def _int64(column: Any) -> Int64:
    return np.asarray(column.to_numpy(), np.int64)


def _mapped_vectors(path: Path) -> Float32:
    import faiss

    owner = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
    if owner.ntotal == 0:
        return np.zeros((0, owner.d), np.float32)
    return np.asarray(_VectorsOf(owner))


class _VectorsOf:
    """The vectors of a flat FAISS index as an array that keeps the index, whose memory they are, alive."""

    def __init__(self, owner: Any) -> None:
        import faiss

        # downcast_index gives a second handle that owns nothing, so it is the first one that must be kept.
        self.owner = owner
        flat: Any = faiss.downcast_index(owner)
        vectors = faiss.rev_swig_ptr(flat.get_xb(), owner.ntotal * owner.d).reshape(owner.ntotal, owner.d)
        self.__array_interface__ = vectors.__array_interface__

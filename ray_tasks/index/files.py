"""The files of one wearer's memory: for each view a FAISS index, its rows beside it, and its lexical postings.

The index holds row i of the rows file as vector i. Files are disposable: Parquet shards of vectors are the truth, and
the manifest holds the sha256 of each file, which is checked before loading.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ray_tasks.corpus.recorded_time import RecordedTimeline, day_bounds
from ray_tasks.index.lexical import LexicalIndex
from ray_tasks.index.memory import CAPTION_VIEW, MemoryMismatchError, ViewIndex, WearerMemory
from ray_tasks.index.search import Float32, Int64
from ray_tasks.rows import VIEWS
from ray_tasks.storage.cache import table_bytes

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


@dataclass(frozen=True)
class WearerIndex:
    """Built files by name, rows by view, and the first and last recorded moment of each day (ms of week time)."""

    files: Mapping[str, bytes]
    counts: Mapping[str, int]
    day_bounds: Mapping[int, tuple[int, int]]


def build_wearer_index(captions: pa.Table, atoms: pa.Table, row_of: Mapping[str, int], vectors: Float32) -> WearerIndex:
    """All files of a wearer from captions (CAPTION_SCHEMA), atoms (ATOM_SCHEMA) and vectors.

    `row_of` maps an atom's id to its row in `vectors` (n, d). A caption's vector is the normalised mean of its actions'
    and utterances' vectors, zero where it has none. Raises MemoryMismatchError where an atom lacks its vector or its
    caption.
    """
    caption_rows = _sorted_rows(captions, id_column="caption_id")
    number_of = {key: row for row, key in enumerate(caption_rows.column("id").to_pylist())}
    means = np.zeros((len(caption_rows), vectors.shape[1]), np.float64)
    files: dict[str, bytes] = {}
    counts: dict[str, int] = {}
    for view in VIEWS:
        chosen = atoms.filter(pc.equal(atoms.column("view"), view))
        rows = _sorted_rows(chosen, id_column="atom_id", caption_of=number_of)
        owned = _vectors_of(rows, row_of, vectors)
        if view in ("action", "utterance"):
            np.add.at(means, rows.column("caption_row").to_numpy(), owned)
        files.update(_view_files(view, rows, owned))
        counts[view] = len(rows)
    norms = np.linalg.norm(means, axis=1, keepdims=True)
    files.update(_view_files(CAPTION_VIEW, caption_rows, (means / np.where(norms > 0, norms, 1)).astype(np.float32)))
    counts[CAPTION_VIEW] = len(caption_rows)
    starts, ends = _int64(captions.column("start_ms")), _int64(captions.column("end_ms"))
    return WearerIndex(files, counts, day_bounds(starts, ends))


def _sorted_rows(table: pa.Table, *, id_column: str, caption_of: Mapping[str, int] | None = None) -> pa.Table:
    order = [("end_ms", "ascending"), ("start_ms", "ascending"), (id_column, "ascending")]
    table = table.sort_by(order).combine_chunks()
    if caption_of is None:
        people = pa.nulls(len(table), pa.list_(pa.string()))
        caption_row = pa.array(range(len(table)), pa.int64())
    else:
        people = table.column("people")
        firsts = pc.list_element(table.column("caption_ids"), 0).to_pylist() if len(table) else []
        unknown = next((key for key in firsts if key not in caption_of), None)
        if unknown is not None:
            raise MemoryMismatchError(f"an atom names caption {unknown}, which is not in the build")
        caption_row = pa.array([caption_of[key] for key in firsts], pa.int64())
    columns = [table.column(id_column), table.column("start_ms"), table.column("end_ms"), table.column("text")]
    return pa.table([*columns, people, caption_row], schema=ROW_SCHEMA)


def _vectors_of(rows: pa.Table, row_of: Mapping[str, int], vectors: Float32) -> Float32:
    ids = rows.column("id").to_pylist()
    missing = [key for key in ids if key not in row_of]
    if missing:
        raise MemoryMismatchError(f"{len(missing)} atoms have no vector, for example {missing[0]}")
    return np.ascontiguousarray(vectors[np.array([row_of[key] for key in ids], np.int64)])


def _view_files(view: str, rows: pa.Table, vectors: Float32) -> dict[str, bytes]:
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    lexical = LexicalIndex.build(rows.column("text").to_pylist()).to_table()
    return {
        f"{view}.faiss": faiss.serialize_index(index).tobytes(),
        f"{view}.rows.parquet": table_bytes(rows),
        f"{view}.terms.parquet": table_bytes(lexical),
    }


def load_wearer_memory(
    wearer: str,
    name: str,
    path_of: Callable[[str], Path],
    *,
    model: str,
    memory_id: str,
) -> WearerMemory:
    """A wearer's memory from its files; `path_of` gives the checked local path of a file name.

    Vectors are memory-mapped, so processes of one machine share them. Raises MemoryMismatchError where an index and its
    rows do not belong together.
    """
    recorded = pq.read_table(path_of(f"{CAPTION_VIEW}.rows.parquet"), schema=ROW_SCHEMA)
    timeline = RecordedTimeline.from_intervals(_int64(recorded.column("start_ms")), _int64(recorded.column("end_ms")))
    views = {view: _load_view(view, path_of, timeline, model) for view in (*VIEWS, CAPTION_VIEW)}
    captions = views.pop(CAPTION_VIEW)
    return WearerMemory(wearer, name, views, captions, timeline, memory_id)


def _load_view(view: str, path_of: Callable[[str], Path], timeline: RecordedTimeline, model: str) -> ViewIndex:
    vectors = _mapped_vectors(path_of(f"{view}.faiss"))
    rows = pq.read_table(path_of(f"{view}.rows.parquet"), schema=ROW_SCHEMA).combine_chunks()
    if len(rows) != len(vectors):
        raise MemoryMismatchError(f"view {view}: the index holds {len(vectors)} vectors for {len(rows)} rows")
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

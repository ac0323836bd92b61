"""A part: the rows and vectors of one vector shard, indexed by itself, so that a memory is merged and not built anew.

A part holds, for each view that the shard has rows of, a FAISS Flat index, and beside all of them one table of rows in
order of (view, end_ms, start_ms, id); row i of a view is vector i of its index. Parts of hours hold actions, utterances
and captions, parts of days activities and conversations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ray_tasks.index.lexical import tokenize
from ray_tasks.index.memory import CAPTION_VIEW, MemoryMismatchError
from ray_tasks.index.search import Float32
from ray_tasks.rows import VIEWS
from ray_tasks.storage.cache import table_bytes

PART_SCHEMA: Final = pa.schema(
    [
        ("view", pa.string()),
        ("id", pa.string()),
        ("start_ms", pa.int64()),
        ("end_ms", pa.int64()),
        ("text", pa.string()),
        ("people", pa.list_(pa.string())),
        ("caption_id", pa.string()),
        ("terms", pa.list_(pa.string())),
        ("term_counts", pa.list_(pa.int32())),
    ]
)
"""A row of a part. caption_id: its first source caption; terms: distinct stemmed words, with how often each stands."""

ALL_VIEWS: Final[tuple[str, ...]] = (*VIEWS, CAPTION_VIEW)
ROWS_FILE: Final = "rows.parquet"
ROW_ORDER: Final = (("end_ms", "ascending"), ("start_ms", "ascending"), ("id", "ascending"))


@dataclass(frozen=True)
class Part:
    """Rows of PART_SCHEMA, and for each view among them its vectors (n, d) in the order of its rows."""

    rows: pa.Table
    vectors: Mapping[str, Float32]

    @property
    def counts(self) -> dict[str, int]:
        """Rows by view, views without rows left out."""
        return {view: len(vectors) for view, vectors in self.vectors.items()}

    def files(self) -> dict[str, bytes]:
        """The files of the part by name."""
        indexes = {f"{view}.faiss": flat_bytes(vectors) for view, vectors in self.vectors.items()}
        return {ROWS_FILE: table_bytes(self.rows), **indexes}


def build_part(captions: pa.Table | None, atoms: pa.Table, row_of: Mapping[str, int], vectors: Float32) -> Part:
    """The part of one shard: its atoms (ATOM_SCHEMA) and, where it is an hour, its captions (CAPTION_SCHEMA).

    `row_of` maps an atom's id to its row in `vectors` (n, d). A caption's vector is the normalised mean of its actions'
    and utterances' vectors, zero where it has none. Raises MemoryMismatchError where an atom lacks its vector, or an
    action or utterance its caption.
    """
    tables: dict[str, pa.Table] = {}
    owned: dict[str, Float32] = {}
    for view in VIEWS:
        rows = _atom_rows(atoms.filter(pc.equal(atoms.column("view"), view)), view)
        if len(rows):
            tables[view], owned[view] = rows, _vectors_of(rows, row_of, vectors)
    if captions is not None and len(captions):
        tables[CAPTION_VIEW] = _caption_rows(captions)
        owned[CAPTION_VIEW] = _caption_vectors(tables, owned, vectors.shape[1])
    return Part(pa.concat_tables([PART_SCHEMA.empty_table(), *tables.values()]).combine_chunks(), owned)


def _atom_rows(atoms: pa.Table, view: str) -> pa.Table:
    captions = pc.list_element(atoms.column("caption_ids"), 0) if len(atoms) else pa.array([], pa.string())
    return _rows(atoms, view, ids=atoms.column("atom_id"), people=atoms.column("people"), captions=captions)


def _caption_rows(captions: pa.Table) -> pa.Table:
    ids, nobody = captions.column("caption_id"), pa.nulls(len(captions), pa.list_(pa.string()))
    return _rows(captions, CAPTION_VIEW, ids=ids, people=nobody, captions=ids)


def _rows(table: pa.Table, view: str, *, ids: Any, people: Any, captions: Any) -> pa.Table:
    counted = [Counter(tokenize(text)) for text in table.column("text").to_pylist()]
    columns = [
        pa.array([view] * len(table), pa.string()),
        ids,
        table.column("start_ms"),
        table.column("end_ms"),
        table.column("text"),
        people,
        captions,
        pa.array([list(terms) for terms in counted], pa.list_(pa.string())),
        pa.array([list(terms.values()) for terms in counted], pa.list_(pa.int32())),
    ]
    return pa.table(columns, schema=PART_SCHEMA).sort_by(list(ROW_ORDER)).combine_chunks()


def _vectors_of(rows: pa.Table, row_of: Mapping[str, int], vectors: Float32) -> Float32:
    ids = rows.column("id").to_pylist()
    missing = [key for key in ids if key not in row_of]
    if missing:
        raise MemoryMismatchError(f"{len(missing)} atoms have no vector, for example {missing[0]}")
    return np.ascontiguousarray(vectors[np.array([row_of[key] for key in ids], np.int64)])


def _caption_vectors(tables: Mapping[str, pa.Table], owned: Mapping[str, Float32], dimension: int) -> Float32:
    ids = tables[CAPTION_VIEW].column("id")
    sums = np.zeros((len(ids), dimension), np.float64)
    for view in ("action", "utterance"):
        if view in tables:
            np.add.at(sums, caption_rows_of(tables[view].column("caption_id"), ids), owned[view])
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.asarray(sums / np.where(norms > 0, norms, 1), np.float32)


def caption_rows_of(named: Any, ids: Any) -> Any:
    """(n,) int64: where each named caption stands among `ids`; raises MemoryMismatchError for one that does not."""
    rows = pc.index_in(named, value_set=ids)
    if rows.null_count:
        unknown = named.filter(pc.is_null(rows))[0].as_py()
        raise MemoryMismatchError(f"an atom names caption {unknown}, which is not in the build")
    return rows.to_numpy().astype(np.int64)


def flat_bytes(vectors: Float32) -> bytes:
    """Vectors (n, d) as the file of a FAISS Flat index for inner products."""
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return bytes(faiss.serialize_index(index).data)


def flat_vectors(data: bytes) -> Float32:
    """The vectors (n, d) in the file of a Flat index."""
    import faiss

    index = faiss.deserialize_index(np.frombuffer(data, np.uint8))
    return np.asarray(index.reconstruct_n(0, index.ntotal), np.float32)

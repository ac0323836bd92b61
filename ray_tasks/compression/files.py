"""The files of one wearer's interactions in a memory: the records with what became of them, and their phrases.

Records are rows in order of (end, start, id). Vectors of phrases are kept as whole numbers of 16 bits, which is what
they are compared as.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, overload

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ray_tasks.compression.interactions import InteractionMemory
from ray_tasks.compression.online import Compressed
from ray_tasks.compression.settings import CompressionSettings
from ray_tasks.embedding.whole_vectors import Float32
from ray_tasks.extraction.records.types import RECORD_SCHEMA, Record, records_from_table
from ray_tasks.rows import vectors_from_table

INTERACTIONS_FILE: Final = "interactions.parquet"
PHRASES_FILE: Final = "phrases.parquet"

COMPRESSED_SCHEMA: Final = pa.schema(
    [
        ("record_id", pa.string()),
        ("prototype", pa.int64()),  # number of the event prototype
        ("kind", pa.int64()),  # how it came to it, see prototypes.Kind
        ("importance", pa.float64()),  # w of Eq. 2
        ("entry", pa.int64()),  # number of the memory entry, -1 where the record was not kept
    ]
)
"""What became of each record of a day, in order of (end, start, id)."""

_SETTINGS: Final = b"daybook.compression"


class StoredRecords(Sequence[Record]):
    """Records in a table; a row becomes a Record when it is asked for, since a week has a hundred thousand."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table.select(RECORD_SCHEMA.names)

    def __len__(self) -> int:
        return len(self._table)

    @overload
    def __getitem__(self, rows: int) -> Record: ...
    @overload
    def __getitem__(self, rows: slice) -> list[Record]: ...
    def __getitem__(self, rows: int | slice) -> Record | list[Record]:
        if isinstance(rows, slice):
            return records_from_table(self._table.take(list(range(*rows.indices(len(self))))))
        if not -len(self) <= rows < len(self):
            raise IndexError(rows)
        return records_from_table(self._table.slice(rows % len(self), 1))[0]

    def __iter__(self) -> Iterator[Record]:
        return iter(records_from_table(self._table))


def in_order(table: pa.Table) -> pa.Table:
    """Rows of records in the order in which compression meets them."""
    return table.sort_by([("end_ms", "ascending"), ("start_ms", "ascending"), ("record_id", "ascending")])


def full_phrases(records: pa.Table) -> list[str]:
    """What of each record is encoded, "action object" (Imprint 3.2.1)."""
    pairs = zip(records.column("action").to_pylist(), records.column("object").to_pylist(), strict=True)
    return [f"{action} {thing}".strip() for action, thing in pairs]


def compressed_table(records: pa.Table, compressed: Compressed) -> pa.Table:
    """What became of records, as rows of COMPRESSED_SCHEMA."""
    columns = (compressed.prototypes, compressed.kinds, compressed.importance, compressed.entries)
    return pa.table([records.column("record_id"), *map(pa.array, columns)], schema=COMPRESSED_SCHEMA)


def write_interactions(
    folder: Path,
    records: pa.Table,
    compressed: pa.Table,
    vector_of: Callable[[Sequence[str]], Float32],
    settings: CompressionSettings,
) -> dict[str, Path]:
    """The two files of a wearer, by name.

    `records` and `compressed` have the same rows; `vector_of` gives the whole vectors of phrases.
    """
    actions, objects = records.column("action").to_pylist(), records.column("object").to_pylist()
    phrases = sorted({*actions, *objects} - {""})
    place = {phrase: number for number, phrase in enumerate(phrases)}
    numbers = {
        "action_phrase": pa.array([place.get(action, -1) for action in actions], pa.int64()),
        "object_phrase": pa.array([place.get(thing, -1) for thing in objects], pa.int64()),
    }
    table = records.select(RECORD_SCHEMA.names)
    for name in COMPRESSED_SCHEMA.names[1:]:
        table = table.append_column(name, compressed.column(name))
    for name, column in numbers.items():
        table = table.append_column(name, column)
    table = table.replace_schema_metadata({_SETTINGS: settings.model_dump_json().encode()})
    vectors = np.asarray(vector_of(phrases), np.int16)
    flat = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    paths = {name: folder / name for name in (INTERACTIONS_FILE, PHRASES_FILE)}
    pq.write_table(table, paths[INTERACTIONS_FILE], compression="zstd")
    held = pa.table({"phrase": pa.array(phrases, pa.string()), "vector": flat})
    pq.write_table(held, paths[PHRASES_FILE], compression="zstd", use_dictionary=False)
    return paths


def read_interactions(path_of: Callable[[str], Path]) -> InteractionMemory:
    """The interactions of a wearer; `path_of` gives the checked local path of a file name."""
    table = pq.read_table(path_of(INTERACTIONS_FILE))
    held = pq.read_table(path_of(PHRASES_FILE))
    columns = {
        name: np.asarray(table.column(name).to_numpy())
        for name in ("start_ms", "end_ms", *COMPRESSED_SCHEMA.names[1:], "action_phrase", "object_phrase")
    }
    return InteractionMemory(
        records=StoredRecords(table),
        start_ms=columns["start_ms"],
        end_ms=columns["end_ms"],
        compressed=Compressed(columns["prototype"], columns["kind"], columns["importance"], columns["entry"]),
        actions=columns["action_phrase"],
        objects=columns["object_phrase"],
        phrases=tuple(held.column("phrase").to_pylist()),
        vectors=vectors_from_table(held),
        settings=CompressionSettings.model_validate_json(table.schema.metadata[_SETTINGS]),
    )

"""The rows that pass between stages, and their Parquet schemas (DESIGN §3).

Times are week time in milliseconds (int64); intervals are [start_ms, end_ms], both ends included. Schemas are fixed on
write, so a shard whose column is all null reads like any other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Float32 = npt.NDArray[np.float32]
Modality = Literal["visual", "speech"]
View = Literal["action", "utterance", "activity", "conversation"]
VIEWS: Final[tuple[View, ...]] = ("action", "utterance", "activity", "conversation")

OBSERVATION_SCHEMA: Final = pa.schema(
    [
        ("wearer", pa.string()),
        ("day", pa.int16()),  # from 1
        ("start_ms", pa.int64()),
        ("end_ms", pa.int64()),
        ("modality", pa.string()),  # visual | speech
        ("speaker", pa.string()),  # null for visual rows and where nobody is named
        ("text", pa.string()),
        ("lang", pa.string()),  # en | zh | und
        ("source", pa.string()),  # file and position, for example A1_JAKE_DAY1_11000000.srt#17
    ]
)
"""One source row: a visual caption line or a transcript line."""

LINE_TYPE: Final = pa.struct(
    [
        ("start_ms", pa.int64()),
        ("end_ms", pa.int64()),
        ("modality", pa.string()),
        ("speaker", pa.string()),
        ("text", pa.string()),
        ("lang", pa.string()),
    ]
)

CAPTION_SCHEMA: Final = pa.schema(
    [
        ("caption_id", pa.string()),
        ("wearer", pa.string()),
        ("day", pa.int16()),
        ("start_ms", pa.int64()),
        ("end_ms", pa.int64()),
        ("text", pa.string()),
        ("n_visual", pa.int32()),
        ("n_speech", pa.int32()),
        ("video_uri", pa.string()),
        ("lines", pa.list_(LINE_TYPE)),
    ]
)
"""A 30-second multimodal caption; `lines` are its observations in order, so evidence can be shown to the second."""

ATOM_SCHEMA: Final = pa.schema(
    [
        ("atom_id", pa.string()),
        ("wearer", pa.string()),
        ("view", pa.string()),
        ("start_ms", pa.int64()),
        ("end_ms", pa.int64()),
        ("text", pa.string()),
        ("people", pa.list_(pa.string())),
        ("caption_ids", pa.list_(pa.string())),
        ("engine", pa.string()),
        ("prompt_version", pa.string()),
    ]
)
"""An atomic memory index: one self-contained statement in one view, with the interval of its source captions."""


def vector_schema(dimension: int) -> pa.Schema:
    """Unit vectors of `dimension` float32 components, by owner (an atom or a caption)."""
    return pa.schema([("owner_id", pa.string()), ("vector", pa.list_(pa.float32(), dimension))])


def vectors_to_table(owners: Sequence[str], vectors: Float32) -> pa.Table:
    """Unit vectors (n, d) of n owners as rows of vector_schema."""
    flat = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    return pa.table([pa.array(owners, pa.string()), flat], schema=vector_schema(vectors.shape[1]))


def vectors_from_table(table: pa.Table) -> Float32:
    """The vectors (n, d) of a table with a column `vector`, in float32."""
    column = table.column("vector").combine_chunks()
    flat = column.flatten().to_numpy(zero_copy_only=False)
    return np.asarray(flat, np.float32).reshape(len(table), column.type.list_size)


@dataclass(frozen=True, slots=True)
class Observation:
    """A row of OBSERVATION_SCHEMA."""

    wearer: str
    day: int
    start_ms: int
    end_ms: int
    modality: Modality
    speaker: str | None
    text: str
    lang: str
    source: str


@dataclass(frozen=True, slots=True)
class Line:
    """An observation inside its caption."""

    start_ms: int
    end_ms: int
    modality: Modality
    speaker: str | None
    text: str
    lang: str


@dataclass(frozen=True, slots=True)
class Caption:
    """A row of CAPTION_SCHEMA."""

    caption_id: str
    wearer: str
    day: int
    start_ms: int
    end_ms: int
    text: str
    n_visual: int
    n_speech: int
    video_uri: str | None
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Atom:
    """A row of ATOM_SCHEMA."""

    atom_id: str
    wearer: str
    view: View
    start_ms: int
    end_ms: int
    text: str
    people: tuple[str, ...]
    caption_ids: tuple[str, ...]
    engine: str
    prompt_version: str


Row = TypeVar("Row", Observation, Caption, Atom)


def to_table(rows: Iterable[DataclassInstance], schema: pa.Schema) -> pa.Table:
    """Rows, whose fields are the columns, as a table of exactly `schema`."""
    return pa.Table.from_pylist([asdict(row) for row in rows], schema=schema)


def from_table(table: pa.Table, row_type: type[Row]) -> list[Row]:
    """Rows of a table; the inverse of to_table."""
    names = [field.name for field in fields(row_type)]
    return [_from_mapping(record, row_type) for record in table.select(names).to_pylist()]


def _from_mapping(record: Mapping[str, Any], row_type: type[Row]) -> Row:
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in record.items()}
    if row_type is Caption:
        values["lines"] = tuple(Line(**line) for line in values["lines"])
    return row_type(**values)


def wearer_name(wearer: str) -> str:
    """The name by which others call a wearer: ``Jake`` for ``A1_JAKE``; the id itself where it has no name part."""
    _, _, name = wearer.partition("_")
    return (name or wearer).replace("_", " ").title()


def make_atom_id(wearer: str, view: View, start_ms: int, text: str, ordinal: int = 0) -> str:
    """A deterministic id from content and position; `ordinal` tells apart equal texts of one caption."""
    digest = hashlib.sha256(f"{wearer}\x1f{view}\x1f{start_ms}\x1f{ordinal}\x1f{text}".encode()).hexdigest()
    return f"{wearer}:{view}:{start_ms}:{digest[:12]}"

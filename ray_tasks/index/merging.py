"""Merging parts into the files of one wearer's memory, without embedding and without holding the vectors in memory.

Parts are nearly in order of time among themselves: only where hours meet do their rows interleave. So the merged order
is a short list of runs, each a stretch of one part, and the vectors are copied from file to file run by run. At any
time no more parts are open than interleave at that place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ray_tasks.corpus.recorded_time import day_bounds
from ray_tasks.index.files import ROW_SCHEMA
from ray_tasks.index.flat_file import FlatFile
from ray_tasks.index.inverted import FilledPart, merge_filled
from ray_tasks.index.lexical import LexicalIndex
from ray_tasks.index.memory import CAPTION_VIEW
from ray_tasks.index.parts import ALL_VIEWS, ROW_ORDER, ROWS_FILE, caption_rows_of, flat_vectors
from ray_tasks.index.search import Float32, Int64

ReadFile = Callable[[str], bytes]


@dataclass(frozen=True)
class WearerIndex:
    """Merged files by name, rows by view, and the first and last recorded moment of each day (ms of week time)."""

    files: Mapping[str, Path]
    counts: Mapping[str, int]
    day_bounds: Mapping[int, tuple[int, int]]


@dataclass(frozen=True)
class PartFiles:
    """How a merge reads a part: its files by name, and those that hold its rows in inverted lists, where there are."""

    read: ReadFile
    read_filled: ReadFile | None = None

    def rows(self) -> pa.Table:
        """The rows of all views, of PART_SCHEMA."""
        return pq.read_table(pa.BufferReader(self.read(ROWS_FILE)))


@dataclass(frozen=True)
class MergedRows:
    """The rows of one view over all parts, in their final order.

    rows: (n,) of PART_SCHEMA. sources: (n,) where each row stands when the parts are laid end to end. bounds:
    (parts + 1,) where each part begins there.
    """

    rows: pa.Table
    sources: Int64
    bounds: Int64

    @classmethod
    def of(cls, tables: Sequence[pa.Table]) -> MergedRows:
        """Merges the rows of the parts by (end_ms, start_ms, id)."""
        laid = pa.concat_tables(tables)
        order = pc.sort_indices(laid, sort_keys=list(ROW_ORDER))
        bounds = np.concatenate([[0], np.cumsum([len(table) for table in tables])]).astype(np.int64)
        return cls(laid.take(order).combine_chunks(), order.to_numpy().astype(np.int64), bounds)

    def runs(self) -> list[tuple[int, int, int]]:
        """The order as stretches of parts: (part, first row, row after the last) inside that part."""
        if not len(self.sources):
            return []
        part = np.searchsorted(self.bounds, self.sources, side="right") - 1
        firsts = np.concatenate([[0], np.flatnonzero(np.diff(self.sources) != 1) + 1])
        # Where a part ends and the next one begins, sources go on by one, but in another part.
        firsts = np.union1d(firsts, np.flatnonzero(np.diff(part)) + 1)
        lasts = np.append(firsts[1:], len(part)) - 1
        base = self.bounds[part[firsts]]
        columns = (part[firsts], self.sources[firsts] - base, self.sources[lasts] - base + 1)
        return list(zip(*(column.tolist() for column in columns), strict=True))


def merge_parts(
    parts: Sequence[PartFiles], dimension: int, folder: Path, templates: Mapping[str, bytes] | None = None
) -> WearerIndex:
    """Merges parts into index files in `folder`; `templates` are those, by view, from which lists were filled.

    Raises MemoryMismatchError where an atom names a caption that no part holds or vectors are missing.
    """
    tables = [part.rows() for part in parts]
    files: dict[str, Path] = {}
    counts: dict[str, int] = {}
    captions: pa.Table | None = None
    for view in (CAPTION_VIEW, *ALL_VIEWS[:-1]):
        merged = MergedRows.of([table.filter(pc.equal(table.column("view"), view)) for table in tables])
        captions = merged.rows if captions is None else captions
        files.update(_view_files(view, merged, captions.column("id"), folder))
        _write_vectors(view, merged, parts, dimension, files[f"{view}.faiss"])
        if templates and view in templates:
            files[f"{view}.ivf"] = folder / f"{view}.ivf"
            merge_filled(templates[view], _filled(view, merged, parts), merged.sources, files[f"{view}.ivf"])
        counts[view] = len(merged.rows)
    assert captions is not None
    starts, ends = (captions.column(name).to_numpy() for name in ("start_ms", "end_ms"))
    return WearerIndex(files, counts, day_bounds(starts, ends))


def _view_files(view: str, merged: MergedRows, caption_ids: Any, folder: Path) -> dict[str, Path]:
    rows = merged.rows
    caption_rows = pa.array(caption_rows_of(rows.column("caption_id"), caption_ids), pa.int64())
    columns = [rows.column(name) for name in ROW_SCHEMA.names[:-1]]
    lexical = LexicalIndex.from_counted(rows.column("terms"), rows.column("term_counts")).to_table()
    files = {f"{view}.{kind}": folder / f"{view}.{kind}" for kind in ("faiss", "rows.parquet", "terms.parquet")}
    _write_table(pa.table([*columns, caption_rows], schema=ROW_SCHEMA), files[f"{view}.rows.parquet"])
    _write_table(lexical, files[f"{view}.terms.parquet"])
    return files


def _write_table(table: pa.Table, path: Path) -> None:
    pq.write_table(table, path, compression="zstd")


def _write_vectors(view: str, merged: MergedRows, parts: Sequence[PartFiles], dimension: int, path: Path) -> None:
    runs = merged.runs()
    last_run = {part: number for number, (part, _, _) in enumerate(runs)}
    opened: dict[int, Float32] = {}
    with FlatFile(path, dimension, len(merged.rows)) as out:
        for number, (part, first, stop) in enumerate(runs):
            if part not in opened:
                opened[part] = flat_vectors(parts[part].read(f"{view}.faiss"))
            out.append(opened[part][first:stop])
            if last_run[part] == number:
                del opened[part]


def _filled(view: str, merged: MergedRows, parts: Sequence[PartFiles]) -> Iterator[FilledPart]:
    for number, part in enumerate(parts):
        first, stop = merged.bounds[number : number + 2].tolist()
        if first < stop and part.read_filled:
            yield FilledPart(first, part.read_filled(f"{view}.ivf"))

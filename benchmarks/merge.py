"""Merging parts and searching by inverted lists, each against its exact peer, in one run.

Unit vectors in 200 shards over 70 recorded days, whose ends interleave where shards meet. The merged Flat index is
compared with one built in one go by plain FAISS, the memory of the merge (a process of its own) with the size of the
vectors, and time-aware search by inverted lists with the exact time-aware scan of the same view.

    python -m benchmarks.merge --rows 1000000 --vectors random clusters
    python -m benchmarks.merge --vectors real --root ROOT
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.sorts import DIMENSION, make_vectors
from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS, MINUTE_MS
from ray_tasks.index.files import load_wearer_memory
from ray_tasks.index.inverted import SAMPLES_PER_LIST, fill_template, lists_for, train_template
from ray_tasks.index.memory import CAPTION_VIEW, ViewIndex
from ray_tasks.index.merging import PartFiles, merge_parts
from ray_tasks.index.parts import PART_SCHEMA, Part, flat_vectors
from ray_tasks.index.recall import recall_at_k
from ray_tasks.index.search import Float32, Int64

DAYS = 70
HOURS = 10
TOP_K = 15
Asked = list[tuple[Float32, int, tuple[int, int] | None]]


def main() -> None:
    """Measures and prints one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000, help="vectors (default 100000)")
    parser.add_argument("--shards", type=int, default=200, help="shards (default 200)")
    parser.add_argument("--queries", type=int, default=100, help="queries of each kind (default 100)")
    parser.add_argument("--vectors", nargs="+", default=["random", "clusters"], choices=["random", "clusters", "real"])
    parser.add_argument("--root", help="a root with a published memory, for --vectors real")
    parser.add_argument("--json", type=Path, help="also write the document to this file")
    options = parser.parse_args()
    found = {}
    for sort in options.vectors:
        with tempfile.TemporaryDirectory() as folder:
            vectors = make_vectors(sort, options.rows + options.queries, options.root)
            found[sort] = measure(vectors, options.shards, options.queries, Path(folder))
    text = json.dumps(found, indent=2)
    if options.json:
        options.json.write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(text + "\n")


def measure(vectors: Float32, shards: int, queries: int, folder: Path) -> dict[str, Any]:
    """All figures for one sort of vectors, of which some, evenly spread, are kept back to be asked for."""
    chosen = np.linspace(0, len(vectors) - 1, queries).astype(np.int64)
    kept_back, vectors = vectors[chosen], np.delete(vectors, chosen, axis=0)
    rows = len(vectors)
    starts, ends = _times(rows)
    _write_parts(vectors, starts, ends, shards, folder)
    lists = lists_for(1 << (rows.bit_length() - 1))
    started = time.perf_counter()
    sample = vectors[np.linspace(0, rows - 1, min(rows, lists * SAMPLES_PER_LIST)).astype(np.int64)]
    template = train_template(sample, lists)
    trained = time.perf_counter()
    for number in range(shards):
        part = flat_vectors((folder / f"{number}" / "action.faiss").read_bytes())
        (folder / f"{number}" / "action.ivf").write_bytes(fill_template(template, part))
    filled = time.perf_counter()
    (folder / "template").write_bytes(template)
    merge = _in_own_process(_merge, folder, shards)
    single = _in_own_process(_build_at_once, folder, shards)
    view = _open(folder / "merged")
    figures = {
        "rows": rows,
        "shards": shards,
        "recorded_days": DAYS,
        "lists": lists,
        "probed": view.inverted.probed if view.inverted else 0,
        "train_seconds": round(trained - started, 1),
        "fill_seconds": round(filled - trained, 1),
        "same_bytes_as_built_at_once": merge.pop("sha256") == single.pop("sha256"),
        "merge": merge,
        "built_at_once": single,
    }
    return figures | {name: compare(view, asked) for name, asked in _questions(view, kept_back).items()}


def _times(rows: int) -> tuple[Int64, Int64]:
    """(rows,) ms of week time, by start: ten recorded hours a day, each row open for up to two minutes."""
    rng = np.random.default_rng(1)
    moments = np.sort(rng.integers(0, DAYS * HOURS * HOUR_MS, rows))
    starts = moments // (HOURS * HOUR_MS) * DAY_MS + 9 * HOUR_MS + moments % (HOURS * HOUR_MS)
    return starts, starts + rng.integers(5_000, 2 * MINUTE_MS, rows)


def _write_parts(vectors: Float32, starts: Int64, ends: Int64, shards: int, folder: Path) -> None:
    """Parts of equal size, cut by start, so that ends of neighbours interleave; the captions are whole hours."""
    for number, rows in enumerate(np.array_split(np.arange(len(vectors)), shards)):
        rows = rows[np.lexsort((rows, starts[rows], ends[rows]))]
        hours = np.unique(starts[rows] // HOUR_MS)
        names = [f"{number:03d}-{hour}" for hour in hours.tolist()]
        of_row = [names[place] for place in np.searchsorted(hours, starts[rows] // HOUR_MS).tolist()]
        actions = _rows("action", [f"{row:08d}" for row in rows.tolist()], starts[rows], ends[rows], of_row)
        captions = _rows(CAPTION_VIEW, names, hours * HOUR_MS, (hours + 1) * HOUR_MS, names)
        blank = np.zeros((len(hours), DIMENSION), np.float32)
        part = Part(pa.concat_tables([actions, captions]), {"action": vectors[rows], CAPTION_VIEW: blank})
        (folder / f"{number}").mkdir()
        for name, data in part.files().items():
            (folder / f"{number}" / name).write_bytes(data)


def _rows(view: str, ids: list[str], starts: Int64, ends: Int64, captions: list[str]) -> pa.Table:
    n = len(ids)
    empty: list[list[str]] = [[]] * n
    columns = [[view] * n, ids, starts, ends, [""] * n, empty, captions, empty, empty]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, PART_SCHEMA, strict=True)]
    return pa.table(arrays, schema=PART_SCHEMA)


def _in_own_process(work: Callable[..., dict[str, Any]], *args: Any) -> dict[str, Any]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, args)


def _part_files(folder: Path, number: int) -> PartFiles:
    def read(name: str) -> bytes:
        return (folder / f"{number}" / name).read_bytes()

    return PartFiles(read, read)


def _merge(folder: Path, shards: int) -> dict[str, Any]:
    """The merge as a build does it, files committed to disk."""
    parts = [_part_files(folder, number) for number in range(shards)]
    (folder / "merged").mkdir()
    template = (folder / "template").read_bytes()
    flat_vectors(parts[0].read("action.faiss"))  # FAISS and its threads are loaded before memory is measured
    before, started = _memory("VmRSS"), time.perf_counter()
    built = merge_parts(parts, DIMENSION, folder / "merged", {"action": template})
    seconds = time.perf_counter() - started
    peak = _memory("VmHWM") - before
    size = built.counts["action"] * DIMENSION * 4
    return {
        "seconds": round(seconds, 1),
        "peak_of_vectors": round(peak / size, 3),
        "sha256": _sha256(built.files["action.faiss"]),
    }


def _build_at_once(folder: Path, shards: int) -> dict[str, Any]:
    """Plain FAISS: all vectors in their final order added to one Flat index, which is written to disk."""
    import faiss

    tables = [_part_files(folder, number).rows().filter(pc.field("view") == "action") for number in range(shards)]
    rows = pa.concat_tables(tables)
    order = np.lexsort([rows.column(name).to_numpy(zero_copy_only=False) for name in ("id", "start_ms", "end_ms")])
    parts = [flat_vectors((folder / f"{number}" / "action.faiss").read_bytes()) for number in range(shards)]
    vectors = np.concatenate(parts)[order]
    started = time.perf_counter()
    index = faiss.IndexFlatIP(DIMENSION)
    index.add(vectors)
    faiss.write_index(index, str(folder / "single.faiss"))
    return {"seconds": round(time.perf_counter() - started, 1), "sha256": _sha256(folder / "single.faiss")}


def _memory(field: str) -> int:
    """Bytes of this process's memory, mapped files included: VmRSS, or VmHWM for the most there ever was."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) << 10 for line in text.splitlines() if line.startswith(field))


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _open(folder: Path) -> ViewIndex:
    names = [path.name for path in folder.iterdir()]
    return load_wearer_memory(
        "W", "W", lambda name: folder / name, model="benchmark", memory_id="benchmark", names=names
    ).views["action"]


def _questions(view: ViewIndex, kept_back: Float32) -> dict[str, Asked]:
    """Queries unlike any row, and rows with some noise, in turn; asked at the end and earlier, with and without time.

    Time queries are moments and half hours, anywhere before the question.
    """
    rng = np.random.default_rng(11)
    with_time: Asked = []
    without: Asked = []
    for number, query in enumerate(kept_back):
        if number % 2:
            noisy = view.vectors[int(rng.integers(len(view)))] + 0.02 * rng.standard_normal(DIMENSION, np.float32)
            query = np.asarray(noisy / np.linalg.norm(noisy), np.float32)
        at = int(view.end_ms[-1 if number % 4 < 2 else int(len(view) * rng.uniform(0.3, 1))])
        asked_for = int(view.start_ms[int(rng.integers(view.visible(at)))])
        with_time.append((query, at, (asked_for, asked_for + (number % 3) * 15 * MINUTE_MS)))
        without.append((query, at, None))
    return {"with_time": with_time, "without_time": without}


def compare(view: ViewIndex, asked: Asked) -> dict[str, float]:
    """Recall at 15 of the lists, and milliseconds for a query of theirs, of the exact scan's and of plain FAISS's."""
    import faiss

    plain = faiss.IndexFlatIP(DIMENSION)
    plain.add(np.ascontiguousarray(view.vectors))
    times: dict[str, list[tuple[float, float]]] = {"lists": [], "exact_scan": [], "plain_faiss": []}
    for query, at, window in asked:
        search = partial(view.search, query, at_ms=at, k=TOP_K, time_query=window)
        times["lists"].append(_timed(search))
        times["exact_scan"].append(_timed(partial(search, exact=True)))
        times["plain_faiss"].append(_timed(partial(plain.search, query[None], TOP_K)))
    # Medians of wall time, which other work on the machine can stretch, and sums of the time on all CPUs.
    wall = {name: 1000 * statistics.median(wall for wall, _ in pairs) for name, pairs in times.items()}
    cpu = {name: 1000 * statistics.mean(cpu for _, cpu in pairs) for name, pairs in times.items()}
    return {
        "recall_at_15": round(recall_at_k(view, asked, k=TOP_K), 4),
        **{f"{name}_ms": round(value, 2) for name, value in wall.items()},
        **{f"{name}_cpu_ms": round(value, 2) for name, value in cpu.items()},
        "of_exact_scan": round(wall["lists"] / wall["exact_scan"], 3),
        "of_exact_scan_cpu": round(cpu["lists"] / cpu["exact_scan"], 3),
        "of_plain_faiss": round(wall["lists"] / wall["plain_faiss"], 3),
    }


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock and on all CPUs."""
    started, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - started, time.process_time() - used


if __name__ == "__main__":
    main()

"""Exact time-aware search against one plain faiss.IndexFlatIP scan of the same rows, in one run.

python -m benchmarks.search --rows 60000
python -m benchmarks.search --root ROOT --wearer A1_JAKE
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ray_tasks.corpus.recorded_time import RecordedTimeline
from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS
from ray_tasks.index.lexical import LexicalIndex
from ray_tasks.index.memory import ViewIndex
from ray_tasks.index.opening import open_wearer
from ray_tasks.index.search import Float32
from ray_tasks.storage.manifests import current_manifest
from ray_tasks.storage.store import open_store

TOP_K = 20


def main() -> None:
    """Measures and prints one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", help="a root with a published memory; random vectors by default")
    parser.add_argument("--wearer", help="the wearer to search, with --root")
    parser.add_argument("--rows", type=int, default=60_000, help="random rows without --root (default 60000)")
    parser.add_argument("--queries", type=int, default=252, help="queries for each view (default 252)")
    options = parser.parse_args()
    if options.root:
        store = open_store(options.root)
        memory = open_wearer(store, current_manifest(store), options.wearer)
        views = {view: index for view, index in memory.views.items() if len(index)}
    else:
        views = {"random": random_view(options.rows)}
    json.dump({view: measure(index, options.queries) for view, index in views.items()}, sys.stdout, indent=2)
    sys.stdout.write("\n")


def random_view(rows: int, dimension: int = 384) -> ViewIndex:
    """Random unit vectors, one every ten seconds of seven recorded days."""
    rng = np.random.default_rng(7)
    vectors = rng.standard_normal((rows, dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    start = np.sort(rng.integers(0, 7, rows) * DAY_MS + rng.integers(9 * HOUR_MS, 21 * HOUR_MS, rows))
    texts = pa.chunked_array([pa.array([""] * rows)])
    return ViewIndex(
        view="random",
        ids=tuple(map(str, range(rows))),
        start_ms=start,
        end_ms=start,
        texts=texts,
        caption_rows=np.arange(rows),
        vectors=vectors,
        lexical=LexicalIndex.from_tokens([[]] * rows),
        timeline=RecordedTimeline.from_intervals(start, start),
        model="random",
    )


def measure(index: ViewIndex, queries: int) -> dict[str, float | int]:
    """Milliseconds for each query at the end of the recordings, with a time query, and the plain scan's."""
    import faiss

    rng = np.random.default_rng(11)
    picked = index.vectors[rng.integers(0, len(index), queries)]
    noise = rng.standard_normal(picked.shape).astype(np.float32) * 0.02
    asked = np.asarray((picked + noise) / np.linalg.norm(picked + noise, axis=1, keepdims=True), np.float32)
    plain = faiss.IndexFlatIP(index.dimension)
    plain.add(np.ascontiguousarray(index.vectors))
    at = int(index.end_ms[-1])
    window = (at - 30 * HOUR_MS, at - 20 * HOUR_MS)
    ours: list[float] = []
    theirs: list[float] = []
    for query in asked:
        ours.append(_timed(partial(index.search, query, at_ms=at, k=TOP_K, time_query=window)))
        theirs.append(_timed(partial(plain.search, query[None], TOP_K)))
    return {
        "rows": len(index),
        "queries": queries,
        "time_aware_ms": round(1000 * statistics.median(ours), 3),
        "plain_scan_ms": round(1000 * statistics.median(theirs), 3),
        "ratio": round(statistics.median(ours) / statistics.median(theirs), 3),
        "same_without_time": _agreement(index, plain, asked, at),
    }


def _agreement(index: ViewIndex, plain: Any, asked: Float32, at: int) -> float:
    """Share of queries whose results without a time query have the scan's scores: that both do the same work."""
    same = 0
    for query in asked:
        scores = plain.search(query[None], TOP_K)[0][0]
        hits = [hit.score for hit in index.search(query, at_ms=at, k=TOP_K)]
        same += bool(np.allclose(hits, scores[: len(hits)], atol=1e-5))
    return same / len(asked)


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()

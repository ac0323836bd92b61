"""Views of vectors alone, with inverted lists, for tests of searching."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from ray_tasks.corpus.recorded_time import RecordedTimeline
from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS
from ray_tasks.index.inverted import FilledPart, InvertedIndex, fill_template, merge_filled, train_template
from ray_tasks.index.lexical import LexicalIndex
from ray_tasks.index.memory import ViewIndex
from ray_tasks.index.search import Float32, Int64


def topics(seed: int, n: int, dimension: int = 32) -> Float32:
    """Unit vectors (n, d) around twenty topics."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((20, dimension))
    vectors = centres[rng.integers(0, 20, n)] + 0.7 * rng.standard_normal((n, dimension))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def moments(seed: int, n: int) -> Int64:
    """(n,) ascending ms of week time in ten hours of each of seven days."""
    rng = np.random.default_rng(seed)
    return np.sort(rng.integers(0, 7, n) * DAY_MS + rng.integers(9 * HOUR_MS, 19 * HOUR_MS, n)).astype(np.int64)


def view_of(vectors: Float32, times: Int64, path: Path | None, *, lists: int = 16, sample: int = 1_024) -> ViewIndex:
    """A view whose rows last thirty seconds; with inverted lists, merged from three parts, where a path is given."""
    if path is not None:
        template = train_template(vectors[:sample], lists)
        cuts = [0, len(vectors) // 3, len(vectors) // 2, len(vectors)]
        parts = [FilledPart(first, fill_template(template, vectors[first:stop])) for first, stop in pairwise(cuts)]
        merge_filled(template, parts, np.arange(len(vectors)), path)
    n = len(vectors)
    return ViewIndex(
        view="action",
        ids=tuple(f"{row:06d}" for row in range(n)),
        start_ms=times,
        end_ms=times + 30_000,
        texts=pa.chunked_array([pa.array([""] * n)]),
        caption_rows=np.arange(n),
        vectors=vectors,
        lexical=LexicalIndex.from_tokens([[]] * n),
        timeline=RecordedTimeline.from_intervals(times, times + 30_000),
        model="test",
        inverted=InvertedIndex(path) if path else None,
    )

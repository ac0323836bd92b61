"""How much of the exact result the inverted lists of a memory find: the gate before such a memory is published."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ray_tasks.index.memory import ViewIndex, WearerMemory
from ray_tasks.index.search import Float32


def ivf_recall(memory: WearerMemory, *, k: int = 15, samples: int = 100) -> float | None:
    """The worst recall at k of the views that have inverted lists; None where no view has any."""
    views = [view for view in (*memory.views.values(), memory.captions) if view.inverted is not None]
    return min((sampled_recall(view, k=k, samples=samples) for view in views), default=None)


def sampled_recall(view: ViewIndex, *, k: int = 15, samples: int = 100) -> float:
    """Recall at k for rows of the view, spread evenly over it, as queries.

    Each is asked at the end of the recordings with its own interval as the time query, and halfway between itself and
    the end without one, so that both kinds of search and a cut in time are measured.
    """
    rows = np.unique(np.linspace(0, len(view) - 1, max(1, samples // 2)).astype(np.int64)).tolist()
    end = int(view.end_ms[-1])
    asked: list[tuple[Float32, int, tuple[int, int] | None]] = []
    for row in rows:
        query = np.array(view.vectors[row])
        asked.append((query, end, (int(view.start_ms[row]), int(view.end_ms[row]))))
        asked.append((query, (int(view.end_ms[row]) + end) // 2, None))
    return recall_at_k(view, asked, k=k)


def recall_at_k(view: ViewIndex, asked: Iterable[tuple[Float32, int, tuple[int, int] | None]], *, k: int = 15) -> float:
    """The share of the exact top k that a search finds, over queries of (vector, question's time, time query).

    Rows whose exact score equals that of the k-th count as found with it: which of them is returned is of no account.
    """
    found = wanted = 0
    for query, at_ms, time_query in asked:
        exact = view.search(query, at_ms=at_ms, k=k, time_query=time_query, exact=True)
        fast = view.search(query, at_ms=at_ms, k=k, time_query=time_query)
        wanted += len(exact)
        found += sum(hit.score >= exact[-1].score for hit in fast) if exact else 0
    return found / wanted if wanted else 1.0

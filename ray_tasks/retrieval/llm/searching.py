"""Searches of the drafting agent: S x R of EgoCITE Eq. 1 over one or two views of the rows that a question may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.types import Evidence
from ray_tasks.retrieval.whole_vectors import Float32


@dataclass(frozen=True, slots=True)
class ScoredItem:
    """A row as evidence, whose score is S x R, with S and R apart."""

    item: Evidence
    similarity: float
    relevance: float


def search_views(
    memory: WearerMemory,
    views: Sequence[str],
    query: Float32,
    *,
    at_ms: int,
    k: int,
    window: tuple[int, int] | None,
    decay: float,
) -> list[ScoredItem]:
    """The k best rows of some views together for a unit query (d,), best first; equal scores by time, view and id.

    Exact: whatever is among the k best of all is among the k best of its view.
    """
    window = window and _cut(memory, window, at_ms)
    found: list[ScoredItem] = []
    for name in views:
        view = memory.views[name]
        for hit in view.search(query, at_ms=at_ms, k=k, time_query=window, decay=decay):
            start, end = int(view.start_ms[hit.row]), int(view.end_ms[hit.row])
            item = Evidence(view.row_id(hit.row), name, start, end, view.text(hit.row), hit.score)
            found.append(ScoredItem(item, hit.similarity, hit.relevance))
    found.sort(key=lambda one: (-one.item.score, -one.relevance, one.item.start_ms, one.item.view, one.item.item_id))
    return found[:k]


def _cut(memory: WearerMemory, window: tuple[int, int], at_ms: int) -> tuple[int, int] | None:
    """A window of week time, cut at the last moment that is recorded by the question.

    A moment behind it may lie inside the recorded day or not, which depends on what is recorded after the question.
    """
    recorded = memory.captions.visible(at_ms)
    if not recorded:
        return None
    last = int(memory.captions.end_ms[recorded - 1])
    return min(window[0], last), min(window[1], last)

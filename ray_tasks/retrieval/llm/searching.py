"""Searches of the drafting agent: S x R of EgoCITE Eq. 1 over one or two views of the rows that a question may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ray_tasks.embedding.whole_vectors import Float32
from ray_tasks.index.memory import ViewIndex, WearerMemory
from ray_tasks.retrieval.types import Evidence


@dataclass(frozen=True, slots=True)
class ScoredItem:
    """A row as evidence, whose score is S x R, with S and R apart."""

    item: Evidence
    similarity: float
    relevance: float


@dataclass(frozen=True, slots=True)
class Wanted:
    """A search of some views for a unit query (d,), as view.search takes it."""

    memory: WearerMemory
    views: Sequence[str]
    query: Float32
    at_ms: int
    k: int
    window: tuple[int, int] | None
    decay: float


def search_together(searches: Sequence[Wanted]) -> list[list[ScoredItem]]:
    """What each search finds, the same as alone; views that have to be scanned are read once for all searches."""
    by_view: dict[int, tuple[ViewIndex, list[int]]] = {}
    for number, wanted in enumerate(searches):
        for name in wanted.views:
            view = wanted.memory.views[name]
            if view.scanned(wanted.at_ms):
                by_view.setdefault(id(view), (view, []))[1].append(number)
    products: dict[tuple[int, int], Float32] = {}
    for key, (view, numbers) in by_view.items():
        if len(numbers) == 1:
            continue
        seen = max(view.visible(searches[number].at_ms) for number in numbers)
        rough = np.stack([searches[number].query for number in numbers]) @ view.vectors[:seen].T
        products |= {(key, number): row for number, row in zip(numbers, rough, strict=True)}
    return [_search(wanted, number, products) for number, wanted in enumerate(searches)]


def _search(wanted: Wanted, number: int, products: Mapping[tuple[int, int], Float32]) -> list[ScoredItem]:
    """The k best rows of some views together, best first; equal scores by time, view and id.

    Exact: whatever is among the k best of all is among the k best of its view.
    """
    window = wanted.window and _cut(wanted.memory, wanted.window, wanted.at_ms)
    found: list[ScoredItem] = []
    for name in wanted.views:
        view = wanted.memory.views[name]
        hits = view.search(
            wanted.query,
            at_ms=wanted.at_ms,
            k=wanted.k,
            time_query=window,
            decay=wanted.decay,
            products=products.get((id(view), number)),
        )
        for hit in hits:
            start, end = int(view.start_ms[hit.row]), int(view.end_ms[hit.row])
            item = Evidence(view.row_id(hit.row), name, start, end, view.text(hit.row), hit.score)
            found.append(ScoredItem(item, hit.similarity, hit.relevance))
    found.sort(key=lambda one: (-one.item.score, -one.relevance, one.item.start_ms, one.item.view, one.item.item_id))
    return found[: wanted.k]


def _cut(memory: WearerMemory, window: tuple[int, int], at_ms: int) -> tuple[int, int] | None:
    """A window of week time, cut at the last moment that is recorded by the question.

    A moment behind it may lie inside the recorded day or not, which depends on what is recorded after the question.
    """
    recorded = memory.captions.visible(at_ms)
    if not recorded:
        return None
    last = int(memory.captions.end_ms[recorded - 1])
    return min(window[0], last), min(window[1], last)

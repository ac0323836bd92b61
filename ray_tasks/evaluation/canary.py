"""The retrieval canary: whether a memory still finds what is known to be in it.

Built in, without a question file: rows are looked for by their own text, as of the moment they end. One that is not
found tells of an encoder, vectors, rows or an index that do not belong together. And, where there are known questions:
those that found their evidence in the memory before must find it in the new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ray_tasks.index.memory import ViewIndex, WearerMemory
from ray_tasks.retrieval.types import MAX_EVIDENCE, Embed

SAMPLE_ROWS: Final = 20
ROWS_FOR_EACH_HIT: Final = 10
"""Visible rows for each hit that counts: among the best 15 of 15 anything would be found."""


@dataclass(frozen=True, slots=True)
class Found:
    """Of `asked` rows of a view, how many were found by their own text; `missed` are the ids of the others."""

    wearer: str
    view: str
    asked: int
    missed: tuple[str, ...]

    @property
    def percent(self) -> float:
        """The share that was found; 100 for a view without rows."""
        return 100.0 * (self.asked - len(self.missed)) / self.asked if self.asked else 100.0


def find_own_texts(
    memory: WearerMemory, embed: Embed, *, sample: int = SAMPLE_ROWS, first: int = MAX_EVIDENCE
) -> list[Found]:
    """Searches each view, and the captions, for the texts of a sample of its rows, spread evenly over the recordings.

    `embed` is what questions are embedded with. A row counts as found if it, or another with the very same text, is
    among the `first` best hits (fewer where little was recorded by then). Raises MemoryMismatchError where the
    encoder's dimension is not the memory's.
    """
    views = [*memory.views.values(), memory.captions]
    rows = {view.view: spread_rows(len(view), sample) for view in views}
    texts = [view.text(row) for view in views for row in rows[view.view]]
    vectors = iter(embed(texts)) if texts else iter(())
    found = []
    for view in views:
        missed = [row for row in rows[view.view] if not _finds(view, next(vectors), row, first)]
        found.append(Found(memory.wearer, view.view, len(rows[view.view]), tuple(map(view.row_id, missed))))
    return found


def _finds(view: ViewIndex, query: Any, row: int, first: int) -> bool:
    text, at_ms = view.text(row), int(view.end_ms[row])
    hits = view.search(query, at_ms=at_ms, k=min(first, 1 + view.visible(at_ms) // ROWS_FOR_EACH_HIT))
    return any(hit.row == row or view.text(hit.row) == text for hit in hits)


def spread_rows(total: int, sample: int) -> list[int]:
    """At most `sample` row numbers of `total`, in the middle of as many equal stretches."""
    size = min(total, sample)
    return [(2 * part + 1) * total // (2 * size) for part in range(size)]


@dataclass(frozen=True, slots=True)
class HitChange:
    """Hit rates of the same questions on two memories, in percent over those with a target, and who lost or won.

    lost, won: ids of questions that found their evidence before and no longer, and the other way round.
    """

    wearer: str
    asked: int
    before: float
    now: float
    lost: tuple[str, ...]
    won: tuple[str, ...]

    @property
    def drop(self) -> float:
        """Points by which the rate fell; negative where it rose."""
        return self.before - self.now


def hit_change(wearer: str, before: Mapping[str, bool | None], now: Mapping[str, bool | None]) -> HitChange | None:
    """What changed between two runs of the same questions (hit by question id); None where none has a target."""
    ids = [question for question, hit in now.items() if hit is not None and before.get(question) is not None]
    if not ids:
        return None
    return HitChange(
        wearer,
        len(ids),
        100.0 * sum(bool(before[question]) for question in ids) / len(ids),
        100.0 * sum(bool(now[question]) for question in ids) / len(ids),
        tuple(question for question in ids if before[question] and not now[question]),
        tuple(question for question in ids if now[question] and not before[question]),
    )

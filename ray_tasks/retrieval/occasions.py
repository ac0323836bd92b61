"""What a memory says over its whole length: on how many occasions something happened, and with whom.

Fifteen items cannot tell what is usual, how often a thing happens or who is never there. So the questions that ask for
it are also answered by a statistic over every clip that ended by the question's time. Each clip counts by how well it
fits the question (a soft membership), clips of ten minutes are one occasion, and every day weighs alike. It is a
summary: it adds no item to the evidence, and the setting `aggregate` turns it off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ray_tasks.corpus.week_time import DAY_MS, MINUTE_MS
from ray_tasks.embedding.whole_vectors import NO_ROW, Float32, Float64, Int64, as_cosines
from ray_tasks.index.lexical import tokenize
from ray_tasks.retrieval.choice_kinds import FIRST_PERSON, WEARER
from ray_tasks.retrieval.clip_table import ClipTable, RowBlock
from ray_tasks.retrieval.signals import z_scores

OCCASION_MS = 10 * MINUTE_MS
APART_MS = 30 * MINUTE_MS
"""Matching clips that are further apart than this are two times of doing a thing."""
HIGHEST_FIT = 6.0
"""Standard deviations beyond which a clip fits no better."""
OUTSIDE = 0.1
"""What a clip outside the times named by the question still counts."""
NO_MATCH_COSINE, MATCH_BELOW_BEST = 0.35, 0.1
"""A clip is the thing itself where its cosine is that near to the best one's, and not below the first."""

Bools = npt.NDArray[np.bool_]


class Naming:
    """Which clips of a memory name whom; looked up once for each person."""

    def __init__(self, table: ClipTable, wearer_name: str) -> None:
        self.table = table
        self._wearer_name = wearer_name
        self._known: dict[str, Bools] = {}

    def clips(self, person: str) -> Bools:
        """(clips,) whether a row of each clip names the person."""
        if person not in self._known:
            named = np.zeros(len(self.table), np.bool_)
            for block in self.table.blocks:
                rows = _first_person(block, self._wearer_name) if person == WEARER else _holding(block, person)
                of_view = np.zeros(len(block.view), np.bool_)
                of_view[rows] = True
                before = np.concatenate([[0], np.cumsum(of_view[block.row_numbers])])
                named |= before[block.firsts + block.counts] > before[block.firsts]
            self._known[person] = named
        return self._known[person]


def match_clips(table: ClipTable, asked: Sequence[Float32], visible: int) -> list[Float64]:
    """(visible,) for each question, whose texts are whole vectors (m, d): the mean over them of a clip's best cosine.

    All questions share one pass over the memory. A clip's value depends on nothing that ends after the clip.
    """
    if not asked:
        return []
    best = np.full((visible, sum(map(len, asked))), NO_ROW, np.float32)
    queries = np.concatenate(asked)
    for block in table.blocks:
        block.best_in_clips(queries, best)
    ends = np.cumsum([len(texts) for texts in asked])
    return [as_cosines(best[:, end - len(texts) : end]).mean(axis=1) for texts, end in zip(asked, ends, strict=True)]


@dataclass(frozen=True)
class Occasions:
    """The clips that a question may see, with how well each fits it.

    fits (visible,) mean over the question's texts of the largest cosine of a clip's rows; inside (visible,) whether a
    clip lies in the times named; weights (visible,) memberships; order (visible,) the clips in order of their start;
    firsts: where in that order each occasion begins; days: the day of each occasion.
    """

    names: Naming
    fits: Float64
    inside: Bools
    weights: Float64
    order: Int64
    firsts: Int64
    days: Int64

    @classmethod
    def of(cls, names: Naming, at_ms: int, fits: Float64, windows: list[tuple[int, int]]) -> Occasions:
        """The occasions for a question that may name windows of week time; `fits` as match_clips gives them."""
        table, n = names.table, names.table.visible(at_ms)
        inside = table.touching(n, windows) if windows else np.ones(n, np.bool_)
        weights = np.where(inside, 1.0, OUTSIDE) * np.exp(np.minimum(z_scores(fits[:n]), HIGHEST_FIT))
        order = np.argsort(table.start_ms[:n], kind="stable").astype(np.int64)
        slots = table.start_ms[:n][order] // OCCASION_MS
        firsts = np.flatnonzero(np.diff(slots, prepend=-1)).astype(np.int64)
        return cls(names, fits[:n], inside, weights, order, firsts, slots[firsts] * OCCASION_MS // DAY_MS)

    def share(self, holding: Bools) -> float:
        """The share of the matching occasions with a matching clip for which `holding` (visible,) is true.

        It is the mean over days; 0 without any clip.
        """
        if not len(self.firsts):
            return 0.0
        ordered = self.weights[self.order]
        all_of = np.maximum.reduceat(ordered, self.firsts)
        held = np.maximum.reduceat(np.where(holding[self.order], ordered, 0.0), self.firsts)
        days, place = np.unique(self.days, return_inverse=True)
        shares = np.bincount(place, weights=held) / np.bincount(place, weights=all_of)
        return math.fsum(shares) / len(days)

    def matching(self) -> Int64:
        """Starts (week time, ms; ascending) of the times at which the thing itself seems to happen."""
        if not len(self.fits):
            return np.zeros(0, np.int64)
        least = max(float(self.fits.max()) - MATCH_BELOW_BEST, NO_MATCH_COSINE)
        starts = np.sort(self.names.table.start_ms[: len(self.fits)][(self.fits >= least) & self.inside])
        return starts[np.diff(starts, prepend=-2 * APART_MS) > APART_MS]

    def by_day(self) -> dict[int, int]:
        """How many such times there are on each day (1 for the first)."""
        days, counts = np.unique(self.matching() // DAY_MS + 1, return_counts=True)
        return {int(day): int(count) for day, count in zip(days, counts, strict=True)}

    def naming(self, person: str) -> Bools:
        """(visible,) the clips with a row that names a person, the wearer as choice_kinds.mentions tells."""
        return self.names.clips(person)[: len(self.fits)]


def _holding(block: RowBlock, person: str) -> Int64:
    """Rows of a view that hold every word of a name; none for a name without words that are searched."""
    rows: Int64 | None = None
    for token in dict.fromkeys(tokenize(person)):
        found = block.view.lexical.postings(token, len(block.view))[0].astype(np.int64)
        rows = found if rows is None else np.intersect1d(rows, found, assume_unique=True)
    return np.zeros(0, np.int64) if rows is None else rows


def _first_person(block: RowBlock, wearer_name: str) -> Int64:
    """Rows of a view that speak of the wearer; in rows of speech, before the colon."""
    import pyarrow.compute as pc

    before = "^[^:]*" if block.view.view == "utterance" else ""
    pattern = rf"{before}\b(?:{'|'.join(FIRST_PERSON)}|(?i:{_escaped(wearer_name)}))\b"
    found = pc.match_substring_regex(block.view.texts, pattern).to_numpy(zero_copy_only=False)
    return np.flatnonzero(np.asarray(found, np.bool_)).astype(np.int64)


def _escaped(name: str) -> str:
    """A name as a pattern of RE2, in which only letters and digits stand for themselves."""
    return "".join(char if char.isalnum() or char == "_" else f"\\x{{{ord(char):x}}}" for char in name)

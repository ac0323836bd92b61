"""The rows behind a question's evidence, with how much each item counts: all that an answer is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ray_tasks.embedding.whole_vectors import Float32, Float64, Int64, cosines
from ray_tasks.index.lexical import tokenize
from ray_tasks.retrieval.clip_table import ClipTable
from ray_tasks.retrieval.evidence import clips_of
from ray_tasks.retrieval.types import Evidence


@dataclass(frozen=True)
class EvidenceRows:
    """Rows of the clips that the evidence covers (EgoCITE Appendix B.5 maps evidence back to its captions).

    vectors (rows, d) whole numbers, owners (rows,) the item of each row, texts and views of the rows. standing
    (items,): each item's score in standard deviations below the best one, so that scores of any scale weigh alike.
    """

    table: ClipTable
    items: tuple[Evidence, ...]
    vectors: Float32
    owners: Int64
    texts: tuple[str, ...]
    views: tuple[str, ...]
    standing: Float64
    visible: int

    @classmethod
    def of(cls, table: ClipTable, items: tuple[Evidence, ...], at_ms: int) -> EvidenceRows:
        """The rows of all clips of the items; a clip without rows gives its caption as its row."""
        vectors: list[Float32] = []
        owners: list[int] = []
        texts: list[str] = []
        views: list[str] = []
        visible = table.visible(at_ms)
        for number, item in enumerate(items):
            for clip in clips_of(table, item):
                before = len(texts)
                for block in table.blocks:
                    places = block.positions(clip)
                    vectors.append(block.vectors[places.start : places.stop])
                    texts.extend(block.view.text(int(block.row_numbers[place])) for place in places)
                    views.extend([block.view.view] * len(places))
                if len(texts) == before and clip < visible:
                    vectors.append(table.vectors[clip : clip + 1])
                    texts.append(table.captions.text(clip))
                    views.append(table.captions.view)
                owners.extend([number] * (len(texts) - before))
        stacked = np.concatenate(vectors) if vectors else np.zeros((0, table.captions.dimension), np.float32)
        return cls(
            table, items, stacked, np.array(owners, np.int64), tuple(texts), tuple(views), _standing(items), visible
        )

    def fits(self, queries: Float32) -> Float64:
        """(rows, m) cosines of the rows with m whole query vectors."""
        return cosines(self.vectors, queries)

    def best_of_items(self, values: Float64) -> Float64:
        """(items, m) the largest value of each item's rows; -1 for items without rows."""
        best = np.full((len(self.items), values.shape[1]), -1.0)
        np.maximum.at(best, self.owners, values)
        return best

    def shares(self, sharpness: float) -> Float64:
        """(items,) how likely each item is to be the moment asked for; sums to 1."""
        weights = np.exp(sharpness * self.standing)
        return np.asarray(weights / weights.sum(), np.float64)

    @cached_property
    def words_of_items(self) -> list[frozenset[str]]:
        """The stemmed words of each item's rows."""
        words: list[set[str]] = [set() for _ in self.items]
        for owner, text in zip(self.owners, self.texts, strict=True):
            words[owner] |= _words(text)
        return [frozenset(found) for found in words]

    def rarity(self, token: str) -> float:
        """BM25's idf of a stemmed word among the captions that the question may see."""
        holding = len(self.table.captions.lexical.postings(token, self.visible)[0])
        return float(np.log1p((self.visible - holding + 0.5) / (holding + 0.5)))


@lru_cache(maxsize=1 << 15)  # questions of one time share much of their evidence
def _words(text: str) -> frozenset[str]:
    return frozenset(tokenize(text))


def _standing(items: Sequence[Evidence]) -> Float64:
    scores = np.array([item.score for item in items], np.float64)
    if not len(scores):
        return scores
    return np.asarray((scores - scores.max()) / max(float(scores.std()), 1e-9), np.float64)

"""Whether what was found answers the question at all: how near its best row is, and how many of its words it holds."""

from __future__ import annotations

import math

from ray_tasks.embedding.whole_vectors import Float32
from ray_tasks.index.lexical import tokenize
from ray_tasks.retrieval.evidence_rows import EvidenceRows


def found_features(core: str, rows: EvidenceRows, asked: Float32) -> dict[str, float]:
    """The features of FINDING for a question's core and whole vectors (m, d) of its texts.

    best_cosine: the largest mean cosine of a row; words_held: the largest rarity-weighted share of the core's words
    that one item holds (1 for a core without words).
    """
    weights = {token: rows.rarity(token) for token in dict.fromkeys(tokenize(core))}
    total = math.fsum(weights.values())
    held = [math.fsum(weight for token, weight in weights.items() if token in words) for words in rows.words_of_items]
    return {
        "best_cosine": float(rows.fits(asked).mean(axis=1).max(initial=-1.0)),
        "words_held": max(held, default=0.0) / total if total > 0 else 1.0,
    }

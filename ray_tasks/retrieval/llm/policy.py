"""The sampling agent's temporal policy in code (EgoCITE Appendix B.4), for pools of any score.

The curator on rules expects the fused scores of the planner on rules, which know the question's intent already. Pools
of a model's searches have S x R instead, which says nothing of "last" or "first" unless the model asked with a time. So
scores are first brought to one scale, and bent towards the latest or the earliest items where the question asks so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ray_tasks.embedding.whole_vectors import Float64
from ray_tasks.retrieval.agents import SamplingAgent
from ray_tasks.retrieval.time_query import parse_time_query
from ray_tasks.retrieval.types import Evidence, Question

BEND: Final = 1.0
"""What the latest (or earliest) item of a pool gains over the other end of it, in standard deviations of the scores."""


class PolicyCurator:
    """Curates by standing and intent; satisfies SamplingAgent."""

    def __init__(self, rules: SamplingAgent) -> None:
        self._rules = rules

    def curate(self, question: Question, pool: Sequence[Evidence]) -> tuple[Evidence, ...]:
        """At most as many items as the rules keep, in order of time; nothing that ends after the question's time."""
        visible = [item for item in pool if item.end_ms <= question.at_ms]
        if not visible:
            return ()
        standing = _standing(visible) + _bend(question, visible)
        by_id = {item.item_id: item for item in visible}
        scored = [replace(item, score=float(value)) for item, value in zip(visible, standing, strict=True)]
        return tuple(by_id[item.item_id] for item in self._rules.curate(question, scored))


def _standing(items: Sequence[Evidence]) -> Float64:
    """Scores in standard deviations from their mean; zeros where all are alike."""
    scores = np.array([item.score for item in items], np.float64)
    deviation = float(scores.std())
    return (scores - scores.mean()) / deviation if deviation > 1e-9 else np.zeros(len(scores))


def _bend(question: Question, items: Sequence[Evidence]) -> Float64:
    """What each item's place in time adds, from 0 to BEND; nothing where the question does not ask for an end."""
    intent = parse_time_query(question.text, question.at_ms).intent
    if intent not in ("latest", "recent", "earliest") or len(items) < 2:
        return np.zeros(len(items))
    starts = np.array([item.start_ms for item in items], np.int64)
    _, place = np.unique(starts, return_inverse=True)
    share = place / max(int(place.max()), 1)
    return np.asarray(BEND * (1 - share if intent == "earliest" else share), np.float64)

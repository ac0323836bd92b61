"""The sampling agent on rules: the best of the pool, bent softly towards the question's temporal intent.

EgoCITE's policy (Appendix B.4) keeps the latest for "last", the earliest for "first" and a spread over time for habits.
Taken as a rule it drops the target where a better match is a little older, so here it only shifts scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ray_tasks.corpus.week_time import day_of
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.time_query import parse_time_query
from ray_tasks.retrieval.types import Evidence, Question

SAME_DAY_COST = 0.1
"""What each item already kept of a day takes off the others of that day, for habits (in units of the fused score)."""


class RuleCurator:
    """Curates by score and intent."""

    def __init__(self, settings: RetrievalSettings) -> None:
        self._settings = settings

    def curate(self, question: Question, pool: Sequence[Evidence]) -> tuple[Evidence, ...]:
        """At most `evidence` items in order of time; nothing that ends after the question's time."""
        visible = [item for item in pool if item.end_ms <= question.at_ms]
        ranked = sorted(visible, key=lambda item: (-item.score, item.start_ms, item.item_id))
        intent = parse_time_query(question.text, question.at_ms).intent
        kept = (
            spread_over_days(ranked, self._settings.evidence)
            if intent == "habit"
            else ranked[: self._settings.evidence]
        )
        return tuple(sorted(kept, key=lambda item: (item.start_ms, item.end_ms, item.item_id)))


def spread_over_days(ranked: Sequence[Evidence], k: int) -> list[Evidence]:
    """The k best items (given best first), where a day becomes less attractive with each item taken of it."""
    left = list(ranked)
    kept: list[Evidence] = []
    taken: Counter[int] = Counter()
    while left and len(kept) < k:
        best = max(left, key=lambda item: item.score - SAME_DAY_COST * taken[day_of(item.start_ms)])
        left.remove(best)
        kept.append(best)
        taken[day_of(best.start_ms)] += 1
    return kept

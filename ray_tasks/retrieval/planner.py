"""The drafting agent on rules: rounds of search whose candidates gather in one pool (EgoCITE §4.2, Appendix B.3).

One round asks for what the question says, one for what its choices say (where they say more than a time), and one looks
right after or before the event by which the question places another one. Every round adds its best clips to the pool.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ray_tasks.corpus.week_time import MINUTE_MS
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.agents import Draft
from ray_tasks.retrieval.evidence import clip_evidence
from ray_tasks.retrieval.fusion import best_clips, content_scores, time_scores
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.signals import Measured, measure
from ray_tasks.retrieval.types import Embed, Evidence, Question
from ray_tasks.retrieval.weights import FusionWeights
from ray_tasks.retrieval.whole_vectors import Float64, Int64

ANCHOR_REACH_MS = 10 * MINUTE_MS
"""How long "after I did X" lasts."""


class RulePlanner:
    """Drafts with fused clip signals instead of a language model."""

    def __init__(self, embed: Embed, settings: RetrievalSettings, weights: FusionWeights) -> None:
        self._embed = embed
        self._settings = settings
        self._weights = weights

    def draft(self, questions: Sequence[Question], memory: WearerMemory) -> list[Draft]:
        """The pool of each question."""
        measured = measure(
            questions,
            memory,
            self._embed,
            self._weights,
            use_choices=self._settings.use_choices and self._settings.rounds > 1,
        )
        return [self._draft(one) for one in measured]

    def _draft(self, measured: Measured) -> Draft:
        settings, weights = self._settings, self._weights
        time = time_scores(measured, weights, settings.decay)
        total = content_scores(measured, weights, weights.terms) + time
        found: list[Int64] = []
        if any(measured.variants.with_choice):
            of_question = tuple(term for term in weights.terms if term.variant in ("question", "core"))
            found.append(best_clips(content_scores(measured, weights, of_question) + time, settings.pool_per_round))
        found.append(best_clips(total, settings.pool_per_round))
        anchor = measured.time.anchor
        if settings.rounds > 2 and anchor is not None and anchor.relation != "during":
            total = beside_anchor(measured, total, after=anchor.relation == "after")
            found.append(best_clips(total, settings.pool_per_round))
        clips = np.unique(np.concatenate(found))
        items = clip_evidence(measured.table, clips, measured.queries, total[clips])
        return Draft(in_order(items), rounds=len(found))


def beside_anchor(measured: Measured, scores: Float64, *, after: bool) -> Float64:
    """Scores (visible,) averaged with the best score of the clips right before (for "after X") or right after each."""
    table, n = measured.table, measured.visible
    starts = table.start_ms[:n]
    order = np.argsort(starts, kind="stable")
    raised = scores.copy()
    for clip in best_clips(scores, 30):
        low, high = (starts[clip], starts[clip] + ANCHOR_REACH_MS)
        if not after:
            low, high = starts[clip] - ANCHOR_REACH_MS, starts[clip]
        first, last = np.searchsorted(starts[order], [low, high])
        beside = order[first:last]
        raised[beside] = np.maximum(raised[beside], (scores[beside] + scores[clip]) / 2)
    return raised


def in_order(items: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Items in order of time, each once (by interval and text, as EgoCITE's pool does it)."""
    distinct = {(item.start_ms, item.end_ms, item.text): item for item in items}
    return tuple(sorted(distinct.values(), key=lambda item: (item.start_ms, item.end_ms, item.item_id)))

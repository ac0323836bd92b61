"""The drafting agent on rules: rounds of search whose candidates gather in one pool (EgoCITE §4.2, Appendix B.3).

One round asks for what the question says, one for what its choices say (where they say more than a time), and one looks
right after or before the event by which the question places another one. Every round adds its best clips to the pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ray_tasks.corpus.week_time import MINUTE_MS
from ray_tasks.embedding.whole_vectors import Float64
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.agents import Draft
from ray_tasks.retrieval.evidence import clip_evidence
from ray_tasks.retrieval.fusion import best_clips, content_scores, time_scores
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.signals import Measured, measure, search_texts
from ray_tasks.retrieval.trace import Call, Found, Round
from ray_tasks.retrieval.types import Embed, Evidence, Question
from ray_tasks.retrieval.weights import FusionWeights

ANCHOR_REACH_MS = 10 * MINUTE_MS
"""How long "after I did X" lasts."""
EXPLAINED = 20
"""Clips of a round that an explanation shows."""


@dataclass(frozen=True)
class Search:
    """A round: what it looks for, in words, and the score (visible,) of every clip."""

    query: str
    scores: Float64


class RulePlanner:
    """Drafts with fused clip signals instead of a language model."""

    def __init__(self, embed: Embed, settings: RetrievalSettings, weights: FusionWeights) -> None:
        self._embed = embed
        self._settings = settings
        self._weights = weights

    def draft(self, questions: Sequence[Question], memory: WearerMemory) -> list[Draft]:
        """The pool of each question.

        They are measured in order of their time, so that a group scans only as much of the week as its last may see.
        """
        order = sorted(range(len(questions)), key=lambda number: questions[number].at_ms)
        measured = self._measure([questions[number] for number in order], memory)
        drafts = {number: self._draft(one) for number, one in zip(order, measured, strict=True)}
        return [drafts[number] for number in range(len(questions))]

    @property
    def _use_choices(self) -> bool:
        return self._settings.use_choices and self._settings.rounds > 1

    def prepare(self, questions: Sequence[Question]) -> None:
        """Has an embedder that remembers its texts embed all that these questions are searched with."""
        self._embed(search_texts(questions, self._weights.columns, use_choices=self._use_choices))

    def _measure(self, questions: Sequence[Question], memory: WearerMemory) -> Iterator[Measured]:
        return measure(questions, memory, self._embed, self._weights.columns, use_choices=self._use_choices)

    def explain(self, question: Question, memory: WearerMemory) -> tuple[Round, ...]:
        """The rounds of a question's draft: what each looked for, and its best clips with what time added to each.

        A round's window is that of all times which the question (or else its choices) names, from first to last.
        """
        (measured,) = self._measure([question], memory)
        time = time_scores(measured, self._weights, self._settings.decay)
        places = {item.item_id: number for number, item in enumerate(self._draft(measured).pool, start=1)}
        windows = measured.named_windows or measured.choice_windows
        window = (min(start for start, _ in windows), max(end for _, end in windows)) if windows else None
        intent = "" if measured.time.intent == "any" else measured.time.intent
        seen: set[str] = set()
        rounds: list[Round] = []
        for number, search in enumerate(self._searches(measured, time), start=1):
            clips = best_clips(search.scores, EXPLAINED)
            items = clip_evidence(measured.table, clips, measured.queries, search.scores[clips])
            found = tuple(
                Found(
                    places[item.item_id], item, item.score - float(added), float(added), item.item_id not in seen, "+"
                )
                for item, added in zip(items, time[clips], strict=True)
                if item.item_id in places
            )
            seen.update(one.item.item_id for one in found)
            told = f"the best {len(found)} of {measured.visible} clips"
            call = Call("search", search.query, intent, window, found, told)
            rounds.append(Round(number, "", (call,)))
        return tuple(rounds)

    def _draft(self, measured: Measured) -> Draft:
        time = time_scores(measured, self._weights, self._settings.decay)
        searches = self._searches(measured, time)
        per_round = self._settings.pool_per_round
        clips = np.unique(np.concatenate([best_clips(search.scores, per_round) for search in searches]))
        items = clip_evidence(measured.table, clips, measured.queries, searches[-1].scores[clips])
        return Draft(in_order(items), rounds=len(searches))

    def _searches(self, measured: Measured, time: Float64) -> list[Search]:
        """The rounds of a question, the last with the final scores; `time` (visible,) is what time adds to a clip."""
        settings, weights, variants = self._settings, self._weights, measured.variants
        searches: list[Search] = []
        if any(variants.with_choice):
            of_question = tuple(term for term in weights.terms if term.variant in ("question", "core"))
            searches.append(Search(variants.core, content_scores(measured, weights, of_question) + time))
        total = content_scores(measured, weights, weights.terms) + time
        searches.append(Search(" | ".join([variants.core, *filter(None, variants.choices)]), total))
        anchor = measured.time.anchor
        if settings.rounds > 2 and anchor is not None and anchor.relation != "during":
            beside = beside_anchor(measured, total, after=anchor.relation == "after")
            searches.append(Search(f"{anchor.relation} {anchor.clause}", beside))
        return searches


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

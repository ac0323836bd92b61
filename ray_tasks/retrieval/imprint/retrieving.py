"""Imprint's retrieval: cues, Eq. 3, the temporal constraint, and what is read from the records that are left.

Where no record satisfies the constraint, the paper asks its model without evidence. Here what was found without the
constraint is shown, but nothing is read from it, and an answer that follows does not count as grounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ray_tasks.embedding.whole_vectors import Float64, Int64
from ray_tasks.extraction.records.types import Record
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.clip_table import ClipTable
from ray_tasks.retrieval.imprint.decompose import Cues, Decomposer, decompose
from ray_tasks.retrieval.imprint.fields import Matcher
from ray_tasks.retrieval.imprint.ranking import Found, Ranking, phrase_cosines, rank
from ray_tasks.retrieval.imprint.resolve import Evidenced, Resolved, resolve
from ray_tasks.retrieval.imprint.settings import ImprintSettings
from ray_tasks.retrieval.imprint.table import InteractionTable
from ray_tasks.retrieval.imprint.temporal import apply_temporal
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.signals import check_dimension
from ray_tasks.retrieval.types import Evidence, Question

MEMBERS_OF_ENTRY = 3
"""Members of an entry that become evidence: five entries give the 15 items that every method may keep."""
MOST_MEMBERS = 400
"""Members of each entry whose people and values are counted, the best first; a habit does not need more."""


@dataclass(frozen=True)
class Retrieved:
    """What a question found: cues, entries with the members that count, and what they tell.

    records: those that an answer may rest on. company: who was there at each of them, where that is asked. evidence:
    their captions in order of time.
    """

    question: Question
    cues: Cues
    found: tuple[Found, ...]
    records: tuple[Record, ...]
    evidence: tuple[Evidence, ...]
    company: tuple[frozenset[str], ...]
    resolved: Resolved | None
    notes: tuple[str, ...] = ()


class Retriever:
    """Finds records of a memory for questions; keeps nothing between batches."""

    def __init__(
        self, settings: RetrievalSettings, imprint: ImprintSettings, decomposer: Decomposer = decompose
    ) -> None:
        self._decomposer, self._evidence, self._imprint = decomposer, settings.evidence, imprint

    def retrieve(self, questions: Sequence[Question], memory: WearerMemory, matcher: Matcher) -> list[Retrieved]:
        """What each question finds, the same as if it were asked alone. Raises NoInteractionsError."""
        table = InteractionTable.of(memory)
        cues = [self._decomposer(question, memory.name) for question in questions]
        texts = list(dict.fromkeys(text for one in cues for text in _phrases(one) if text))
        similar: dict[str, Float64] = {}
        if texts and len(table.interactions):
            check_dimension(np.stack([matcher.vector(texts[0])]), ClipTable.of(memory))
            matcher.learn(texts)
            found = phrase_cosines(table.interactions, np.stack([matcher.vector(text) for text in texts]))
            similar = dict(zip(texts, found, strict=True))
        return [
            self._of_question(question, one, memory, table, similar, matcher)
            for question, one in zip(questions, cues, strict=True)
        ]

    def _of_question(
        self,
        question: Question,
        cues: Cues,
        memory: WearerMemory,
        table: InteractionTable,
        similar: dict[str, Float64],
        matcher: Matcher,
    ) -> Retrieved:
        interactions, settings = table.interactions, self._imprint
        nothing = np.zeros(len(interactions.phrases))

        def ranked(thing: str, action: str) -> Ranking:
            of_object, of_action = similar.get(thing, nothing), similar.get(action, nothing)
            return rank(interactions, question.at_ms, of_object, of_action, settings)

        def anchor() -> tuple[int, int] | None:
            placing = cues.placing
            best = ranked(placing.object, placing.action).best(1) if placing is not None else []
            if not best:
                return None
            moment = best[0].members[0 if cues.occasion == "first" else -1]
            return int(interactions.start_ms[moment]), int(interactions.end_ms[moment])

        ranking = ranked(cues.object, cues.action)
        pool = ranking.best(max(settings.top_k, settings.temporal_pool if cues.is_temporal else 0))
        found = apply_temporal(pool, ranking.fits, cues, interactions, settings, anchor) if cues.is_temporal else pool
        unmet = bool(pool) and not found
        found = (pool if unmet else found)[: settings.top_k]
        members = [_in_order(one, cues, ranking, table) for one in found]
        shown = _shown(members, found, self._evidence, table, memory, question.at_ms)
        numbers = _resting_on(members, shown)
        company = tuple(map(table.people_at, numbers)) if cues.intent == "with_whom" else ()
        resolved = None
        if settings.direct and found and not unmet:
            counted = _matching(members, ranking, settings.matching)
            evidenced = _evidenced(members[0], counted, cues, table, company, memory)
            resolved = resolve(question, cues, evidenced, matcher.matches, settings)
        return Retrieved(
            question,
            cues,
            tuple(found),
            tuple(table.records(numbers)),
            tuple(sorted((item for _, item in shown), key=lambda item: (item.start_ms, item.end_ms, item.item_id))),
            company,
            resolved,
            ("temporal_unmet",) if unmet else (),
        )


def _phrases(cues: Cues) -> tuple[str, ...]:
    placing = () if cues.placing is None else (cues.placing.object, cues.placing.action)
    return (cues.object, cues.action, *placing)


def _in_order(one: Found, cues: Cues, ranking: Ranking, table: InteractionTable) -> list[int]:
    """Members in the order in which they are read: by time for first and last times, else the best fitting first.

    Of members that fit alike the latest counts, since it is what people ask about most.
    """
    starts = table.interactions.start_ms[one.members]
    keys: tuple[Int64 | Float64, ...] = (one.members, -starts, -ranking.fits[one.members])
    if cues.occasion is not None:
        keys = (one.members, starts if cues.occasion == "first" else -starts)
    return [int(one.members[place]) for place in np.lexsort(keys)]


def _shown(
    members: Sequence[Sequence[int]],
    found: Sequence[Found],
    most: int,
    table: InteractionTable,
    memory: WearerMemory,
    at_ms: int,
) -> list[tuple[int, Evidence]]:
    """Records with their captions: the first member of each entry, then the second of each, and so on.

    A caption counts once, so a member whose caption is there already leaves its place to the next.
    """
    taken: dict[str, tuple[int, Evidence]] = {}
    left = [iter(numbers) for numbers in members]
    for _ in range(MEMBERS_OF_ENTRY):
        for one, numbers in zip(found, left, strict=True):
            for number in numbers:
                item = table.evidence(number, one.score, memory, at_ms)
                if item.item_id not in taken:
                    if len(taken) < most:
                        taken[item.item_id] = (number, item)
                    break
    return list(taken.values())


def _resting_on(members: Sequence[Sequence[int]], shown: Sequence[tuple[int, Evidence]]) -> list[int]:
    """The records that an answer may rest on, each once: those that are read first, then the others shown."""
    read = members[0][:MEMBERS_OF_ENTRY] if members else ()
    return list(dict.fromkeys((*read, *(number for number, _ in shown))))


def _matching(members: Sequence[Sequence[int]], ranking: Ranking, share: float) -> list[int]:
    """The members of all entries that fit nearly as well as the best of them, of each entry no more than a bound."""
    least = share * max(float(ranking.fits[numbers].max()) for numbers in members)
    return [number for numbers in members for number in numbers[:MOST_MEMBERS] if ranking.fits[number] >= least]


def _evidenced(
    first: Sequence[int],
    counted: Sequence[int],
    cues: Cues,
    table: InteractionTable,
    shown: Sequence[frozenset[str]],
    memory: WearerMemory,
) -> Evidenced:
    """The records that an intent is resolved by; what it does not look at is left out, since there may be many."""
    return Evidenced(
        read=table.records(first[:MEMBERS_OF_ENTRY]),
        shown=shown,
        members=table.records(counted) if cues.intent == "usually" else (),
        company=[table.people_at(number) for number in counted] if cues.intent == "with_whom" else (),
        wearer=memory.name,
    )

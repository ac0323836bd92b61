"""The response agent on rules: weighs each choice by what the evidence says, in a way that fits the kind of choices.

Features (answer_features) times learned weights (answer_weights) give one number for each choice; a softmax makes
probabilities of them. Only the rows of the evidence count (at most 15 items for every method, DESIGN §8), but for the
questions that no few items can answer: habits, absences and counts also see one statistic over the whole memory
(occasions), unless the setting `aggregate` forbids it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ray_tasks.corpus.week_time import format_for_people
from ray_tasks.embedding.whole_vectors import Float32, Float64, whole_vectors
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.agents import Reply
from ray_tasks.retrieval.answer_features import (
    STANDING_WEIGHT,
    Case,
    choice_features,
    needs_occasions,
    weigh,
)
from ray_tasks.retrieval.answer_weights import AnswerWeights, trained_weights
from ray_tasks.retrieval.choice_kinds import asks_times, kind_of
from ray_tasks.retrieval.clip_table import ClipTable
from ray_tasks.retrieval.evidence_rows import EvidenceRows
from ray_tasks.retrieval.finding import found_features
from ray_tasks.retrieval.occasions import Naming, Occasions, match_clips
from ray_tasks.retrieval.queries import make_variants
from ray_tasks.retrieval.signals import check_dimension
from ray_tasks.retrieval.time_query import parse_time_query
from ray_tasks.retrieval.types import Embed, Evidence, Question

BEST_SENTENCES = 3


class RuleResponder:
    """Answers from the rows of the evidence."""

    def __init__(self, embed: Embed, weights: AnswerWeights | None = None, *, aggregate: bool = True) -> None:
        self._embed = embed
        self._weights = weights
        self._aggregate = aggregate

    def respond(
        self, questions: Sequence[Question], evidence: Sequence[tuple[Evidence, ...]], memory: WearerMemory
    ) -> list[Reply]:
        """One reply for each question."""
        weights = self._weights or trained_weights()
        return [
            Reply(None, "declined", text="Nothing is remembered from before this question.", found=0.0)
            if case is None
            else _reply(case, weights)
            for case in self.cases(questions, evidence, memory)
        ]

    def cases(
        self, questions: Sequence[Question], evidence: Sequence[tuple[Evidence, ...]], memory: WearerMemory
    ) -> list[Case | None]:
        """Each question ready to be weighed, None where there is no evidence; texts are embedded in one call."""
        if not questions:
            return []
        table = ClipTable.of(memory)
        variants = [make_variants(q.text, tuple(text for _, text in q.choices), q.at_ms) for q in questions]
        texts = list(dict.fromkeys(text for v in variants for text in (v.question, v.core, *v.choices)))
        vectors = whole_vectors(check_dimension(self._embed(texts), table))
        place = {text: number for number, text in enumerate(texts)}
        asked = [vectors[[place[variant.question], place[variant.core]]] for variant in variants]
        occasions = self._occasions(questions, asked, table, memory.name)
        return [
            Case(
                question,
                variant,
                EvidenceRows.of(table, items, question.at_ms),
                both,
                vectors[[place[text] for text in variant.choices]],
                memory.name,
                occasions.get(number),
            )
            if items
            else None
            for number, (question, variant, items, both) in enumerate(
                zip(questions, variants, evidence, asked, strict=True)
            )
        ]

    def _occasions(
        self, questions: Sequence[Question], asked: Sequence[Float32], table: ClipTable, wearer: str
    ) -> dict[int, Occasions]:
        """The occasions of those questions, by number, that ask for more than one moment can tell."""
        numbers = [n for n, question in enumerate(questions) if self._aggregate and needs_occasions(question)]
        visible = max((table.visible(questions[n].at_ms) for n in numbers), default=0)
        names = Naming(table, wearer)
        found: dict[int, Occasions] = {}
        for number, fits in zip(numbers, match_clips(table, [asked[n] for n in numbers], visible), strict=True):
            question = questions[number]
            windows = parse_time_query(question.text, question.at_ms).windows
            named = [(window.start_ms, window.end_ms) for window in windows]
            found[number] = Occasions.of(names, question.at_ms, fits, named)
        return found


def _reply(case: Case, weights: AnswerWeights) -> Reply:
    question = case.question
    found = weights.found.chance(found_features(case.variants.core, case.rows, case.asked))
    notes = ("not_found",) if found < weights.found.threshold else ()
    if not question.choices:
        return Reply(None, text=_told(case), found=found, notes=notes)
    values = choice_values(case, weights)
    chances = np.exp(values - values.max())
    chances /= math.fsum(chances)
    labels = [label for label, _ in question.choices]
    probabilities = tuple((label, float(chance)) for label, chance in zip(labels, chances, strict=True))
    chosen = min(range(len(labels)), key=lambda i: (-values[i], question.choices[i][1].casefold(), i))
    return Reply(labels[chosen], probabilities=probabilities, text=_told(case), found=found, notes=notes)


def choice_values(case: Case, weights: AnswerWeights) -> Float64:
    """(choices,) logits; an empty choice stands below all others."""
    kind = kind_of(case.question)
    values = weigh(choice_features(case), weights.kinds[kind]) / weights.temperatures[kind]
    empty = np.array([not text.strip() for _, text in case.question.choices])
    if empty.any() and not empty.all():
        values = np.where(empty, values[~empty].min() - 1.0, values)
    return values


def _told(case: Case) -> str:
    """The best sentences, after how often it happened where that is asked."""
    asks_when = parse_time_query(case.question.text, case.question.at_ms).asks_when
    sentences = best_sentences(case.rows, case.asked, times=asks_when)
    if case.occasions is not None and asks_times(case.question):
        days = case.occasions.by_day()
        by_day = ", ".join(f"DAY{day}: {count}" for day, count in days.items())
        sentences = [f"Counted {sum(days.values())} times" + (f" ({by_day})" if by_day else ""), *sentences]
    return "; ".join(sentences)


def best_sentences(rows: EvidenceRows, asked: Float32, *, times: bool = False) -> list[str]:
    """The sentences that fit a question best, best first, one for each item; `times` puts its time before each."""
    reach = rows.fits(asked).mean(axis=1) + STANDING_WEIGHT * rows.standing[rows.owners]
    sentences: dict[str, None] = {}
    used: set[int] = set()
    for row in np.lexsort((np.arange(len(reach)), -reach)):
        owner = int(rows.owners[row])
        if owner not in used:
            used.add(owner)
            sentence = " ".join(rows.texts[row].split())
            sentences[f"{format_for_people(rows.items[owner].start_ms)} {sentence}" if times else sentence] = None
        if len(sentences) == BEST_SENTENCES:
            break
    return list(sentences)

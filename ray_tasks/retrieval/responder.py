"""The response agent on rules: weighs each choice by what the evidence says, in a way that fits the kind of choices.

Every rule gives one number for each choice; a softmax makes probabilities of them. Only the rows of the evidence count,
never the rest of the memory (at most 15 items for every method, DESIGN §8).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ray_tasks.index.lexical import tokenize
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.agents import Reply
from ray_tasks.retrieval.choice_kinds import Kind, is_negated, kind_of, mentions, people_in, times_of
from ray_tasks.retrieval.clip_table import ClipTable
from ray_tasks.retrieval.evidence_rows import EvidenceRows
from ray_tasks.retrieval.numbers import counted_in, numbers_in
from ray_tasks.retrieval.queries import Variants, make_variants
from ray_tasks.retrieval.signals import check_dimension
from ray_tasks.retrieval.types import Embed, Evidence, Question
from ray_tasks.retrieval.whole_vectors import Float32, Float64, whole_vectors

SHARPNESS: dict[Kind, float] = {"person": 1.0, "time": 2.0, "count": 1.0, "yes_no": 1.0, "other": 1.0}
TEMPERATURE: dict[Kind, float] = {"person": 3.0, "time": 0.7, "count": 2.0, "yes_no": 10.0, "other": 0.3}
"""Factor on a rule's numbers before the softmax, so that probabilities are about as high as answers are right."""
NOT_NAMED = -0.2
STANDING_WEIGHT = 0.03
COUNTED_BONUS = 0.1
BEST_SENTENCES = 3


class RuleResponder:
    """Answers from the rows of the evidence."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed

    def respond(
        self, questions: Sequence[Question], evidence: Sequence[tuple[Evidence, ...]], memory: WearerMemory
    ) -> list[Reply]:
        """One reply for each question."""
        table = ClipTable.of(memory)
        variants = [make_variants(q.text, tuple(text for _, text in q.choices), q.at_ms) for q in questions]
        texts = list(dict.fromkeys(text for v in variants for text in (v.question, v.core, *v.choices)))
        if not texts:
            return []
        vectors = whole_vectors(check_dimension(self._embed(texts), table))
        place = {text: number for number, text in enumerate(texts)}
        replies: list[Reply] = []
        for question, variant, items in zip(questions, variants, evidence, strict=True):
            if not items:
                replies.append(Reply(None, "declined", text="Nothing is remembered from before this question."))
                continue
            rows = EvidenceRows.of(table, items, question.at_ms)
            asked = vectors[[place[variant.question], place[variant.core]]]
            offered = vectors[[place[text] for text in variant.choices]]
            replies.append(_reply(question, variant, rows, asked, offered, memory.name))
        return replies


def _reply(
    question: Question, variants: Variants, rows: EvidenceRows, asked: Float32, offered: Float32, wearer: str
) -> Reply:
    if not question.choices:
        return Reply(None, text=" ".join(best_sentences(rows, asked)))
    kind = kind_of(question)
    fits = rows.fits(asked).mean(axis=1)
    if kind == "time":
        values = _time_values(question, rows)
    elif kind == "person":
        values = _person_values(question, rows, fits, wearer)
    elif kind == "count":
        values = _count_values(question, rows, fits)
    elif kind == "yes_no":
        values = _yes_no_values(question, fits)
    else:
        values = _other_values(variants, rows, fits, offered)
    empty = np.array([not text.strip() for _, text in question.choices])
    if empty.any() and not empty.all():
        values = np.where(empty, values.min() - 1.0, values)
    chances = np.exp(TEMPERATURE[kind] * (values - values.max()))
    chances /= chances.sum()
    labels = [label for label, _ in question.choices]
    probabilities = tuple((label, float(chance)) for label, chance in zip(labels, chances, strict=True))
    text = " ".join(best_sentences(rows, asked))
    return Reply(labels[int(np.argmax(values))], probabilities=probabilities, text=text, notes=(f"choices: {kind}",))


def _time_values(question: Question, rows: EvidenceRows) -> Float64:
    """Log of the share of the evidence that lies inside each choice's windows."""
    shares = rows.shares(SHARPNESS["time"])
    values = [
        sum(
            float(share)
            for share, item in zip(shares, rows.items, strict=True)
            if any(start <= item.end_ms and item.start_ms <= end for start, end in windows)
        )
        for windows in times_of(question)
    ]
    return np.log(np.array(values) + 0.02)


def _person_values(question: Question, rows: EvidenceRows, fits: Float64, wearer: str) -> Float64:
    """How well rows that name a person fit the question: the best row, plus the mean over items of their best.

    Several people count their mean. A question for who was absent turns the order round.
    """
    reach = fits + STANDING_WEIGHT * rows.standing[rows.owners]
    shares = rows.shares(SHARPNESS["person"])
    values: list[float] = []
    for _, choice in question.choices:
        each: list[float] = []
        for person in people_in(choice):
            named = [mentions(person, text, view, wearer) for text, view in zip(rows.texts, rows.views, strict=True)]
            best = float(reach[named].max()) if any(named) else 2 * NOT_NAMED
            of_items = np.maximum(rows.best_of_items(np.where(named, fits, NOT_NAMED)[:, None])[:, 0], NOT_NAMED)
            each.append(best + float(shares @ of_items))
        values.append(float(np.mean(each)) if each else 3 * NOT_NAMED)
    return -np.array(values) if is_negated(question) else np.array(values)


def _count_values(question: Question, rows: EvidenceRows, fits: Float64) -> Float64:
    """How well the best row that holds a choice's number fits the question, the more so where a word of the question
    follows the number ("three lemons")."""
    reach = fits + STANDING_WEIGHT * rows.standing[rows.owners]
    asked = set(tokenize(question.text))
    found: dict[float, float] = {}
    for text, value in zip(rows.texts, reach, strict=True):
        for number, following in counted_in(text):
            bonus = COUNTED_BONUS if asked & set(tokenize(following)) else 0.0
            found[number] = max(found.get(number, -1.0), float(value) + bonus)
    values = [
        max((found.get(number, NOT_NAMED) for number in numbers_in(choice)), default=NOT_NAMED)
        for _, choice in question.choices
    ]
    return np.array(values)


def _yes_no_values(question: Question, fits: Float64) -> Float64:
    """Yes where some row fits the question well, no where none does; turned round by a negation."""
    sure = float(fits.max()) - 0.5
    if is_negated(question):
        sure = -sure
    signs = {"yes": 1.0, "true": 1.0, "no": -1.0, "false": -1.0}
    return np.array([sure * signs.get(text.strip(" .!").lower(), 0.0) for _, text in question.choices])


def _other_values(variants: Variants, rows: EvidenceRows, fits: Float64, offered: Float32) -> Float64:
    """Sum of three z-scores over the choices: how the evidence fits a choice on average, how well question and choice
    fit one item together, and how many of the words of question and choice the evidence holds."""
    shares = rows.shares(SHARPNESS["other"])
    of_choice = rows.best_of_items(rows.fits(offered))
    of_question = rows.best_of_items(fits[:, None])
    mean = shares @ of_choice
    together = (of_choice + of_question).max(axis=0)
    words = np.array([_word_share(text, rows, shares) for text in variants.with_choice])
    return _standard(mean) + _standard(together) + _standard(words)


def _word_share(text: str, rows: EvidenceRows, shares: Float64) -> float:
    """Mean rarity-weighted number of a text's words that the items hold."""
    weights = {token: rows.rarity(token) for token in dict.fromkeys(tokenize(text))}
    held = [sum(weight for token, weight in weights.items() if token in words) for words in rows.words_of_items]
    return float(shares @ np.array(held))


def _standard(values: Float64) -> Float64:
    """Values in standard deviations from their mean; zeros where all are alike."""
    deviation = float(values.std())
    return (values - values.mean()) / deviation if deviation > 1e-9 else np.zeros(len(values))


def best_sentences(rows: EvidenceRows, asked: Float32) -> list[str]:
    """The sentences that fit a question best, at most one for each item, best first."""
    reach = rows.fits(asked).mean(axis=1) + STANDING_WEIGHT * rows.standing[rows.owners]
    sentences: dict[str, None] = {}
    used: set[int] = set()
    for row in np.lexsort((np.arange(len(reach)), -reach)):
        owner = int(rows.owners[row])
        if owner not in used:
            used.add(owner)
            sentences[re.sub(r"\s+", " ", rows.texts[row]).strip()] = None
        if len(sentences) == BEST_SENTENCES:
            break
    return list(sentences)

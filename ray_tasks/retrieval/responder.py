"""The response agent on rules: weighs each choice by what the evidence says, in a way that fits the kind of choices.

Every rule gives one number for each choice; a softmax makes probabilities of them. Only the rows of the evidence count,
never the rest of the memory (at most 15 items for every method, DESIGN §8).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ray_tasks.corpus.week_time import HOUR_MS, format_for_people
from ray_tasks.index.lexical import tokenize
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.agents import Reply
from ray_tasks.retrieval.choice_kinds import Kind, is_negated, kind_of, mentions, people_in, times_of
from ray_tasks.retrieval.clip_table import ClipTable
from ray_tasks.retrieval.evidence_rows import EvidenceRows
from ray_tasks.retrieval.numbers import counted_in, numbers_in
from ray_tasks.retrieval.queries import Variants, make_variants
from ray_tasks.retrieval.signals import check_dimension
from ray_tasks.retrieval.time_query import parse_time_query
from ray_tasks.retrieval.types import Embed, Evidence, Question
from ray_tasks.retrieval.whole_vectors import Float32, Float64, whole_vectors

STEEPNESS: dict[Kind, float] = {"person": 3.0, "time": 0.7, "count": 2.0, "yes_no": 10.0, "other": 0.3}
"""Factor on a rule's numbers before the softmax, so that probabilities are about as high as answers are right."""
SHARPNESS, TIME_SHARPNESS = 1.0, 2.0
"""How much more a better item counts, per standard deviation of its score; more where one moment decides."""
NOT_NAMED = -0.2
"""Stands for the cosine of a row that there is not."""
STANDING_WEIGHT = 0.03
"""What a standard deviation of an item's score is worth in cosine."""
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
    text = "; ".join(best_sentences(rows, asked, times=parse_time_query(question.text, question.at_ms).asks_when))
    if not question.choices:
        return Reply(None, text=text)
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
    chances = np.exp(STEEPNESS[kind] * (values - values.max()))
    chances /= chances.sum()
    labels = [label for label, _ in question.choices]
    probabilities = tuple((label, float(chance)) for label, chance in zip(labels, chances, strict=True))
    chosen = min(range(len(labels)), key=lambda i: (-values[i], question.choices[i][1].casefold(), i))
    return Reply(labels[chosen], probabilities=probabilities, text=text)


def _time_values(question: Question, rows: EvidenceRows) -> Float64:
    """Log of the share of the evidence that lies inside each choice's windows.

    Where no evidence does, the window that is nearest to it still comes first.
    """
    shares = rows.shares(TIME_SHARPNESS)
    values: list[float] = []
    for windows in times_of(question):
        away = np.array([_hours_away(item, windows) for item in rows.items])
        values.append(float(np.log(shares[away == 0].sum() + 0.02) - 1e-3 * (shares @ away)))
    return np.array(values)


def _hours_away(item: Evidence, windows: Sequence[tuple[int, int]]) -> float:
    """Hours of week time between an item and the nearest of some windows; a week where there is none."""
    gaps = [max(start - item.end_ms, item.start_ms - end, 0) / HOUR_MS for start, end in windows]
    return min(gaps, default=7.0 * 24)


def _person_values(question: Question, rows: EvidenceRows, fits: Float64, wearer: str) -> Float64:
    """How well rows that name a person fit the question: the best row, plus the mean over items of their best.

    Several people count their mean. A question for who was absent turns the order round.
    """
    reach = fits + STANDING_WEIGHT * rows.standing[rows.owners]
    shares = rows.shares(SHARPNESS)
    values: list[float] = []
    for _, choice in question.choices:
        each: list[float] = []
        for person in _known_people(people_in(choice), rows, wearer):
            named = _naming(person, rows, wearer)
            best = float(reach[named].max()) if any(named) else 2 * NOT_NAMED
            of_items = np.maximum(rows.best_of_items(np.where(named, fits, NOT_NAMED)[:, None])[:, 0], NOT_NAMED)
            each.append(best + float(shares @ of_items))
        values.append(float(np.mean(each)) if each else 3 * NOT_NAMED)
    return -np.array(values) if is_negated(question) else np.array(values)


def _naming(person: str, rows: EvidenceRows, wearer: str) -> npt.NDArray[np.bool_]:
    """(rows,) whether each row names a person."""
    pairs = zip(rows.texts, rows.views, strict=True)
    return np.array([mentions(person, text, view, wearer) for text, view in pairs], np.bool_)


def _known_people(people: Sequence[str], rows: EvidenceRows, wearer: str) -> list[str]:
    """The people of a choice; several words that no row holds together are several people ("Mara Tobi")."""
    known: list[str] = []
    for person in people:
        together = " " not in person or _naming(person, rows, wearer).any()
        known.extend([person] if together else (name for part in person.split() for name in people_in(part)))
    return known


def _count_values(question: Question, rows: EvidenceRows, fits: Float64) -> Float64:
    """How well the best row that holds a choice's number fits the question.

    A word of the question right after the number ("three lemons") makes it count more.
    """
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
    sure = float(fits.max(initial=-1.0)) - 0.5
    if is_negated(question):
        sure = -sure
    signs = {"yes": 1.0, "true": 1.0, "no": -1.0, "false": -1.0}
    return np.array([sure * signs.get(text.strip(" .!").lower(), 0.0) for _, text in question.choices])


def _other_values(variants: Variants, rows: EvidenceRows, fits: Float64, offered: Float32) -> Float64:
    """Sum of three z-scores over the choices.

    They say how the evidence fits a choice on average, how well question and choice fit one item together, and how many
    of the words of question and choice the evidence holds.
    """
    shares = rows.shares(SHARPNESS)
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

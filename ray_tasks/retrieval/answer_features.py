"""What speaks for each choice, as a few numbers that fit the kind of the choices.

Where a feature says how a choice stands among the others it is put in deviations over the choices, so that it means the
same for any memory and any embedder. All sums are exact, so the order of the choices changes no bit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ray_tasks.corpus.week_time import HOUR_MS
from ray_tasks.embedding.whole_vectors import Float32, Float64
from ray_tasks.index.lexical import tokenize
from ray_tasks.retrieval.choice_kinds import (
    Kind,
    asks_days,
    asks_times,
    is_negated,
    kind_of,
    mentions,
    people_in,
    times_of,
)
from ray_tasks.retrieval.evidence_rows import EvidenceRows
from ray_tasks.retrieval.numbers import counted_in, numbers_in
from ray_tasks.retrieval.occasions import Occasions
from ray_tasks.retrieval.queries import Variants
from ray_tasks.retrieval.time_query import parse_time_query
from ray_tasks.retrieval.types import Evidence, Question

FEATURES: dict[Kind, tuple[str, ...]] = {
    "person": ("best_row", "items_naming", "occasions_naming"),
    "time": ("mass_inside",),
    "count": ("best_number", "times_counted"),
    "yes_no": ("fits",),
    "other": ("fits_together", "words"),
}
"""The names of each kind's features, in the order in which they are summed."""

SHARPNESS, TIME_SHARPNESS = 1.0, 2.0
"""How much more a better item counts, per standard deviation of its score; more where one moment decides."""
NOT_NAMED = -0.2
"""Stands for the cosine of a row that there is not."""
STANDING_WEIGHT = 0.03
"""What a standard deviation of an item's score is worth in cosine."""
COUNTED_BONUS = 0.1
LEAST_SPREAD = {"best_row": 0.06, "items_naming": 0.15, "occasions_naming": 0.12, "fits_together": 0.05, "words": 0.7}
"""Half of the usual standard deviation of a feature over the choices: what differs less counts little."""


@dataclass(frozen=True)
class Case:
    """A question with its evidence, ready to be weighed.

    asked (2, d) whole vectors of the question and its core, offered (choices, d) of the choices. occasions: the
    statistic over the whole memory, None where the question does not need it or the setting forbids it.
    """

    question: Question
    variants: Variants
    rows: EvidenceRows
    asked: Float32
    offered: Float32
    wearer: str
    occasions: Occasions | None


def needs_occasions(question: Question) -> bool:
    """Whether a question asks for more than one moment can tell: a habit, an absence, or how often."""
    kind = kind_of(question)
    if kind == "person":
        return is_negated(question) or parse_time_query(question.text, question.at_ms).intent == "habit"
    return asks_times(question) and kind in ("count", "other")


def choice_features(case: Case) -> dict[str, Float64]:
    """The features of every choice (choices,), by the names in FEATURES for the kind of the question."""
    kind = kind_of(case.question)
    fits = case.rows.fits(case.asked).mean(axis=1)
    if kind == "time":
        return {"mass_inside": _mass_inside(case.question, case.rows)}
    if kind == "person":
        return _of_people(case, fits)
    if kind == "count":
        return {
            "best_number": _best_number(case.question, case.rows, fits),
            "times_counted": _times_counted(case.question, case.occasions),
        }
    if kind == "yes_no":
        return {"fits": _yes_no(case.question, fits)}
    return _of_texts(case, fits)


def _mass_inside(question: Question, rows: EvidenceRows) -> Float64:
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


def _of_people(case: Case, fits: Float64) -> dict[str, Float64]:
    """How well the best row that names a person fits, the share of items with such a row, and that of occasions.

    A choice of several people is as likely as the least likely of them. A question for who was absent turns all signs
    round.
    """
    rows = case.rows
    reach = fits + STANDING_WEIGHT * rows.standing[rows.owners]
    shares = rows.shares(SHARPNESS)

    def of_person(person: str) -> tuple[float, float, float]:
        named = _naming(person, rows, case.wearer)
        holding = np.zeros(len(rows.items), np.bool_)
        holding[rows.owners[named]] = True
        often = 0.0 if case.occasions is None else case.occasions.share(case.occasions.naming(person))
        best = float(reach[named].max()) if named.any() else 2 * NOT_NAMED
        return best, float(shares @ holding), math.log(often + 1e-3)

    known: dict[str, tuple[float, float, float]] = {}
    values: list[tuple[float, ...]] = []
    for _, choice in case.question.choices:
        people = _known_people(people_in(choice), rows, case.wearer)
        known |= {person: of_person(person) for person in people if person not in known}
        each = [known[person] for person in people] or [(3 * NOT_NAMED, 0.0, math.log(1e-3))]
        values.append(tuple(min(column) for column in zip(*each, strict=True)))
    sign = -1.0 if is_negated(case.question) else 1.0
    columns = zip(FEATURES["person"], zip(*values, strict=True), strict=True)
    return {name: sign * among(np.array(column), LEAST_SPREAD[name]) for name, column in columns}


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


def _best_number(question: Question, rows: EvidenceRows, fits: Float64) -> Float64:
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


def _times_counted(question: Question, occasions: Occasions | None) -> Float64:
    """How near each choice's number is to the number of times counted, as minus the log of their ratio."""
    if occasions is None:
        return np.zeros(len(question.choices))
    counted = len(occasions.by_day()) if asks_days(question) else len(occasions.matching())
    numbers = [max(numbers_in(choice), default=0.0) for _, choice in question.choices]
    return np.array([-abs(math.log((number + 0.5) / (counted + 0.5))) for number in numbers])


def _yes_no(question: Question, fits: Float64) -> Float64:
    """Yes where some row fits the question well, no where none does; turned round by a negation."""
    sure = float(fits.max(initial=-1.0)) - 0.5
    if is_negated(question):
        sure = -sure
    signs = {"yes": 1.0, "true": 1.0, "no": -1.0, "false": -1.0}
    return np.array([sure * signs.get(text.strip(" .!").lower(), 0.0) for _, text in question.choices])


def _of_texts(case: Case, fits: Float64) -> dict[str, Float64]:
    """How well question and choice fit one item together, and how many of the words of both the evidence holds."""
    rows = case.rows
    together = rows.best_of_items(rows.fits(case.offered)) + rows.best_of_items(fits[:, None])
    shares = rows.shares(SHARPNESS)
    words = np.array([_word_share(text, rows, shares) for text in case.variants.with_choice])
    return {
        "fits_together": among(together.max(axis=0), LEAST_SPREAD["fits_together"]),
        "words": among(words, LEAST_SPREAD["words"]),
    }


def _word_share(text: str, rows: EvidenceRows, shares: Float64) -> float:
    """Mean rarity-weighted number of a text's words that the items hold."""
    weights = {token: rows.rarity(token) for token in dict.fromkeys(tokenize(text))}
    held = [math.fsum(weight for token, weight in weights.items() if token in words) for words in rows.words_of_items]
    return float(shares @ np.array(held))


def among(values: Float64, least: float) -> Float64:
    """Values as deviations from their mean, over their standard deviation and `least`, added as squares.

    So choices that are nearly alike stay so. No bit depends on the order of the values.
    """
    mean = math.fsum(values) / len(values)
    deviation = math.hypot(math.sqrt(math.fsum((values - mean) ** 2) / len(values)), least)
    return np.asarray((values - mean) / deviation, np.float64)


def weigh(features: Mapping[str, Float64], weights: Mapping[str, float]) -> Float64:
    """(choices,) the weighted sum of some features; a feature without a weight counts nothing."""
    total = np.zeros(len(next(iter(features.values()))))
    for name, values in features.items():
        total = total + weights.get(name, 0.0) * values
    return total

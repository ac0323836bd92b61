"""Answers that are read from records without a language model (Imprint Algorithm 2, lines 15 to 26).

The paper goes by the benchmark's category; here the intent of the question decides: "when", "who", "where" and "what"
are read from the first entry, company from the people of all entries, habits from their most frequent value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ray_tasks.corpus.week_time import format_for_people
from ray_tasks.extraction.records.types import Record
from ray_tasks.retrieval.choice_kinds import WEARER, is_negated, people_in, times_of
from ray_tasks.retrieval.imprint.day_parts import temporal_label
from ray_tasks.retrieval.imprint.decompose import Cues
from ray_tasks.retrieval.imprint.fields import (
    Match,
    adds_to,
    contains,
    fields_of,
    names_all,
    people_of,
    written,
    written_company,
    written_people,
    written_time,
)
from ray_tasks.retrieval.imprint.settings import ImprintSettings
from ray_tasks.retrieval.types import Question

MOST_VALUES = 20
"""Distinct values of a field that are compared by cosine; rarer ones decide no habit."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """What was read: a score for each option in their order, and what may be said of it.

    basis: the field that tells it; "" where it follows from many records.
    """

    scores: tuple[float, ...]
    basis: str
    text: str

    @property
    def best(self) -> int:
        """The number of the best option; of equal ones the first."""
        return max(range(len(self.scores)), key=lambda number: (self.scores[number], -number))


@dataclass(frozen=True)
class Evidenced:
    """The records behind an answer.

    read: members of the first entry, best first. shown: who was there at each record that becomes evidence. members:
    those of all entries. company: who was there at each of them. wearer: the name of the wearer.
    """

    read: Sequence[Record]
    shown: Sequence[frozenset[str]]
    members: Sequence[Record]
    company: Sequence[frozenset[str]]
    wearer: str


def resolve(
    question: Question, cues: Cues, found: Evidenced, match: Match, settings: ImprintSettings
) -> Resolved | None:
    """The answer as the records give it; None where the respond step has to decide, as between options told alike.

    Questions that deny something ("Who did not come?") are not read off.
    """
    if not found.read or is_negated(question):
        return None
    if cues.intent == "when":
        return _when(question, found)
    if not question.choices:
        return None
    options = [text for _, text in question.choices]
    least = settings.theta
    if cues.intent == "who":
        resolved = _who(options, cues, found)
    elif cues.intent in ("where", "what"):
        resolved = _field(options, question, cues, found, match)
    elif cues.intent == "with_whom":
        resolved, least = _company(options, cues, found), settings.share
    elif cues.intent == "usually":
        resolved, least = _habit(options, question, cues, found, match, settings), settings.share
    else:
        return None
    if resolved is None or max(resolved.scores) < least:
        return None
    return resolved if resolved.scores.count(max(resolved.scores)) == 1 else None


def _when(question: Question, found: Evidenced) -> Resolved | None:
    """How long before the question the first record was, and the option whose time holds it."""
    start = found.read[0].start_ms
    label = temporal_label(start, question.at_ms)
    basis = written_time(found.read[0])
    if not question.choices:
        return Resolved((), basis, f"{label} ({format_for_people(start)})")
    windows = times_of(question)
    holding = [
        min((abs((first + last) / 2 - start) for first, last in spans if first <= start <= last), default=None)
        for spans in windows
    ]
    known = [away for away in holding if away is not None]
    if not known:
        return None
    scores = tuple(0.0 if away is None else 1.0 if away == min(known) else 0.5 for away in holding)
    return Resolved(scores, basis, label)


def _who(options: Sequence[str], cues: Cues, found: Evidenced) -> Resolved | None:
    """Who acts in the first record, else who else takes part in it; those whom the question names are not asked for."""
    everyone = [name for name in people_of(found.read[0]) if name not in cues.people]
    for people in (everyone[:1], everyone):
        scores = tuple(names_all(option, people, found.wearer) for option in options)
        if max(scores) == 1.0:
            return Resolved(scores, written_people(found.read[0]), f"person {', '.join(people)}")
    return None


def _field(options: Sequence[str], question: Question, cues: Cues, found: Evidenced, match: Match) -> Resolved | None:
    """The location or the object of the first entry, as far as it tells more than the question does.

    Records that miss the field leave it to the next member of the entry.
    """
    names = ("location", "attribute") if cues.asked == "where" else ("object", "tool", "app", "attribute")
    for record in found.read:
        told = [(name, value) for name, value in fields_of(record) if name in names and adds_to(value, question.text)]
        if cues.asked == "what" and record.object and adds_to(record.object, question.text):
            told.append(("object", f"{record.action} {record.object}"))
        if told:
            table = match(options, [value for _, value in told])
            scores = tuple(max(row) for row in table)
            row = table[max(range(len(options)), key=lambda number: (scores[number], -number))]
            name, value = told[row.index(max(row))]
            value = record.object if name == "object" else value
            return Resolved(scores, written(name, value), f"{name} {value!r}")
    return None


def _company(options: Sequence[str], cues: Cues, found: Evidenced) -> Resolved | None:
    """The share of all members at which everybody whom an option names was there."""
    there = [people - set(cues.people) for people in found.company]
    with_somebody = [people for people in there if people - {found.wearer}]
    if not with_somebody:
        return None
    scores = tuple(
        sum(names_all(option, people, found.wearer) == 1.0 for people in with_somebody) / len(with_somebody)
        for option in options
    )
    best = options[max(range(len(options)), key=lambda number: (scores[number], -number))]
    names = ", ".join(found.wearer if name == WEARER else name for name in people_in(best))
    telling = next((people for people in found.shown if names_all(best, people, found.wearer) == 1.0), None)
    basis = "" if telling is None else written_company(telling)
    return Resolved(scores, basis, f"people {names} at {max(scores):.0%} of {len(with_somebody)} records")


def _habit(
    options: Sequence[str], question: Question, cues: Cues, found: Evidenced, match: Match, settings: ImprintSettings
) -> Resolved | None:
    """The share of the votes of all members for each option, where each member votes by the field that is asked for."""
    votes = Counter(value for record in found.members for value in [_value(record, cues, question)] if value)
    if not votes:
        return None
    values = [value for value, _ in sorted(votes.items(), key=lambda item: (-item[1], item[0]))[:MOST_VALUES]]
    if cues.asked == "who":
        table = [[names_all(option, [value], found.wearer) for value in values] for option in options]
    else:
        table = match(options, values)
    total = sum(votes.values())
    shares = [0] * len(options)
    backing: dict[int, str] = {}
    for column, value in enumerate(values):
        best = max(range(len(options)), key=lambda number: (table[number][column], -number))
        if table[best][column] >= settings.theta:
            shares[best] += votes[value]
            backing.setdefault(best, value)
    if not backing:
        return None
    scores = tuple(share / total for share in shares)
    winner = max(range(len(options)), key=lambda number: (scores[number], -number))
    value = backing[winner]
    return Resolved(scores, "", f"{value!r} in {shares[winner]} of {total} records")


def _value(record: Record, cues: Cues, question: Question) -> str:
    """What a member votes with: the field that the question asks for, where it tells more than the question."""
    if cues.asked == "who":
        return next((name for name in people_of(record) if name not in cues.people), "")
    value = (record.location or "") if cues.asked == "where" else record.object
    return value if value and adds_to(value, question.text) else ""


def told_by(question: Question, number: int, records: Sequence[Record], match: Match, wearer: str, theta: float) -> str:
    """The first field of some records that tells the option of that number; "" for none.

    It does so by containment of lemmas or a cosine of at least theta. A time is told by a record that lies in it,
    people by a record in which all of them take part. What the question says itself tells nothing.
    """
    option, windows = question.choices[number][1], times_of(question)
    if windows:
        inside = [one for one in records if any(first <= one.start_ms <= last for first, last in windows[number])]
        return written_time(inside[0]) if inside else ""
    for record in records:
        if names_all(option, people_of(record), wearer) == 1.0:
            return written_people(record)
    told = list(dict.fromkeys(pair for record in records for pair in fields_of(record)))
    told = [pair for pair in told if adds_to(pair[1], question.text) and _is_apart(pair, number, question)]
    held = next((pair for pair in told if _holds(option, pair)), None)
    compared = [pair for pair in told if pair[0] not in ("speech", "person", "action")]
    if held is None and compared:
        row = match([option], [value for _, value in compared])[0]
        held = compared[row.index(max(row))] if max(row) >= theta else None
    return written(*held) if held else ""


def _holds(option: str, field: tuple[str, str]) -> bool:
    """Whether a field tells an option by its lemmas; a few words of speech inside an option do not."""
    name, value = field
    return contains(option, value) and (name != "speech" or len(value) >= len(option))


def _is_apart(field: tuple[str, str], number: int, question: Question) -> bool:
    """Whether a field's words are those of no other option, so that it can tell them apart."""
    others = [text for place, (_, text) in enumerate(question.choices) if place != number]
    return not any(contains(other, field[1]) for other in others)

"""What a record tells, field by field, and whether a field tells an option (Imprint section 4.1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from ray_tasks.corpus.week_time import format_for_people
from ray_tasks.embedding.whole_vectors import Float32, cosines, whole_vectors
from ray_tasks.extraction.records.types import Record
from ray_tasks.index.lexical import tokenize
from ray_tasks.retrieval.choice_kinds import WEARER, people_in
from ray_tasks.retrieval.types import Embed

_COMPANION: Final = re.compile(r"^(?:with|to|for|from|beside) ([A-Z][\w'-]*(?: [A-Z][\w'-]*)*)$")
_NAMED: Final = ("person", "action", "object", "tool", "app", "location", "speech")


def people_of(record: Record) -> tuple[str, ...]:
    """Who takes part in a record: who acts first, then those whom its object and attributes name."""
    others = [found.group(1) for one in record.attributes if (found := _COMPANION.match(one))]
    named = [record.object] if record.object[:1].isupper() and " " not in record.object else []
    return tuple(dict.fromkeys((record.person, *named, *others)))


def fields_of(record: Record) -> tuple[tuple[str, str], ...]:
    """(name, value) of all that a record tells, its time left out; attributes come one by one."""
    told = [(name, getattr(record, name) or "") for name in _NAMED]
    told += [("attribute", one) for one in record.attributes]
    return tuple((name, value) for name, value in told if value)


def written(name: str, value: str) -> str:
    """A field as it is kept with an answer."""
    return f"{name}: {value}"


def written_time(record: Record) -> str:
    """When a record was, as it is kept with an answer."""
    return written("time", format_for_people(record.start_ms))


def written_people(record: Record) -> str:
    """Who takes part in a record, as it is kept with an answer."""
    return written("people", ", ".join(people_of(record)))


def written_company(people: Iterable[str]) -> str:
    """Everybody who was there at a record, as it is kept with an answer."""
    return written("there", ", ".join(sorted(people)))


def all_written(records: Iterable[Record], company: Iterable[frozenset[str]] = ()) -> tuple[str, ...]:
    """All fields of some records, each once, and who was there at each of them where that is known."""
    told = dict.fromkeys(map(written_company, company))
    for record in records:
        told |= dict.fromkeys((written_time(record), written_people(record)))
        told |= dict.fromkeys(written(name, value) for name, value in fields_of(record))
    return tuple(told)


def describe(record: Record) -> str:
    """A record for people: its time and its fields in order."""
    told = ", ".join(f"{name} {value!r}" for name, value in fields_of(record))
    return f"{format_for_people(record.start_ms)} {told}"


@lru_cache(maxsize=65_536)
def _lemmas(text: str) -> frozenset[str]:
    return frozenset(tokenize(text))


def contains(option: str, value: str) -> bool:
    """Whether one of two texts holds all lemmas of the other; texts without content hold nothing."""
    ours, theirs = _lemmas(option), _lemmas(value)
    return bool(ours) and bool(theirs) and (ours <= theirs or theirs <= ours)


def adds_to(value: str, question: str) -> bool:
    """Whether a field tells anything that is not already in the question."""
    return bool(_lemmas(value) - _lemmas(question))


def names_all(option: str, people: Iterable[str], wearer: str) -> float:
    """The share of an option's people ("Mara, me") who are among some people; 0 for an option that names nobody."""
    known = {name.casefold() for name in people}
    asked = [(wearer if name == WEARER else name).casefold() for name in people_in(option)]
    return sum(name in known for name in asked) / len(asked) if asked else 0.0


class Matcher:
    """Compares options with fields: 1 where one contains the other, else their cosine.

    `known` gives the whole vectors of texts that need not be embedded, those of the memory's own phrases.
    Vectors are kept as long as the matcher lives, so it should live for one batch.
    """

    def __init__(self, embed: Embed, known: Callable[[str], Float32 | None] = lambda _: None) -> None:
        self._embed, self._recall = embed, known
        self._known: dict[str, Float32] = {}

    def learn(self, texts: Iterable[str]) -> None:
        """Embeds texts that are not known yet, in one call."""
        fresh = []
        for text in dict.fromkeys(texts):
            if text not in self._known:
                vector = self._recall(text)
                if vector is None:
                    fresh.append(text)
                else:
                    self._known[text] = vector
        if fresh:
            self._known.update(zip(fresh, whole_vectors(self._embed(fresh)), strict=True))

    def vector(self, text: str) -> Float32:
        """The whole vector (d,) of a text."""
        self.learn([text])
        return self._known[text]

    def matches(self, options: Sequence[str], values: Sequence[str]) -> list[list[float]]:
        """How well each option is told by each value; options that are empty match nothing."""
        if not options or not values:
            return [[] for _ in options]
        self.learn([*options, *values])
        stacked = [np.stack([self._known[text] for text in texts]) for texts in (options, values)]
        alike = cosines(stacked[0], stacked[1])
        return [
            [
                (1.0 if contains(option, value) else float(alike[row, column])) if option.strip() else 0.0
                for column, value in enumerate(values)
            ]
            for row, option in enumerate(options)
        ]


Match = Callable[[Sequence[str], Sequence[str]], list[list[float]]]
"""Matcher.matches, or a stand-in of it."""

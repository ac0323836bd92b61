"""What kind of thing the choices of a question are: people, times, counts, yes or no, or anything else."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from ray_tasks.retrieval.numbers import numbers_in
from ray_tasks.retrieval.time_query import choice_windows
from ray_tasks.retrieval.types import Question

Kind = Literal["person", "time", "count", "yes_no", "other"]
Span = tuple[int, int]

_ASKS_PERSON = re.compile(
    r"\b(?:who|whom|whose)\b|\bwhich (?:\w+ ){0,2}(?:of (?:us|them|you|the following)|people|persons?|friends?)\b"
)
_ASKS_COUNT = re.compile(r"\bhow (?:many|much)\b|\bnumber of\b|\bhow often\b")
_ASKS_DAYS = re.compile(r"\bhow many (?:different )?days\b")
_ASKS_TIMES = re.compile(r"\bhow many (?:different )?(?:times|occasions|days)\b|\bhow often\b")
_NEGATION = re.compile(
    r"\b(?:not|never|nobody|no one|without|missing|absent|left out|except|least|rarely|seldom|skipped)\b|n't\b"
)
_YES_NO = frozenset(["yes", "no", "true", "false", "maybe", "unsure"])
_SEPARATOR = re.compile(r"\s*(?:,|;|/|&|\+|\band\b|\bor\b|\bwith\b)\s*", re.IGNORECASE)
FIRST_PERSON = ("I", "me", "my", "mine", "myself", "we", "us", "our", "We", "My", "Our")
"""Words by which rows speak of the wearer."""
_FIRST_PERSON = re.compile(rf"\b(?:{'|'.join(FIRST_PERSON)})\b")
_WEARER_WORDS = frozenset(["i", "me", "my", "mine", "myself"])
WEARER = "I"
"""How the wearer is named among people."""


def kind_of(question: Question) -> Kind:
    """The kind of a question's choices; "other" where nothing more special fits."""
    texts = [text for _, text in question.choices if text.strip()]
    low = question.text.lower().replace("’", "'")
    if times_of(question):
        return "time"
    if texts and all(text.strip(" .!").lower() in _YES_NO for text in texts):
        return "yes_no"
    if _ASKS_PERSON.search(low) and texts and sum(_may_be_people(text) for text in texts) * 2 > len(texts):
        return "person"
    if texts and all(numbers_in(text) for text in texts) and (_ASKS_COUNT.search(low) or all(map(_is_number, texts))):
        return "count"
    return "other"


def times_of(question: Question) -> tuple[tuple[Span, ...], ...]:
    """The windows of week time of each choice, where at least three choices (all of two) are times; else nothing."""
    found = tuple(
        tuple((window.start_ms, window.end_ms) for window in choice_windows(text, question.at_ms))
        for _, text in question.choices
    )
    needed = min(3, max(len(found), 2))
    return found if sum(bool(windows) for windows in found) >= needed else ()


def is_negated(question: Question) -> bool:
    """Whether a question asks for who or what is absent ("Who did not come?", "Who is missing?")."""
    return bool(_NEGATION.search(question.text.lower().replace("’", "'")))


def asks_times(question: Question) -> bool:
    """Whether a question asks how often something happened, not how many of a thing there are."""
    return bool(_ASKS_TIMES.search(question.text.lower()))


def asks_days(question: Question) -> bool:
    """Whether a question asks on how many days something happened."""
    return bool(_ASKS_DAYS.search(question.text.lower()))


def people_in(choice: str) -> tuple[str, ...]:
    """The people of a choice, the wearer as WEARER: "Mara's and me" -> ("Mara", "I")."""
    names: list[str] = []
    for part in _SEPARATOR.split(choice):
        name = re.sub(r"['’]s?$", "", part.strip(" .!?"))
        if name:
            names.append(WEARER if name.lower() in _WEARER_WORDS else name)
    return tuple(dict.fromkeys(names))


def mentions(person: str, text: str, view: str, wearer_name: str) -> bool:
    """Whether a row names a person: by name anywhere; the wearer also as "I", "me", "my", "we" or "us".

    In rows of speech these words count only before the colon ("Mara tells me: ..."), since behind it they are whoever
    speaks.
    """
    if person != WEARER:
        return _naming(person).search(text) is not None
    own = text.split(":", 1)[0] if view in ("utterance", "conversation") else text
    return _FIRST_PERSON.search(own) is not None or _naming(wearer_name).search(own) is not None


@lru_cache(maxsize=1024)
def _naming(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)


def _may_be_people(text: str) -> bool:
    people = people_in(text)
    return bool(people) and all(len(person.split()) <= 3 and not numbers_in(person) for person in people)


def _is_number(text: str) -> bool:
    return len(numbers_in(text)) == 1 and len(text.split()) <= 2

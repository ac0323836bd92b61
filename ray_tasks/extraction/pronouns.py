"""Third-person pronouns: put a name where exactly one is possible, and otherwise leave the expression as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from ray_tasks.extraction.verbs import verb_forms
from ray_tasks.extraction.wordlists import ADVERBS, CONJUNCTIONS, PARTICLES, PREPOSITIONS, PRONOUNS

_SINGULAR: Final = re.compile(r"\b(he|she|him|his|her|hers)\b('s)?", re.IGNORECASE)
_THIRD_PERSON: Final = re.compile(
    r"\b(?:he|she|him|it|they|them|himself|herself|itself|themselves|theirs|hers)\b", re.IGNORECASE
)
_HER: Final = re.compile(r"\bher\b(?: ([A-Za-z']+))?", re.IGNORECASE)
_AFTER_OBJECT: Final = (
    ADVERBS | CONJUNCTIONS | PARTICLES | PREPOSITIONS | PRONOUNS | {"the", "a", "an", "my", "this", "again"}
)
_EXPLETIVE: Final = re.compile(r"\bit(?:'s| is| was)? (?:rain|snow|time|late|early|seems|looks like)", re.IGNORECASE)


def names_person(text: str) -> bool:
    """Whether a text holds a pronoun for one person: he, she, him, his, her."""
    return _SINGULAR.search(text) is not None


def put_name(text: str, name: str) -> str:
    """A text with he, she, him, his and her replaced by a name: ``She takes her coat`` -> ``Mara takes her coat``.

    Once the name stands in the text, later possessives refer to it and stay.
    """
    done = False

    def replace(match: re.Match[str]) -> str:
        nonlocal done
        word, contracted = match.group(1).lower(), match.group(2)
        possessive = word == "his" or (word == "her" and not _is_object(text, match.start()))
        if possessive and done:
            return match.group()
        done = True
        if contracted:
            return f"{name} {_is_or_has(text[match.end() :])}"
        return f"{name}'s" if possessive else name

    return _SINGULAR.sub(replace, text)


@lru_cache(maxsize=65_536)
def has_unresolved(text: str) -> bool:
    """Whether a text has a third-person pronoun as subject or object (EgoCITE A.1); possessives do not count."""
    if _EXPLETIVE.search(text):
        text = _EXPLETIVE.sub(" ", text)
    if any(_is_object(text, match.start()) for match in _HER.finditer(text)):
        return True
    return _THIRD_PERSON.search(text) is not None


def _is_object(text: str, position: int) -> bool:
    """Whether a "her" at a position is an object ("I give her the jug") rather than a possessive ("her jug")."""
    match = _HER.match(text, position)
    if match is None:
        return True
    follower = (match.group(1) or "").lower()
    return not follower or follower in _AFTER_OBJECT


def _is_or_has(rest: str) -> str:
    words: Sequence[str] = [word.strip(".,!?").lower() for word in rest.split()[:3] if word.lower() not in ADVERBS]
    forms = verb_forms(words[0]) if words else frozenset()
    return "has" if "past" in forms and "ing" not in forms else "is"

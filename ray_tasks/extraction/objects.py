"""The one object of a clause, and "it" and "them" put back to what they stand for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from ray_tasks.extraction.predicate import EDGE, WEARER_WORDS, find_predicate, low
from ray_tasks.extraction.verbs import verb_base, verb_forms
from ray_tasks.extraction.wordlists import ADVERBS, BODY, DETERMINERS, FUNCTION_WORDS, PARTICLES, PREPOSITIONS, word_set

_LONGEST_NOUN_PHRASE: Final = 4
_NO_THING: Final = (
    word_set(
        """
    look bit moment while time one thing way lot few place step steps left right side front back top others
    other same sip bite position direction circle piece pieces spot level try turn break rest
"""
    )
    | BODY
)
_IDIOMS: Final = word_set("do find think make give get say know let have be mean try see like feel help")
_WITH_VERB: Final = word_set("up down out off back away apart on")
_INDEFINITE: Final = word_set("a an some one another")
_IT: Final = re.compile(r"\b([a-z]+) (it|them)\b(?!'| (?:is|was|will|would|has|can|could|may)\b)", re.IGNORECASE)


@lru_cache(maxsize=65_536)
def single_object(clause: str) -> tuple[str, bool] | None:
    """The only thing a clause names, as the direct object of its verb, and whether it is plural.

    ``I pick up a blue jug.`` -> ("the blue jug", False). None where there is no such thing, or where any word might
    be a second one.
    """
    words = clause.split()
    predicate = find_predicate(words)
    if predicate is None:
        return None
    position, found = predicate.verb + 1, None
    while position < len(words):
        word = low(words[position])
        if word in DETERMINERS and word not in PARTICLES:
            end = _noun_phrase_end(words, position)
            if end == position + 1 or found is not None:
                return None
            found, position = words[position:end], end
        elif word in ADVERBS or word in (_WITH_VERB if found is None else PARTICLES | PREPOSITIONS):
            position += 1
        else:
            return None
    return _as_phrase(found) if found else None


def _noun_phrase_end(words: Sequence[str], start: int) -> int:
    end = start + 1
    while end < len(words) and end - start <= _LONGEST_NOUN_PHRASE and low(words[end]) not in FUNCTION_WORDS:
        end += 1
        if words[end - 1][-1] in EDGE:
            break
    return end


def _as_phrase(words: Sequence[str]) -> tuple[str, bool] | None:
    head = low(words[-1])
    if head in _NO_THING or "'" in head or verb_forms(head) == {"past"} or head.endswith(("ing", "ly")):
        return None
    determiner = "the" if low(words[0]) in _INDEFINITE else low(words[0])
    plural = head.endswith("s") and not head.endswith(("ss", "us")) and low(words[0]) not in _INDEFINITE
    return " ".join([determiner, *(word.strip(EDGE) for word in words[1:])]), plural


def needs_object(clause: str) -> bool:
    """Whether a clause has "it" or "them" somewhere other than as its subject."""
    return _IT.search(clause) is not None


def fill_object(clause: str, earlier: str) -> str | None:
    """A clause with the "it" or "them" that directly follows its verb replaced by the only object of an earlier clause.

    None where that is unclear. Idioms such as "do it" and "give it a try" point at no thing.
    """
    match = _IT.search(clause)
    candidate = single_object(earlier)
    if match is None or candidate is None:
        return None
    verb, pronoun = match.group(1).lower(), match.group(2).lower()
    phrase, plural = candidate
    if phrase in clause or not verb_forms(verb) or verb_base(verb) in _IDIOMS or plural != (pronoun == "them"):
        return None
    return clause[: match.start(2)] + phrase + clause[match.end(2) :]


def same_actor(clause: str, earlier: str) -> bool:
    """Whether two clauses begin with the same subject; "I" and "we" count as one."""
    first, second = (low(text.split(" ", 1)[0]) for text in (clause, earlier))
    return first == second or (first in WEARER_WORDS and second in WEARER_WORDS)

"""A statement as the validators see it: words, the people it begins with, its main verb, and its clause."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from ray_tasks.extraction.llm.speech_verbs import speech_base
from ray_tasks.extraction.verbs import verb_base
from ray_tasks.extraction.wordlists import ADVERBS, AUXILIARIES, FUNCTION_WORDS, INTERJECTIONS, word_set
from ray_tasks.extraction.words import is_content

CLAUSE_WORDS: Final = word_set("that whether if what who whom whose which where when why how")
"""Words that open the clause which tells what is said."""

_EDGE: Final = ".,!?:;…，。()"
_CONTRACTION: Final = re.compile(r"^(.+)'(m|re|ve|ll|d|s)$")
_BARE: Final = word_set("as if like so")


@dataclass(frozen=True)
class Statement:
    """A normalised text. `low` are its words in lower case without punctuation; `verb` is where its main verb stands,
    `subjects` are the names (and "I") before it, empty where it begins with anything else.
    """

    text: str
    words: tuple[str, ...]
    low: tuple[str, ...]
    subjects: tuple[str, ...]
    verb: int

    @cached_property
    def base(self) -> str:
        """The base form of the main verb; the word itself where it is unknown, "" where there is none."""
        word = self.low[self.verb] if self.verb < len(self.low) else ""
        return speech_base(word) or verb_base(word) or word

    @cached_property
    def clause(self) -> int | None:
        """Where the clause after the main verb begins ("that", "whether", "what", ...), if there is one.

        Not counted is a "that" of a relative clause: "picks up the jug that leaks".
        """
        for position in range(self.verb + 1, len(self.low)):
            if self.low[position] in CLAUSE_WORDS and not self._is_relative(position):
                return position
        return None

    def _is_relative(self, position: int) -> bool:
        """Whether a clause word follows the noun that it tells about, rather than a verb of speech or its hearer."""
        before = self.low[position - 1]
        if self.low[position] not in ("that", "who", "which", "where", "when"):
            return False
        return self.is_thing(position - 1) and speech_base(before) is None and speech_base(self.low[self.verb]) is None

    def is_name(self, position: int) -> bool:
        """Whether a word after the first looks like a name."""
        word = self.words[position]
        return word[:1].isupper() and self.low[position] not in FUNCTION_WORDS and self.low[position] != "i"

    def is_thing(self, position: int) -> bool:
        """Whether a word can name a thing: it has content and is neither a name nor only a verb."""
        word = self.low[position]
        if self.is_name(position) or not is_content(word):
            return False
        return verb_base(word) is None or (position > 0 and self.low[position - 1] in _THING_STARTS)


_THING_STARTS: Final = word_set(
    "the a an my his her its our their your some any no one two three four five six all both"
)


@lru_cache(maxsize=8192)
def read_statement(text: str) -> Statement:
    """The parts of a text that stands in one line with straight apostrophes."""
    words = tuple(word for raw in text.split() for word in _apart(raw))
    low = tuple(word.strip(_EDGE).lower() for word in words)
    subjects, position = _subjects(words, low)
    while position < len(low) and (low[position] in AUXILIARIES or low[position] in ADVERBS):
        position += 1
    if position >= len(low) or (position > 0 and low[position - 1] in AUXILIARIES and _is_no_verb(low[position])):
        position = max(0, position - 1)  # an auxiliary as the main verb: "I am in the kitchen"
    return Statement(text, words, low, subjects, position)


def _apart(word: str) -> tuple[str, ...]:
    """``I'm`` -> ``I``, ``'m``; other words stay whole."""
    match = _CONTRACTION.match(word)
    if match and (match.group(2) != "s" or match.group(1).lower() in ("he", "she", "it", "that", "there")):
        return match.group(1), "'" + match.group(2)
    return (word,)


def _is_no_verb(word: str) -> bool:
    return verb_base(word) is None and speech_base(word) is None and not word.endswith(("ing", "ed", "en"))


def _subjects(words: tuple[str, ...], low: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """The people named before the verb, joined by commas and "and", and where what follows them begins."""
    names: list[str] = []
    position = 0
    while position < len(words):
        end = position
        while end < len(words) and _may_be_name(words[end], low[end]):
            end += 1
            if words[end - 1].endswith(",") or low[end - 1] == "i":
                break
        if end == position:
            break
        names.append(" ".join(word.strip(_EDGE) for word in words[position:end]))
        more = words[end - 1].endswith(",")
        if end < len(words) and low[end] == "and":
            end, more = end + 1, True
        position = end
        if not more:
            break
    return tuple(names), position


def _may_be_name(word: str, low: str) -> bool:
    if low == "i":
        return True
    plain = low.removesuffix("'s")
    return word[:1].isupper() and plain not in FUNCTION_WORDS and plain not in INTERJECTIONS and plain not in _BARE

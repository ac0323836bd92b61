"""Words: tokens, stems, and which words carry content."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any, Final

from ray_tasks.extraction.letters import LOWER
from ray_tasks.extraction.verbs import verb_base
from ray_tasks.extraction.wordlists import (
    DETERMINERS,
    FUNCTION_WORDS,
    GENERIC_VERBS,
    INTERJECTIONS,
    PLACES,
    TIME_WORDS,
    VAGUE,
)

_WORD: Final = re.compile(rf"[{LOWER}0-9]+(?:'[{LOWER}]+)?|[\u3400-\u9fff]+")
_THINGS_TOO: Final = frozenset({"watch", "watches"})
"""Verbs without content that name a thing after a determiner: "my watch"."""
_QUOTES: Final = re.compile(r"[\"“”„«»「」『』]")
_SINGLE_QUOTED: Final = re.compile(r"(?<!\w)'([^']{2,}?)'(?!\w)")
_CJK: Final = re.compile(r"[\u3400-\u9fff]")
_LATIN: Final = re.compile(r"[A-Za-z]{2,}")


@lru_cache(maxsize=65_536)
def lower_words(text: str) -> tuple[str, ...]:
    """The words of a text in lower case with straight apostrophes."""
    return tuple(_WORD.findall(text.lower().replace("’", "'")))


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The Snowball stem of a lower-case word."""
    return str(_stemmer().stemWord(word.removesuffix("'s")))


@lru_cache(maxsize=65_536)
def is_content(word: str) -> bool:
    """Whether a lower-case word carries content by itself."""
    if word in PLACES:
        return True
    if word in FUNCTION_WORDS or word in INTERJECTIONS or word in VAGUE or word in TIME_WORDS or is_laughter(word):
        return False
    if len(word) < 2 and not word.isdigit() and not _CJK.match(word):
        return False
    return verb_base(word) not in GENERIC_VERBS


@lru_cache(maxsize=65_536)
def content_words(text: str) -> tuple[str, ...]:
    """The lower-case words of a text that carry content, in order, repeats kept."""
    words = lower_words(text)
    return tuple(
        word
        for before, word in zip(("", *words), words, strict=False)
        if is_content(word) or (word in _THINGS_TOO and before in DETERMINERS)
    )


@lru_cache(maxsize=65_536)
def is_laughter(word: str) -> bool:
    """Whether a lower-case word is written laughter: ``ha``, ``hahaha``, ``hehe``."""
    return re.fullmatch(r"(?:a?(?:ha)+h?|(?:he){2,}|(?:hee){1,}|(?:ho){2,}|lol)", word) is not None


def without_quotes(text: str) -> str:
    """A text with its quote marks taken away, its apostrophes straight, and single spaces."""
    text = _QUOTES.sub("", text.replace("’", "'").replace("‘", "'"))
    if "'" in text:
        text = _SINGLE_QUOTED.sub(r"\1", text)
    return " ".join(text.split())


def is_english(text: str) -> bool:
    """Whether a text holds English words, rather than Chinese characters only."""
    return _LATIN.search(text) is not None or not _CJK.search(text)


def distinct(items: Iterable[str]) -> tuple[str, ...]:
    """The items without repeats, in order of first appearance."""
    return tuple(dict.fromkeys(items))

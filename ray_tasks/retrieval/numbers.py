"""Numbers as people write them: digits, words, "half a", "a couple of", "third"."""

from __future__ import annotations

import re

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth"
_UNITS = {word: value for value, word in enumerate(_SMALL.split())}
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_WORDS = _UNITS | _TENS
_VAGUE = {"a couple of": 2.0, "couple of": 2.0, "a couple": 2.0, "a few": 3.0, "few": 3.0, "several": 4.0, "some": 3.0}
_WORD = "|".join(sorted(_WORDS, key=len, reverse=True))
_PLAIN = rf"(?:\d+(?:\.\d+)?|{_WORD})(?: (?:{_WORD}))?(?: and a half)?"

NUMBER = rf"(?:\b(?:a couple of|couple of|a couple|a few|few|several|some|half an?|{_PLAIN}|an?))"
"""A pattern (without groups, for lower-case text without hyphens) of the amounts that number_of reads."""

ORDINAL = rf"(?:{'|'.join(_ORDINALS.split())}|\d+(?:st|nd|rd|th))"
"""A pattern of the places in an order that ordinal_of reads."""


def number_of(text: str) -> float:
    """The value of a text that matches NUMBER; raises ValueError for anything else."""
    text = text.strip().lower()
    if text in _VAGUE:
        return _VAGUE[text]
    if text in ("half a", "half an"):
        return 0.5
    half = 0.5 if text.endswith(" and a half") else 0.0
    words = text.removesuffix(" and a half").split()
    if words in (["a"], ["an"]):
        return 1.0
    values = [_WORDS[word] if word in _WORDS else _digits(word, text) for word in words]
    if not values:
        raise ValueError(f"not a number: {text!r}")
    return float(sum(values)) + half


def _digits(word: str, text: str) -> float:
    if not re.fullmatch(r"\d+(?:\.\d+)?", word):
        raise ValueError(f"not a number: {text!r}")
    return float(word)


def ordinal_of(text: str) -> int:
    """The place named in a text ("the third day" -> 3, "21st" -> 21); raises ValueError where there is none."""
    digits = re.search(r"\d+", text)
    if digits:
        return int(digits.group())
    for place, word in enumerate(_ORDINALS.split(), start=1):
        if re.search(rf"\b{word}\b", text.lower()):
            return place
    raise ValueError(f"not a place in an order: {text!r}")


def numbers_in(text: str) -> list[float]:
    """Every plain number in a text, in words or digits, in order ("a" and "an" do not count)."""
    return [number_of(word) for word in re.findall(rf"\b(?:\d+(?:\.\d+)?|{_WORD})\b", text.lower())]


def counted_in(text: str) -> list[tuple[float, str]]:
    """Every plain number in a text with the two words after it, which often are what is counted."""
    pattern = rf"\b(\d+(?:\.\d+)?|{_WORD})\b(?=((?:\W+[a-z'-]+){{0,2}}))"
    return [(number_of(word), following.strip()) for word, following in re.findall(pattern, text.lower())]

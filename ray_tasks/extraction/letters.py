"""Letters of alphabets with two cases (Latin with its accents, Greek, Cyrillic), to write inside a character class.

Names are told from words by their capital, and people are called Łukasz and Zoë too.
"""

from __future__ import annotations

from typing import Final

_ALPHABETS: Final = (range(0x41, 0x250), range(0x370, 0x530), range(0x1E00, 0x1F00))
_LETTERS: Final = [char for codes in _ALPHABETS for char in map(chr, codes) if char.isalpha()]

UPPER: Final = "".join(char for char in _LETTERS if char.isupper())
"""Capital letters."""
LOWER: Final = "".join(char for char in _LETTERS if char.islower())
"""Small letters."""


def has_case(word: str) -> bool:
    """Whether a word is written in letters of two cases; Chinese names are not."""
    return word.upper() != word.lower()


def begins_name(word: str) -> bool:
    """Whether a word may be a name by its first letter: a capital, or one of a script that has none."""
    return word[:1].isupper() or (word[:1].isalpha() and not has_case(word[:1]))

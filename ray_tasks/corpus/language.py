"""The language of a line, told by its script: Latin letters count as English, Han characters as Chinese."""

from __future__ import annotations

import re
from typing import Literal

Language = Literal["en", "zh", "und"]

_HAN_RANGES = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_LATIN_RANGES = "A-Za-z\u00c0-\u024f"
_HAN = re.compile(f"[{_HAN_RANGES}]")
_LATIN = re.compile(f"[{_LATIN_RANGES}]")
_FOREIGN = re.compile(rf"[^\W\d_{_LATIN_RANGES}{_HAN_RANGES}]")
_HAN_WEIGHT = 1.5
"""A Han character says about as much as one and a half letters; decides lines that mix both scripts."""


def has_han(text: str) -> bool:
    """Whether a text holds a Han character."""
    return _HAN.search(text) is not None


def language_of(text: str) -> Language:
    """The language of a line: the weightier of Latin letters and Han characters.

    `und` is a line without letters (numbers, laughter marks), or one mostly in another script (kana, Cyrillic, ...).
    """
    if text.isascii():
        return "en" if _LATIN.search(text) else "und"
    han, latin, foreign = len(_HAN.findall(text)), len(_LATIN.findall(text)), len(_FOREIGN.findall(text))
    if foreign * 2 > han and foreign > latin:
        return "und"
    if han:
        return "zh" if _HAN_WEIGHT * han >= latin else "en"
    return "en" if latin else "und"

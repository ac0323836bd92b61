"""What makes a translation from Chinese usable, and what is wrong with one that is not."""

from __future__ import annotations

import re
from typing import Final

from ray_tasks.corpus.language import has_han, language_of

FAULTS: Final = {
    "missing": "there was no translation under its number",
    "ambiguous": "there were several translations under its number",
    "empty": "the translation was empty",
    "chinese": "it is still Chinese; write it in English",
    "other_script": "it is not written in Latin letters",
    "too_long": "it is far longer than the row; translate the row and add nothing",
    "off_task": "it speaks of translating instead of saying what the row says",
    "characters_left": "Chinese characters are left in it; write names in pinyin",
    "name_changed": "a name that the row writes in Latin letters is not in it",
}
"""What can be wrong with a translation, and how the model is told."""

SOFT: Final = frozenset({"characters_left", "name_changed"})
"""Faults with which a translation is better than the Chinese row, once the model has been asked again."""

_NAME: Final = re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z-]{2,}")
_OF_THE_TASK: Final = re.compile(r"\b(?:translat\w+|as an ai|language model|json)\b", re.IGNORECASE)
_MAY_SPEAK_OF_IT: Final = re.compile(r"翻译|譯|译|模型|AI|JSON", re.IGNORECASE)
_LETTERS_FOR_ONE: Final = 15
_LETTERS_TO_SPARE: Final = 80


def fault_of(chinese: str, english: str) -> str:
    """What is wrong with a translation, or ""."""
    language = language_of(english)
    if not english:
        return "empty"
    if language == "zh":
        return "chinese"
    if language == "und" and any(character.isalpha() for character in english):
        return "other_script"
    if len(english) > _LETTERS_FOR_ONE * len(chinese) + _LETTERS_TO_SPARE:
        return "too_long"
    if _OF_THE_TASK.search(english) and not _MAY_SPEAK_OF_IT.search(chinese):
        return "off_task"
    if has_han(english):
        return "characters_left"
    lower = english.lower()
    return "name_changed" if any(name.lower() not in lower for name in _NAME.findall(chinese)) else ""

"""Who speaks: ``Name: text`` at the start of a line, told from sentences, clock times and addresses with a colon."""

from __future__ import annotations

import re
from functools import lru_cache

from ray_tasks.corpus.language import has_han

MAX_LABEL_CHARACTERS = 30
MAX_LABEL_WORDS = 4
MAX_HAN_LABEL_CHARACTERS = 8
"""A longer Chinese label is a sentence that a recogniser glued to a name."""

_LABELLED = re.compile(r"([^:：]{1,60})[:：](.*)", re.DOTALL)
_NO_LABEL_CHARACTER = re.compile(r"[,!?;\"“”‘*%=<>{}\[\]\\@#|~，。！？；、…《》「」]")
_LETTER = re.compile(r"[^\W\d_]")
_CONNECTORS = frozenset({"and", "or", "of", "the", "a", "an", "de", "la", "von", "van"})
_OPENERS = """
a about after also and any are as at because before but by can could did do does during every for from had has have he
her here his how if in into is it it's its just let let's like maybe my no not now of oh ok okay on once one only or our
please remember she should since so some such than that that's the their them then there these they this those through
till to today tomorrow until was we well were what what's when where which while who whose why will with would yes
yesterday yet you your
"""
_SENTENCE_OPENERS = frozenset(_OPENERS.split())


def split_label(line: str) -> tuple[str | None, str]:
    """(speaker, text) of a line; the speaker is None where the line names nobody.

    A label ends at the first half- or full-width colon. It has a letter, at most 30 characters and four words (eight
    characters where they are Chinese), no sentence punctuation, and does not begin like a sentence. White space in it
    is collapsed; a label that is repeated before the text is dropped.
    """
    line = line.strip()
    match = _LABELLED.match(line)
    label = _label_of(match.group(1)) if match else None
    if not match or not label:
        return None, line
    text = match.group(2)
    # 19:30 is a clock time and http:// an address
    if text.startswith("//") or (text[:1].isdigit() and match.group(1)[-1:].isdigit()):
        return None, line
    text = text.strip()
    again = _LABELLED.match(text) if label in text else None
    while again and _label_of(again.group(1)) == label:
        text = again.group(2).strip()
        again = _LABELLED.match(text)
    return label, text


@lru_cache(maxsize=4096)
def _label_of(written: str) -> str | None:
    """The label as it is kept, or None where it cannot be a name."""
    label = " ".join(written.split()).rstrip(".")
    return label if is_label(label) else None


def is_label(label: str) -> bool:
    """Whether the text before a colon can be a speaker's name."""
    if not 0 < len(label) <= MAX_LABEL_CHARACTERS or _NO_LABEL_CHARACTER.search(label) or not _LETTER.search(label):
        return False
    if has_han(label):
        return len(label) <= MAX_HAN_LABEL_CHARACTERS
    words = label.split()
    if len(words) > MAX_LABEL_WORDS or words[0].casefold() in _SENTENCE_OPENERS:
        return False
    # "Male guest" is a name, "Whatever she said" is not: from three words on, each must be written like a name
    return len(words) < 3 or all(_like_a_name(word) for word in words)


def _like_a_name(word: str) -> bool:
    first = _LETTER.search(word)
    return word in _CONNECTORS or first is None or not first.group().islower()

"""What a model answers about a window, to a text that can be kept, or the word for why it cannot."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel, Field

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[.!?][\"')\]])\s+")
_MARK = re.compile(r"^\s*(?:[-*•]\s+|\d{1,2}[.)]\s+|```\w*)")
_WORD = re.compile(r"[^\W_]+")
_SEEING = r"(?:view|see|process|access|analy[sz]e|describe|watch|interpret|open|assist|help|comply|fulfil\w*)"
_SHOWN = r"(?:image|picture|photo|video|clip|frame|footage|request|content|file)s?\b"
_REFUSAL = re.compile(
    rf"^(?:(?:i['’]m|i am) (?:really |very )?sorry\b|i apologi[sz]e\b|sorry,|as an ai\b|unfortunately,? i\b"
    rf"|(?:i['’]m|i am) (?:unable|not able) to {_SEEING}\b"
    rf"|i (?:can['’]?t|cannot|can not) {_SEEING} [^.]*{_SHOWN})",
    re.IGNORECASE,
)
_SHORTEST_LOOP: Final = 16
_LEAST_NEW: Final = 0.5

FAULTS: Final = {
    "empty": "it said nothing",
    "too_long": "it was too long",
    "truncated": "it was too long and broke off",
    "loop": "it said the same over and over",
    "refused": "it spoke of the task instead of what can be seen",
}
"""Replies that are worth asking again for, and how the model is told."""


class Description(BaseModel):
    """The reply that is asked for as JSON. The bound is told to the model, but judged by judge()."""

    sentences: list[str] = Field(
        description="what is done and seen, in order of time, one short sentence each",
        json_schema_extra={"maxItems": 24},
    )


def split_prose(text: str) -> list[str]:
    """The sentences of a reply in prose, without bullets, numbers, fences and an opening that only announces them."""
    lines = [_MARK.sub("", line).strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.endswith(":")]
    return [sentence for line in lines for sentence in _SENTENCE_END.split(line)]


def judge(sentences: Sequence[str], max_sentences: int, max_words: int) -> tuple[str, str | None]:
    """(text, None) of sentences that can be kept, else ("", a word of FAULTS)."""
    kept = [clean for sentence in sentences if (clean := " ".join(sentence.replace("\x00", "").split()))]
    text = " ".join(sentence if sentence[-1] in ".!?\"'”’" else f"{sentence}." for sentence in kept)
    words = _WORD.findall(text.casefold())
    if not words:
        return "", "empty"
    if _REFUSAL.match(text):
        return "", "refused"
    if loops(words):
        return "", "loop"
    if len(kept) > max_sentences or len(words) > max_words:
        return "", "too_long"
    return text, None


def loops(words: Sequence[str]) -> bool:
    """Whether at least half of the runs of three words have been said before."""
    runs = list(zip(words, words[1:], words[2:], strict=False))
    return len(words) >= _SHORTEST_LOOP and len(set(runs)) <= _LEAST_NEW * len(runs)

"""Replies of the response agent: what they look like, and how a letter, a text and cited times are read from them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from ray_tasks.engines.messages import ChatReply
from ray_tasks.retrieval.llm.letters import read_letter
from ray_tasks.retrieval.llm.time_text import TimeTextError, read_time
from ray_tasks.retrieval.types import Evidence, Status

LONGEST_REASON: Final = 2000
_TIME = re.compile(r"DAY\d{1,4}[ _]\d{1,2}:?\d{2}:?\d{2}(?:\d{2})?", re.IGNORECASE)
Cited = Annotated[list[Annotated[str, Field(max_length=60)]], Field(max_length=20)]
Reason = Annotated[str, Field(max_length=LONGEST_REASON)]


class FreeReply(BaseModel):
    """An answer to a question without choices."""

    model_config = ConfigDict(extra="forbid")

    reason: Reason
    cited: Cited
    answer: Annotated[str, Field(max_length=600)]


@lru_cache(maxsize=64)
def reply_model(letters: tuple[str, ...]) -> type[BaseModel]:
    """The model of a reply: its answer is one of the letters, or free where there are none."""
    if not letters:
        return FreeReply
    letter = Literal[letters]  # type: ignore[valid-type]
    config = ConfigDict(extra="forbid")
    return create_model(
        "ChoiceReply", __config__=config, reason=(Reason, ...), cited=(Cited, ...), answer=(letter, ...)
    )


@dataclass(frozen=True, slots=True)
class Stated:
    """What a reply says. letter: None for a free answer, and where there is none; note: why, or how weakly.

    error: what was wrong where there is no reply at all.
    """

    status: Status
    text: str
    letter: str | None = None
    cited: tuple[str, ...] = ()
    note: str = ""
    error: str = ""


def stated_in(reply: ChatReply, letters: Sequence[str]) -> Stated:
    """What a reply states, by its structure or, in prose, by its last stated letter."""
    parsed = reply.parsed
    if parsed is None:
        return stated_in_prose(reply.text, letters)
    said = parsed.model_dump()
    reason, answer, cited = str(said["reason"]).strip(), str(said["answer"]).strip(), tuple(said["cited"])
    if letters:
        return Stated("answered", reason, answer, cited)
    return Stated("answered" if answer else "unparsed", answer or reason, None, cited)


def stated_in_prose(text: str, letters: Sequence[str]) -> Stated:
    """What prose states; a letter that is not offered, or one of two, is none."""
    said = text.strip()[:LONGEST_REASON]
    if not letters:
        return Stated("answered" if said else "unparsed", said)
    letter = read_letter(text, letters)
    note = "" if letter.status == "answered" else f"letter_{letter.status}"
    return Stated(letter.answer_status, said, letter.label, tuple(dict.fromkeys(_TIME.findall(said))), note)


def cited_captions(
    cited: Sequence[str], shown: Sequence[Evidence], at_ms: int
) -> tuple[tuple[tuple[int, int], ...], int]:
    """The intervals of the shown captions that the cited times lie in, in order, and how many times lie in none."""
    found: set[tuple[int, int]] = set()
    lost = 0
    for text in cited:
        try:
            time = read_time(text, at_ms)
        except TimeTextError:
            time = None
        holding = [
            (caption.start_ms, caption.end_ms)
            for caption in shown
            # Times are shown to the second, so a caption's start may be up to a second after what is cited.
            if time is not None and caption.start_ms < time.start_ms + 1000 and time.start_ms <= caption.end_ms
        ]
        lost += not holding
        found.update(holding[-1:])
    return tuple(sorted(found)), lost

"""Time expressions in English text as windows of week time, seen from the moment of a question.

What people say is vague ("at noon", "about four hours ago"), so each window carries a confidence, and nothing outside
one is ever excluded: retrieval only prefers what lies inside (EgoCITE §3, Insight 2). A text is read in three steps:
the words that speak of time, the phrases they form, and what these mean (`spoken_time`). Windows are cut at the
question's time; what lies wholly after it is no window.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from ray_tasks.corpus.week_time import HOUR_MS, day_of
from ray_tasks.retrieval.spoken_time.amounts import Window
from ray_tasks.retrieval.spoken_time.day_parts import DAY_END_HOUR
from ray_tasks.retrieval.spoken_time.days import Today
from ray_tasks.retrieval.spoken_time.meaning import of_every_day, windows_of
from ray_tasks.retrieval.spoken_time.phrases import Phrase, find_phrases
from ray_tasks.retrieval.spoken_time.pieces import find_pieces


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A window [start_ms, end_ms] of week time, how sure it is to hold what is meant (0 to 1), and where it was read.

    `span` is the place of the phrase in the text; windows of one phrase ("every morning") share it. `dated`: the phrase
    itself tells the day, which that of "in the afternoon" does not.
    """

    start_ms: int
    end_ms: int
    confidence: float
    phrase: str
    span: tuple[int, int]
    dated: bool = True


def plain(text: str) -> str:
    """A text in lower case with plain apostrophes and no hyphens, of the same length."""
    return _lower(text).replace("-", " ")


def find_windows(
    text: str, at_ms: int, first_day: date | None = None, *, any_day: bool = False
) -> tuple[TimeWindow, ...]:
    """The windows a text names, in order of the text, seen from `at_ms` (week time, ms).

    `first_day` is the date of DAY1; without it weekdays are read only where the text says which day it is. `any_day`:
    a part of the day without its day is that of every day ("what do I usually drink in the morning").
    """
    low, today, phrases = _read(text, at_ms, first_day)
    found: list[TimeWindow] = []
    for phrase in phrases:
        means = of_every_day if any_day and _is_part(phrase) else windows_of
        found += _cut(means(phrase, today, at_ms), low, phrase, at_ms)
    return tuple(found)


def every_day(text: str, at_ms: int) -> tuple[TimeWindow, ...]:
    """A text that is nothing but a part of the day ("Evening", "At noon") as one window for each day up to `at_ms`."""
    low, today, phrases = _read(text, at_ms, None)
    if len(phrases) != 1:
        return ()
    (phrase,) = phrases
    if not _is_part(phrase) or (low[: phrase.start] + low[phrase.end :]).strip(" .!?"):
        return ()
    return _cut(of_every_day(phrase, today, at_ms), low, phrase, at_ms)


def _is_part(phrase: Phrase) -> bool:
    """Whether a phrase names a part of the day and nothing finer or wider."""
    parts = all(piece.part and piece.known and not (piece.days or piece.clock) for piece in phrase.pieces)
    return parts and phrase.to is None


@lru_cache(maxsize=4096)  # a question and its choices are read in several steps
def _read(text: str, at_ms: int, first_day: date | None) -> tuple[str, int, tuple[Phrase, ...]]:
    """A readable form of a text, the day on which it is asked, and its phrases of time."""
    low = readable(text)
    # after midnight people still speak of the day before
    number = max(day_of(max(at_ms - (DAY_END_HOUR - 24) * HOUR_MS, 0)), 1)
    today = Today.of(number, low, first_day)
    return low, number, tuple(find_phrases(low, find_pieces(low, at_ms, today)))


def readable(text: str) -> str:
    """A text in lower case, of the same length, in which dashes between times are ``~`` and others are blanks."""
    low = re.sub(r"(?<=[\d ])[-–—](?=\d| |day)", "~", _lower(text))
    return re.sub(r"[-–—_\s]", " ", low)


def _lower(text: str) -> str:
    low = text.lower()
    if len(low) != len(text):  # a few letters become two in lower case
        low = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return low.replace("’", "'")


def _cut(windows: list[Window], low: str, phrase: Phrase, at_ms: int) -> tuple[TimeWindow, ...]:
    """A phrase's windows up to the question's time, without those wholly after it or before the week."""
    span = phrase.start, phrase.end
    pieces = (*phrase.pieces, *(phrase.to.pieces if phrase.to else ()))
    dated = any(piece.days or piece.window for piece in pieces)
    return tuple(
        TimeWindow(max(start, 0), min(end, at_ms), confidence, low[slice(*span)].strip(), span, dated)
        for start, end, confidence in windows
        if max(start, 0) <= min(end, at_ms)
    )

"""The times that a model writes for a search: points and ranges in every shape, as windows of week time.

Read are ``DAY1 11:15``, ``DAY1_11152408``, ``day 2, 9 am``, ``DAY2``, ``DAY2 afternoon``, ranges of these with ``to``,
``-``, ``~``, ``until``, ``between ... and`` and the like, also reversed or with the day on one side only, times of day
without a day, ``before`` or ``after`` any of them, and phrases seen from the question ("this morning", "an hour ago").
Nothing is guessed: a text with a word that is understood by no rule is an error which says what can be written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from ray_tasks.corpus.week_time import DAY_MS, day_of, week_ms
from ray_tasks.retrieval.llm.time_moments import find_moments, span_of
from ray_tasks.retrieval.llm.time_spelling import plain_time
from ray_tasks.retrieval.time_phrases import find_windows

LONGEST_TEXT: Final = 200
NO_TIME: Final = frozenset(
    ("", "none", "null", "nil", "n/a", "na", "any", "any time", "anytime", "unknown", "not specified", "unspecified")
)
"""Texts by which models say that they name no time."""

_HOW = (
    "write a point such as `DAY1 11:15` or `DAY1 11152408`, a day such as `DAY2`, a range such as `DAY2 12:00 to DAY2 "
    "18:00`, or leave time_query out"
)
_EXTREMES = re.compile(
    r"(?:at )?(?:the )?(?:(?P<late>now|latest|last|most recent(?:ly)?|just now|right now|question time|"
    r"time of the question|present|end)|(?P<early>first|earliest|beginning|start))"
    r"(?: (?:time|one|moment|occurrence|recording|of (?:the )?recording))?"
)
_RELATION = re.compile(
    r"(?:any ?time )?(?:(?P<only>until|till|up to)|before|by|prior to|earlier than|(?P<after>after|since|later than))\b"
)
"""only: a word that also stands within ranges, and so would be passed over."""
_ONWARDS = re.compile(r"(?:from )?(.+?)(?:\+| and (?:later|after)| or later| onwards?| on)")
_PAST = re.compile(r"(?:the )?(?:past|last) (?=(?:\S+ )?(?:second|minute|min|hour|hr|day|week)s?$)")
_SPLIT = re.compile(
    r"\s+to\s+|\s*~+\s*|\s+until\s+|\s+till\s+|\s+through\s+|\s+-+\s+|\s*-\s*(?=(?:now|present|end)$)|\s*\.\.+\s*|"
    r"\s*->\s*|\s+and\s+"
)
_FILLER = re.compile(
    r"\b(?:at|on|in|the|of|around|about|approximately|approx|roughly|circa|ca|exactly|sometime|some time|from|between|"
    r"and|or|to|until|till|through|thru|during|within|time|timestamp|window|range|hours|hrs|early|late|mid|whole|entire|"
    r"all|day|start|beginning|end|t|to be)\b|[\s,;:~()\[\]{}\"'`.&/|_@<>=-]"
)


class TimeTextError(ValueError):
    """A text that names no time that can be read; the message says what can be written."""


@dataclass(frozen=True, slots=True)
class ReadTime:
    """A window [start_ms, end_ms] of week time, both at or before the question; a point where they are equal.

    `cut`: whether the text names something later than the question, which was cut off.
    """

    start_ms: int
    end_ms: int
    cut: bool = False

    @property
    def window(self) -> tuple[int, int]:
        """As a search takes it."""
        return self.start_ms, self.end_ms


def read_time(text: str, at_ms: int) -> ReadTime | None:
    """The window that a text names, seen from a question at `at_ms`; None where it says that there is none.

    Raises TimeTextError.
    """
    plain = plain_time(text)
    if plain.strip(" .") in NO_TIME:
        return None
    if len(plain) > LONGEST_TEXT:
        raise TimeTextError(f"time_query is longer than {LONGEST_TEXT} characters; {_HOW}")
    window = _window(plain, at_ms)
    if window is None:
        raise TimeTextError(f"time_query {text.strip()[:LONGEST_TEXT]!r} cannot be read; {_HOW}")
    low, high = max(min(window), 0), max(*window, 0)
    return ReadTime(min(low, at_ms), min(high, at_ms), cut=high > at_ms)


def _window(plain: str, at_ms: int) -> tuple[int, int] | None:
    if re.search(r"\bday\s*[_-]?\s*0+(?!\d)", plain):
        return None
    sides = [side for side in _SPLIT.split(re.sub(r"^(?:from|between)\s+", "", plain)) if side]
    open_ended = len(sides) == 2 and any(map(_extreme, sides))
    window = None if open_ended else _side(plain, at_ms)
    if window is not None:
        return window
    both = [_side(side, at_ms) for side in sides]
    if len(both) != 2 or both[0] is None or both[1] is None:
        return None
    return min(both[0][0], both[1][0]), max(both[0][1], both[1][1])


def _side(plain: str, at_ms: int) -> tuple[int, int] | None:
    """The window of a whole text or of one side of a range; a word before it may open it on one side."""
    extreme = _extreme(plain)
    if extreme:
        return (at_ms, at_ms) if extreme["late"] else (0, 0)
    onwards = _ONWARDS.fullmatch(plain)
    plain = f"after {onwards[1]}" if onwards else plain
    past = _PAST.match(plain)
    plain = f"in the last {plain[past.end() :]}" if past else plain
    relation = _RELATION.match(plain)
    rest = plain[relation.end() :].strip() if relation else plain
    window = None
    if relation is None or not relation["only"]:
        window = _of_moments(plain) or _of_times_of_day(plain, at_ms)
        # Before a moment of a named day is any time before it; before lunch is on the same day.
        if window is None and not (relation and _of_moments(rest)):
            window = _of_phrase(plain, at_ms)
    if window is not None or relation is None:
        return window
    window = _side(rest, at_ms)
    if window is None:
        return None
    return (window[0], max(at_ms, window[1])) if relation["after"] else (0, window[1])


def _extreme(plain: str) -> re.Match[str] | None:
    """A text that is nothing but the one end of the memory or the other."""
    return _EXTREMES.fullmatch(plain.strip(" ."))


def _of_moments(plain: str) -> tuple[int, int] | None:
    """The window of a text that is nothing but moments, of which one at least names a day, and words between them."""
    moments, rest = find_moments(plain)
    if all(moment.day is None for moment in moments) or _FILLER.sub("", rest):
        return None
    return span_of(moments)


def _of_times_of_day(plain: str, at_ms: int) -> tuple[int, int] | None:
    """The window of times of day alone: of the question's day, or of the day before where that has not yet begun."""
    moments, rest = find_moments(plain)
    if not moments or _FILLER.sub("", rest):
        return None
    low, high = span_of([replace(moments[0], day=day_of(at_ms)), *moments[1:]])
    return (low - DAY_MS, high - DAY_MS) if low > at_ms and low >= DAY_MS else (low, high)


def _of_phrase(plain: str, at_ms: int) -> tuple[int, int] | None:
    """The window of a phrase as people say it, seen from the question, if that is all that the text says."""
    if re.fullmatch(r"(?:later )?(?:today|tomorrow)(?: \w+)?", plain) and not plain.startswith("today"):
        return at_ms, at_ms + DAY_MS
    end_of_day = week_ms(day_of(at_ms) + 1) - 1
    for seen_from in (at_ms, end_of_day):  # from the day's end also what still lies before it, such as "this evening"
        windows = find_windows(plain, seen_from)
        if not windows:
            continue
        rest = plain
        for window in reversed(windows):
            rest = rest[: window.span[0]] + " " + rest[window.span[1] :]
        if _FILLER.sub("", rest):
            return None
        return min(window.start_ms for window in windows), max(window.end_ms for window in windows)
    return None

"""The words of a text that speak of time, each by itself: days, parts of a day, clock times, amounts of time.

What looks like one of them and is none ("the dinner table", "good night") is passed over; what names a time that cannot
be a window (the future, "that evening", a weekday of unknown date) is kept as unknown, so that it spoils the phrase it
belongs to instead of leaving half of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ray_tasks.corpus.week_time import HOUR_MS, WeekTimeError, parse_clock, week_ms
from ray_tasks.retrieval.numbers import NUMBER, ORDINAL, number_of, ordinal_of
from ray_tasks.retrieval.spoken_time.amounts import AGO, PAST, VAGUE_PASTS, Window, ago, days_ago, past
from ray_tasks.retrieval.spoken_time.clocks import BARE, CLOCKS, Clock, clock_of
from ray_tasks.retrieval.spoken_time.day_parts import PARTS
from ray_tasks.retrieval.spoken_time.days import DAYS, WEEKDAYS, Days, Today, days_of

PART: Final = "|".join(sorted(PARTS, key=len, reverse=True))
_OF_DAY: Final = "morning|afternoon|evening|night"
_THINGS: Final = (
    "table|box(?:es)?|plates?|bowls?|bags?|trays?|menus?|cereals?|sets?|napkins?|forks?|knives|guests?|market|clubs?|"
    "lights?|lamps?|stand|shift|dress|gown|creams?|bar|owl|vision|sky|snacks?|tea|glory|blue|news|bread|rolls?|meat"
)
_NO_TIMES: Final = re.compile(
    rf"\bgood (?:{_OF_DAY})\b|\b(?:{PART}) (?:{_THINGS})\b|"
    rf"\b(?:once|twice|times|per|all) (?:a |an )?(?:{_OF_DAY})\b(?<!all night)(?<!all morning)(?<!all afternoon)"
    r"(?<!all evening)|\bit(?:'s| is) time\b"
)
_UNKNOWN: Final = re.compile(
    rf"\b(?:(?:this )?(?:next|following|coming|upcoming) (?:{PART}|{'|'.join(WEEKDAYS)}|weekend|day|week)|"
    rf"later (?:on )?(?:today|tonight|(?:this|that|in the) (?:{PART}))|"
    rf"(?:that|those|(?:the )?same|one|some|any|another|a) (?:early |late )?(?:{_OF_DAY})s?|"
    rf"the (?:{_OF_DAY}) after|every (?:second|third|other) (?:day|{_OF_DAY})|"
    rf"(?:{'|'.join(WEEKDAYS)})'s (?!(?:{PART})\b))\b"
)
_BEFORE_LAST: Final = re.compile(rf"\b(?:the )?(?P<part>{_OF_DAY}) before last\b")
_BEFORE_YESTERDAY: Final = re.compile(rf"\b(?:the )?(?P<part>{PART}) before yesterday\b")
_LAST_NIGHT: Final = re.compile(r"\b(?:last|(?:the )?previous) (?:night|evening)\b")
_TONIGHT: Final = re.compile(r"\btonight\b")
_OVERNIGHT: Final = re.compile(r"\bovernight\b|\bduring the night\b")
_PARTS_AGO: Final = re.compile(rf"(?P<amount>{NUMBER}) (?P<part>{_OF_DAY})s? ago\b")
_LAST_PARTS: Final = re.compile(rf"\b(?:last|past|previous) (?:(?P<amount>{NUMBER}) )?(?P<part>{_OF_DAY})s?\b")
_PART_OF_DAY: Final = re.compile(rf"\b(?:the|my|our) (?:very )?(?P<place>{ORDINAL}) (?P<part>{_OF_DAY})\b")
_STAMP: Final = re.compile(r"\bday ?(?P<day>\d{1,4}),? (?:at )?(?P<clock>\d{5,8})\b")
_PART: Final = re.compile(
    rf"\b(?:(?P<which>this|every|each|most) )?(?P<part>{PART})"
    r"(?P<many>(?<=morning)s|(?<=noon)s|(?<=evening)s|(?<=night)s)?\b"
)
_NAMES_TOO: Final = frozenset(["dawn"])
"""Parts of the day after which people are called as well: they need a word like "at" before them."""
_PLACED: Final = re.compile(r"\b(?:at|before|after|until|till|since|by|around|towards?|of|the) $")


@dataclass(frozen=True, slots=True)
class Piece:
    """One or two words of time at [start, end) of a text; whatever it does not name is None.

    `each`: it speaks of every day. `bare`: a number that is a time only beside other words. `known`: False for a time
    that cannot be a window.
    """

    start: int
    end: int
    days: Days | None = None
    part: str | None = None
    clock: Clock | None = None
    window: Window | None = None
    each: bool = False
    bare: bool = False
    known: bool = True


class _Finder:
    """Collects the pieces of one text; words that are taken are not read twice."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pieces: list[Piece] = []
        self._taken: list[tuple[int, int]] = []

    def matches(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        """What a pattern finds in words that are not taken."""
        return [match for match in pattern.finditer(self.text) if self._is_free(match)]

    def take(self, match: re.Match[str], piece: Piece | None) -> None:
        """Takes a match's words, for a piece or for nothing."""
        self._taken.append(match.span())
        if piece is not None:
            self.pieces.append(piece)

    def _is_free(self, match: re.Match[str]) -> bool:
        return not any(match.start() < end and start < match.end() for start, end in self._taken)


def find_pieces(text: str, at_ms: int, today: Today) -> list[Piece]:
    """The pieces of a readable text (see `readable`), in its order, seen from `at_ms` on day `today`."""
    finder = _Finder(text)
    _amounts(finder, at_ms, today)
    for match in finder.matches(_NO_TIMES):
        finder.take(match, None)
    for match in finder.matches(_UNKNOWN):
        finder.take(match, Piece(*match.span(), known=False))
    _named_parts(finder, today)
    _days_and_clocks(finder, today)
    for match in finder.matches(_PART):
        which = match["which"]
        if match["part"] in _NAMES_TOO and not which and not _PLACED.search(text, 0, match.start()):
            continue
        days = Days(today.number, today.number) if which == "this" else None
        each = bool(match["many"]) or which in ("every", "each", "most")
        finder.take(match, Piece(*match.span(), days=days, part=match["part"], each=each))
    for match in finder.matches(BARE):
        finder.take(match, Piece(*match.span(), clock=clock_of(match), bare=True))
    return sorted(finder.pieces, key=lambda piece: piece.start)


def _amounts(finder: _Finder, at_ms: int, today: Today) -> None:
    """How long ago, and what ends with the question."""
    for match in finder.matches(_PARTS_AGO):
        day = today.number - round(number_of(match["amount"]))
        finder.take(match, Piece(*match.span(), days=Days(day, day, 0.8), part=match["part"]))
    for match in finder.matches(AGO):
        start, end, confidence = ago(match, at_ms)
        back = days_ago(match)
        if back is None:
            finder.take(match, Piece(*match.span(), window=(start, end, confidence)))
        else:
            day = today.number - back
            finder.take(match, Piece(*match.span(), days=Days(day, day, confidence, loose=(start, end))))
    for pattern, reach, confidence in VAGUE_PASTS:
        for match in finder.matches(pattern):
            finder.take(match, Piece(*match.span(), window=(at_ms - reach, at_ms, confidence)))
    for match in finder.matches(PAST):
        finder.take(match, Piece(*match.span(), window=past(match, at_ms)))


def _named_parts(finder: _Finder, today: Today) -> None:
    """Parts of the day that name their day: "last night", "the third morning"."""
    for pattern, back in ((_BEFORE_LAST, 2), (_BEFORE_YESTERDAY, 2), (_LAST_NIGHT, 1), (_TONIGHT, 0)):
        for match in finder.matches(pattern):
            day = today.number - back
            part = match.groupdict().get("part") or "night"
            finder.take(match, Piece(*match.span(), days=Days(day, day), part=part))
    for match in finder.matches(_LAST_PARTS):
        days = Days(today.number - round(number_of(match["amount"] or "one")), today.number - 1, each=True)
        finder.take(match, Piece(*match.span(), days=days, part=match["part"]))
    for match in finder.matches(_OVERNIGHT):
        night = week_ms(today.number - 1, 21 * HOUR_MS), week_ms(today.number, 9 * HOUR_MS)
        finder.take(match, Piece(*match.span(), window=(*night, 0.8)))
    for match in finder.matches(_PART_OF_DAY):
        day = ordinal_of(match["place"])
        finder.take(match, Piece(*match.span(), days=Days(day, day), part=match["part"]))


def _days_and_clocks(finder: _Finder, today: Today) -> None:
    for match in finder.matches(_STAMP):
        try:
            clock = Clock(parse_clock(match["clock"]).ms)
        except WeekTimeError:  # digits that are no time of day, and so no stamp
            continue
        day = int(match["day"])
        finder.take(match, Piece(*match.span(), days=Days(day, day), clock=clock, known=day > 0))
    for kind, pattern in DAYS:
        for match in finder.matches(pattern):
            days = days_of(kind, match, today)
            if kind == "today_is":
                finder.take(match, None)
            else:
                each = days is not None and days.each
                finder.take(match, Piece(*match.span(), days=days, each=each, known=days is not None))
    for pattern in CLOCKS:
        for match in finder.matches(pattern):
            read = clock_of(match)
            if read is not None:
                finder.take(match, Piece(*match.span(), clock=read))

"""Moments in a text that a model wrote: days, times of day, and both together, each with what it covers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS, MINUTE_MS, WeekTimeError, parse_clock, week_ms
from ray_tasks.retrieval.spoken_time.day_parts import PARTS, hours_ms

_PART = "|".join(sorted((part.replace(" ", r"\s+") for part in PARTS), key=len, reverse=True))
_MOMENT = re.compile(
    r"(?:\bday\s*[_-]?\s*(?P<day>\d{1,4})(?![\d:])"
    r"(?:[\s,@(]|\b(?:at|in the|around|about|approximately|approx|roughly|circa|from|between)\b)*)?"
    r"(?:(?<![\w.])(?P<digits>\d{5,8})(?!\d)"
    r"|(?<![\w.])(?P<hour>\d{1,2})[:.h](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?(?:[:.,]\d{1,3})?\s*(?P<half>[ap]\.?m\b\.?)?"
    r"|(?<![\w.])(?P<hour_only>\d{1,2})\s*(?P<half_only>[ap]\.?m\b\.?|o'?clock|h\b)"
    rf"|(?P<part>\b(?:{_PART})\b))?"
)
_AFTER_DAY = re.compile(r"(?<![\w.:])(?P<clock>\d{1,4})(?![\d:.])")
"""``DAY1 1115`` or ``DAY1 11``: few digits are a time of day only right behind a day."""

_OF_THE_DAY = re.compile(r"[\s,;()]*(?:on|of)?[\s,;()]*")
"""What may stand between a time of day and its day."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A day, a time of day, or both; ms since midnight of the day where that is named, else since any midnight."""

    day: int | None
    low_ms: int
    high_ms: int

    @property
    def whole_day(self) -> bool:
        """Whether it names a day and no time of day."""
        return self.high_ms - self.low_ms == DAY_MS - 1


def find_moments(plain: str) -> tuple[list[Moment], str]:
    """The moments of a text in order, and what of the text is not part of any."""
    moments: list[Moment] = []
    rest: list[str] = []
    position, since_last = 0, ""
    while position < len(plain):
        match = _MOMENT.match(plain, position)
        moment, end = (None, position) if match is None or not match.group().strip() else _moment(match, plain)
        if moment is None and moments:
            moment, end = _bare(moments[-1], plain, position)
        if moment is None:
            rest.append(plain[position])
            since_last += plain[position]
            position += 1
            continue
        if moments and moment.whole_day and moments[-1].day is None and _OF_THE_DAY.fullmatch(since_last):
            moments[-1] = replace(moments[-1], day=moment.day)
        else:
            moments.append(moment)
        rest.append(" ")
        position, since_last = end, ""
    return moments, "".join(rest)


def _moment(match: re.Match[str], plain: str) -> tuple[Moment | None, int]:
    """A matched moment and where it ends; none where it is no time of day, such as 25:00, or there is no day 0."""
    day = int(match["day"]) if match["day"] else None
    clock = _clock_of(match)
    if day == 0 or clock == ():
        return None, match.start()
    if clock is not None:
        return Moment(day, *clock), match.end()
    if day is None:
        return None, match.start()
    behind = _AFTER_DAY.match(plain, match.end())
    few = _few_digits(behind["clock"]) if behind else None
    if behind and few is not None and not re.match(r"\s*(?:days?|hours?|min)", plain[behind.end() :]):
        return Moment(day, few, few), behind.end()
    return Moment(day, 0, DAY_MS - 1), match.end()


def _clock_of(match: re.Match[str]) -> tuple[int, int] | tuple[()] | None:
    """The span of a time of day; () where the digits are none, None where there is no time of day at all."""
    if match["part"]:
        low, high = PARTS[" ".join(match["part"].split())]
        return hours_ms(low), hours_ms(high)
    if match["digits"]:
        try:
            clock = parse_clock(match["digits"]).ms
        except WeekTimeError:
            return ()
        return clock, clock
    hour = match["hour"] or match["hour_only"]
    if hour is None:
        return None
    minute, second = int(match["minute"] or 0), int(match["second"] or 0)
    number = _in_24_hours(int(hour), (match["half"] or match["half_only"] or "")[:1])
    if number is None or minute > 59 or second > 59:
        return ()
    clock = number * HOUR_MS + (minute * 60 + second) * 1000
    return clock, clock


def _in_24_hours(hour: int, half: str) -> int | None:
    """An hour from 0 to 24 (the end of a day); None where it is none. `half`: a or p, else it is taken as it is."""
    if half in ("a", "p") and 1 <= hour <= 12:
        return hour % 12 + (12 if half == "p" else 0)
    return hour if hour <= 24 else None


def _few_digits(digits: str) -> int | None:
    """``1115`` -> 11:15, ``11`` -> 11:00; None for what is no time of day."""
    hour, minute = (int(digits), 0) if len(digits) <= 2 else (int(digits[:-2]), int(digits[-2:]))
    return (hour * 60 + minute) * MINUTE_MS if hour <= 24 and minute < 60 else None


def _bare(before: Moment, plain: str, position: int) -> tuple[Moment | None, int]:
    """``-3`` behind ``DAY1`` is a day, ``-13`` behind ``DAY1 11`` an hour: digits alone are what stood before them."""
    match = _AFTER_DAY.match(plain, position)
    if match is None or before.day is None:
        return None, position
    number = int(match["clock"])
    if before.whole_day:
        named = number >= 1 and len(match["clock"]) <= 3
        return (Moment(number, 0, DAY_MS - 1), match.end()) if named else (None, position)
    clock = _few_digits(match["clock"])
    return (None, position) if clock is None else (Moment(None, clock, clock), match.end())


def span_of(moments: Sequence[Moment]) -> tuple[int, int]:
    """From the first to the last of some moments; those without a day take it from the one before, or the first."""
    day = next(moment.day for moment in moments if moment.day is not None)
    spans: list[tuple[int, int]] = []
    for moment in moments:
        day = moment.day or day
        spans.append((week_ms(day, moment.low_ms), week_ms(day, moment.high_ms)))
    if len(spans) == 2 and moments[1].day is None and _past_midnight(spans):
        spans[1] = spans[1][0] + DAY_MS, spans[1][1] + DAY_MS
    return min(low for low, _ in spans), max(high for _, high in spans)


def _past_midnight(spans: list[tuple[int, int]]) -> bool:
    """Whether a range such as 22:00 to 01:00 runs on into the next day; others that run backwards are reversed."""
    first, last = spans[0][0], spans[1][1]
    return last < first and last % DAY_MS < 6 * HOUR_MS and first % DAY_MS >= 17 * HOUR_MS

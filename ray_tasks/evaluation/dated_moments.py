"""Moments as dated benchmarks write them: a date, perhaps a clock time or two, in one text or in several fields.

A day is a calendar date or ``DAYn``; a clock time is ``HHMMSSFF`` (also as a number without its leading zeros),
``10:30``, ``10:30:05`` or ``9:05 pm``. Two clock times with a dash, "to" or ``~`` between them are an interval; others
are moments of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, WeekTimeError, parse_clock, week_ms
from ray_tasks.evaluation.calendar_days import DATE, Calendar, compact_date, date_of

_DAY: Final = r"\b(?i:day)[ _]?(?P<day>\d{1,3})(?!\d)"
_HALF: Final = r"(?: ?(?P<half>(?i:[ap]))\.?(?i:m)\b\.?)?"
_CLOCK: Final = (
    rf"(?<![\d:])(?P<hour>\d{{1,2}}):(?P<minute>\d{{2}})(?::(?P<second>\d{{2}}))?(?:\.(?P<part>\d{{3}}))?{_HALF}"
    r"|(?<!\d)(?P<digits>\d{6,8})(?!\d)"
)
_PIECES: Final = re.compile(rf"(?P<date>{DATE.pattern})|{_DAY}|{_CLOCK}")
_RANGE: Final = re.compile(r"[\s,]*(?:-|–|—|~|to|until|till)[\s,]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Moment:
    """A day, and where it is told an interval of its clock (week time in ms, both ends alike for a point)."""

    day: int
    span: tuple[int, int] | None = None


class UndatedError(ValueError):
    """A value that names no day of the recording; the message quotes it."""


def read_moments(value: object, calendar: Calendar | None) -> list[Moment]:
    """Every moment of a value (a text, a number, a dictionary of fields, or a list of these), in its order.

    Raises UndatedError for a value without a day, WeekTimeError for an impossible clock time.
    """
    if isinstance(value, list):
        return [moment for part in value for moment in read_moments(part, calendar)]
    text = _as_text(value)
    moments = list(_moments(text, calendar))
    if not moments:
        raise UndatedError(f"no day of the recording in {value!r}")
    return moments


def _as_text(value: object) -> str:
    """A value's fields as one text: the date, then its times; start and end are an interval."""
    if not isinstance(value, dict):
        return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    date = str(value.get("date", ""))
    times = [_clock_text(value[name]) for name in ("start_time", "end_time", "time") if value.get(name) is not None]
    interval = " - " if value.get("start_time") is not None and value.get("end_time") is not None else " "
    return f"{date} {interval.join(times)}"


def _clock_text(value: object) -> str:
    """A clock time as ``HH:MM:SS.mmm``, which no date looks like; a number has lost its leading zeros."""
    short = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10_000
    digits = f"{value:08d}" if short else str(value).strip()
    if not digits.isdecimal():
        return digits
    seconds, part = divmod(parse_clock(digits).ms, SECOND_MS)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{part:03d}"


def _moments(text: str, calendar: Calendar | None) -> Iterator[Moment]:
    day: int | None = None
    waiting: int | None = None  # a day whose clock times have not come yet
    spans: list[tuple[int, tuple[int, int]]] = []
    last_end = 0
    for piece in _PIECES.finditer(text):
        found = _day(piece, calendar, compact=day is None)
        if found is not None:
            if waiting is not None:
                spans.append((waiting, (-1, -1)))
            day = waiting = found
            continue
        if piece["hour"] is None and piece["digits"] is None:
            continue  # a date that is none of the recording's
        if day is None:
            raise UndatedError(f"a time without a day of the recording: {text!r}")
        at = week_ms(day, _clock_ms(piece))
        between = _PIECES.sub(" ", text[last_end : piece.start()])
        if spans and spans[-1][1][0] >= 0 and last_end and _RANGE.fullmatch(between):
            start = spans[-1][1][0]
            spans[-1] = (spans[-1][0], (start, at if at >= start else at + DAY_MS))
        else:
            spans.append((day, (at, at)))
        waiting, last_end = None, piece.end()
    if waiting is not None:
        spans.append((waiting, (-1, -1)))
    for number, span in spans:
        yield Moment(number, span if span[0] >= 0 else None)


def _day(piece: re.Match[str], calendar: Calendar | None, *, compact: bool) -> int | None:
    """The day that a piece of text names, None for a clock time and for a date that the recording does not have.

    compact: eight digits may be a date, since no day was named before them.
    """
    if piece["day"]:
        return int(piece["day"]) or None
    digits = piece["digits"]
    when = compact_date(digits) if digits and compact else None
    if piece["date"]:
        inner = DATE.search(piece["date"])
        when = date_of(inner, calendar.first.year if calendar else None) if inner else None
    return calendar.day_number(when) if calendar and when else None


def _clock_ms(piece: re.Match[str]) -> int:
    if piece["digits"]:
        return parse_clock(piece["digits"]).ms
    hour, minute, second = int(piece["hour"]), int(piece["minute"]), int(piece["second"] or 0)
    if piece["half"]:
        hour = hour % 12 + (12 if piece["half"].lower() == "p" else 0)
    if hour > 23 or minute > 59 or second > 59:
        raise WeekTimeError(f"not a clock time: {piece.group()!r}")
    return hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS + int(piece["part"] or 0)

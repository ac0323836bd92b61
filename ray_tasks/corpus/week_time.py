"""Week time: milliseconds since DAY1 00:00, and the many ways in which real files write it.

Written form: ``DAY1 11094208`` is day 1, 11:09:42 and frame 8 of a 20 frames-a-second clock, so one frame is 50 ms.
Released files also hold ``DAY1_11094208``, ``Day1``, integers without the leading zero, six-digit times without
frames, and several points glued into one string (``11153417DAY1_11181201``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

SECOND_MS = 1_000
MINUTE_MS = 60_000
HOUR_MS = 3_600_000
DAY_MS = 86_400_000
FRAMES_PER_SECOND = 20
FRAME_MS = SECOND_MS // FRAMES_PER_SECOND

_DAY = re.compile(r"\s*day\s*_?(\d{1,4})\s*", re.IGNORECASE)
_POINT = re.compile(r"\s*(?:day\s*_?(?P<day>\d{1,4})(?:\s*[_-]\s*|\s+))?(?P<clock>\d{5,8})\s*", re.IGNORECASE)
_CLOCK = re.compile(r"[0-9]{5,8}")
_SEPARATOR = re.compile(r"[\s,;/&_-]*")


class WeekTimeError(ValueError):
    """A text that is not a time; the message quotes it."""


@dataclass(frozen=True, slots=True)
class ParsedTime:
    """A parsed time in ms, and whether its frame number had to be clamped to 19."""

    ms: int
    clamped: bool = False


@dataclass(frozen=True, slots=True)
class TargetTimes:
    """Target points of a question (week time, ms, in the order of the file) and what was odd about them."""

    points: tuple[int, ...] = ()
    clamped: int = 0
    problems: tuple[str, ...] = ()


def parse_day(label: object) -> int:
    """The number in ``DAY3``, ``Day3``, ``day 3`` or ``3``; raises WeekTimeError for anything else or for day 0."""
    text = str(label)
    match = _DAY.fullmatch(text)
    number = int(match.group(1)) if match else (int(text) if re.fullmatch(r"\s*\d{1,4}\s*", text) else 0)
    if number < 1:
        raise WeekTimeError(f"not a day label: {label!r} (expected DAY1, DAY2, ...)")
    return number


def parse_clock(value: object) -> ParsedTime:
    """Milliseconds since midnight of ``HHMMSSFF`` (7 or 8 digits) or ``HHMMSS`` (5 or 6 digits), text or integer.

    An odd number of digits is an hour that lost its leading zero. Frames beyond 19 are clamped to 19 and reported.
    Raises WeekTimeError where the digits are no clock time.
    """
    digits = str(value).strip()
    if not _CLOCK.fullmatch(digits):
        raise WeekTimeError(f"not a clock time: {value!r} (expected HHMMSSFF or HHMMSS)")
    if len(digits) % 2:
        digits = "0" + digits
    hour, minute, second = int(digits[0:2]), int(digits[2:4]), int(digits[4:6])
    frame = int(digits[6:8] or 0)
    if hour > 23 or minute > 59 or second > 59:
        raise WeekTimeError(f"not a clock time: {value!r} (hour {hour}, minute {minute}, second {second})")
    clamped = frame >= FRAMES_PER_SECOND
    frame = min(frame, FRAMES_PER_SECOND - 1)
    return ParsedTime(hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS + frame * FRAME_MS, clamped)


def parse_point(text: object, *, default_day: object = None) -> ParsedTime:
    """One point such as ``DAY1 11094208`` or ``DAY1_110942``; the day may come from `default_day`."""
    match = _POINT.fullmatch(str(text))
    if not match:
        raise WeekTimeError(f"not a week time: {text!r} (expected for example DAY1 11094208)")
    day = match.group("day") if match.group("day") else default_day
    if day is None:
        raise WeekTimeError(f"a time without a day: {text!r} (write for example DAY1 {text})")
    clock = parse_clock(match.group("clock"))
    return ParsedTime(week_ms(parse_day(day), clock.ms), clock.clamped)


def parse_week_time(text: object) -> int:
    """Week time in ms of one written point, as people type it on a command line."""
    return parse_point(text).ms


def week_ms(day: int, clock_ms: int = 0) -> int:
    """Week time of a clock time on a day counted from 1."""
    return (day - 1) * DAY_MS + clock_ms


def day_of(ms: int) -> int:
    """The day (from 1) in which a week time lies."""
    return ms // DAY_MS + 1


def hour_of(ms: int) -> int:
    """The hour of the day (0-23) in which a week time lies."""
    return ms % DAY_MS // HOUR_MS


def format_clock(ms: int) -> str:
    """``HHMMSSFF`` of a week time; rounds down to the frame."""
    clock = ms % DAY_MS
    hour, rest = divmod(clock, HOUR_MS)
    minute, rest = divmod(rest, MINUTE_MS)
    second, rest = divmod(rest, SECOND_MS)
    return f"{hour:02d}{minute:02d}{second:02d}{rest // FRAME_MS:02d}"


def format_week_time(ms: int) -> str:
    """``DAY1 11094208`` of a week time; the inverse of parse_week_time for whole frames."""
    return f"DAY{day_of(ms)} {format_clock(ms)}"


def format_for_people(ms: int) -> str:
    """``DAY1 11:09:42`` for tables and terminals."""
    clock = format_clock(ms)
    return f"DAY{day_of(ms)} {clock[0:2]}:{clock[2:4]}:{clock[4:6]}"


def parse_target_times(target: object) -> TargetTimes:
    """Every point of a benchmark's ``target_time``; points glued together are separate points, never a range.

    Accepts ``{"date", "time"}`` (text or number, one or several points glued, or a list), ``{"date", "time_list"}``, a
    list of either, and nothing at all. What cannot be read is a problem in the result, not an exception.
    """
    points: list[int] = []
    problems: list[str] = []
    clamped = 0
    for day, value in _target_parts(target, problems):
        try:
            for parsed in _glued_points(value, day):
                points.append(parsed.ms)
                clamped += parsed.clamped
        except WeekTimeError as error:
            problems.append(str(error))
    return TargetTimes(tuple(points), clamped, tuple(problems))


def _target_parts(target: object, problems: list[str]) -> Iterable[tuple[object, object]]:
    if target is None or target == {} or target == "":
        return
    if isinstance(target, list):
        for item in target:
            yield from _target_parts(item, problems)
    elif isinstance(target, dict):
        for values in (target.get("time"), target.get("time_list")):
            for value in values if isinstance(values, list) else [values]:
                if value is not None and value != "":
                    yield target.get("date"), value
    else:
        problems.append(f"not a target time: {target!r}")


def _glued_points(value: object, default_day: object) -> list[ParsedTime]:
    """The points of ``11153417DAY1_11181201``; a point without a day of its own takes the day before it."""
    text = str(value)
    points: list[ParsedTime] = []
    position, day = 0, default_day
    while position < len(text):
        match = _POINT.match(text, position)
        if not match:
            raise WeekTimeError(f"not a week time: {value!r}")
        day = match.group("day") or day
        points.append(parse_point(match.group("clock"), default_day=day))
        separator = _SEPARATOR.match(text, match.end())
        position = separator.end() if separator else match.end()
    return points

"""What a phrase of time means: windows of week time, seen from the moment of a question."""

from __future__ import annotations

from itertools import product
from typing import Final

from ray_tasks.corpus.week_time import HOUR_MS, MINUTE_MS, week_ms
from ray_tasks.retrieval.spoken_time.amounts import Window
from ray_tasks.retrieval.spoken_time.clocks import FIRST_WAKING_MS, Clock
from ray_tasks.retrieval.spoken_time.day_parts import DAY_END_HOUR, MEALS, POINTS, hours_ms, hours_of, related
from ray_tasks.retrieval.spoken_time.days import Days
from ray_tasks.retrieval.spoken_time.phrases import Member, Phrase

AROUND_MS: Final = 20 * MINUTE_MS
"""What "at 3 pm" means on either side."""
CLOSE_MS: Final = 45 * MINUTE_MS
"""How far "just before 3 pm" reaches."""
BEGUN_MS: Final = 30 * MINUTE_MS
"""How long a part of the day must have lasted before people speak of that of today."""
_EDGES: Final = {
    "beginning": (0.0, 12.2),
    "start": (0.0, 12.2),
    "middle": (10.0, 18.0),
    "end": (16.0, 28.0),
    "close": (16.0, 28.0),
}
_DAY_LENGTH_MS: Final = DAY_END_HOUR * HOUR_MS
_UP_TO: Final = ("before", "until", "by")
"""Relations of what lies before a time."""
_BARE, _WITH_DAY, _RELATED = 0.6, 0.9, 0.8
_MEAL_DOUBT: Final = 0.1

Span = tuple[int, int]


def windows_of(phrase: Phrase, today: int, at_ms: int) -> list[Window]:
    """The windows of a phrase, one for each day that it names by itself; not yet cut at the question's time."""
    if not all(piece.known for piece in (*phrase.pieces, *(phrase.to.pieces if phrase.to else ()))):
        return []
    if phrase.to is not None:
        span = _range(phrase, phrase.to, today, at_ms)
        return [(*span, min(_confidence(phrase), _confidence(phrase.to)))] if span else []
    (first, *others) = phrase.members
    if first.piece.window:
        start, end, confidence = first.piece.window
        return [(*_beside((start, end), first.relation, at_ms), confidence)]
    days = _days(phrase)
    each = any(piece.each for piece in phrase.pieces)
    if days is not None and not others and first.piece.part is None and first.piece.clock is None:
        return [] if each and days.each else _whole_days(days, phrase, at_ms)
    confidence = _confidence(phrase)
    if each and (days is None or days.first != days.last):
        return [(*_on_day(phrase, day, at_ms), _BARE) for day in range(1, today + 1)]
    if days is not None:
        return [(*_on_day(phrase, day, at_ms), confidence) for day in range(days.first, days.last + 1)]
    return [(*_latest(phrase, today, at_ms), confidence)]


def of_every_day(phrase: Phrase, today: int, at_ms: int) -> list[Window]:
    """A phrase that names no day as the windows it has on each day up to today."""
    return [(*_on_day(phrase, day, at_ms), _BARE) for day in range(1, today + 1)]


def _days(phrase: Phrase) -> Days | None:
    return next((piece.days for piece in phrase.pieces if piece.days), None)


def _confidence(phrase: Phrase) -> float:
    """Clock times and named days are sure, a part of an unnamed day and meals less so."""
    days = _days(phrase)
    clock = any(piece.clock for piece in phrase.pieces)
    sure = _WITH_DAY if clock or days else _BARE
    if clock and any(member.relation for member in phrase.members):
        sure = _RELATED
    doubt = _MEAL_DOUBT if not clock and any(piece.part in MEALS for piece in phrase.pieces) else 0.0
    return round(min(sure, days.confidence if days else 1.0) - doubt, 2)


def _whole_days(days: Days, phrase: Phrase, at_ms: int) -> list[Window]:
    member = phrase.members[0]
    span = days.loose or (week_ms(days.first), week_ms(days.last, _DAY_LENGTH_MS))
    if phrase.edge:
        low, high = _EDGES[phrase.edge]
        span = week_ms(days.first, hours_ms(low)), week_ms(days.last, hours_ms(high))
    if member.relation == "after" and not days.loose:
        return [(week_ms(days.last + 1), at_ms, _RELATED)]
    if member.relation == "before" and not days.loose:
        return [(0, week_ms(days.first) - 1, _RELATED)]
    return [(*_beside(span, member.relation, at_ms), days.confidence)]


def _beside(span: Span, relation: str | None, at_ms: int) -> Span:
    """A span, or what lies on one side of it as far as the week and the question reach."""
    if relation in ("since", "after"):
        return span[0] if relation == "since" else span[1], at_ms
    if relation in _UP_TO:
        return 0, span[1]
    return span


def _latest(phrase: Phrase, today: int, at_ms: int) -> Span:
    """A phrase without a day, on the latest day on which it has begun: today or the day before."""
    if any(member.relation in _UP_TO for member in phrase.members):
        return _on_day(phrase, today, at_ms)
    clock = next((piece.clock for piece in phrase.pieces if piece.clock), None)
    for day in (today, today - 1):
        start, end = _on_day(phrase, day, at_ms, open_day=True)
        begun = (start + end) // 2 if clock else start + BEGUN_MS
        if clock and any(member.relation for member in phrase.members):
            begun = start
        if begun <= at_ms:
            return start, end
    return _on_day(phrase, today - 1, at_ms)


def _on_day(phrase: Phrase, day: int, at_ms: int, *, open_day: bool = False) -> Span:
    """What a phrase's parts and clock time leave of a day; `open_day`: the phrase itself does not name the day."""
    low, high = week_ms(day), week_ms(day, _DAY_LENGTH_MS)
    clock = next((member for member in phrase.members if member.piece.clock), None)
    for member in phrase.members:
        if member.piece.part and member is not clock:
            hours = related(member.piece.part, _side(member.relation), close=member.close, modifier=member.modifier)
            low, high = max(low, week_ms(day, hours_ms(hours[0]))), min(high, week_ms(day, hours_ms(hours[1])))
            if member.relation == "since":
                high = max(high, at_ms)
    if clock is None or clock.piece.clock is None:
        return low, max(low, high)
    inside = (low, high) if any(piece.part for piece in phrase.pieces) else None
    moment = week_ms(day, _reading(clock.piece.clock, day, inside, at_ms if open_day else None))
    return _at_clock(moment, clock, day, at_ms)


def _side(relation: str | None) -> str | None:
    """The side of a part: before it, after it or neither."""
    if relation in _UP_TO:
        return "before"
    return "after" if relation in ("after", "since") else None


def _reading(clock: Clock, day: int, inside: Span | None, at_ms: int | None) -> int:
    """Which of a clock time's readings is meant: one in the part of the day that is named, else the usual one.

    Where only the question's time says more (`at_ms`), a spoken hour is the latest one that has passed.
    """
    if inside is not None:
        fitting = [time for time in clock.readings if inside[0] <= week_ms(day, time) <= inside[1]]
        return fitting[0] if fitting else clock.usual
    if at_ms is None:
        return clock.usual
    if not clock.either:
        passed = [time for time in clock.readings if week_ms(day, time) <= at_ms]
    elif clock.spoken:
        passed = [time for time in clock.readings if week_ms(day, time) <= at_ms and time >= FIRST_WAKING_MS]
    else:
        passed = []
    return max(passed, default=clock.usual)


def _at_clock(moment: int, member: Member, day: int, at_ms: int) -> Span:
    """The window round a moment, or on one side of it."""
    relation = member.relation
    if relation == "before":
        return (moment - CLOSE_MS, moment) if member.close else (week_ms(day), moment)
    if relation == "until":
        return week_ms(day), moment
    if relation == "by":
        return week_ms(day), moment + AROUND_MS
    if relation == "after":
        return moment, moment + CLOSE_MS if member.close else week_ms(day, _DAY_LENGTH_MS)
    if relation == "since":
        return moment, max(at_ms, moment)
    return moment - AROUND_MS, moment + AROUND_MS


def _range(first: Phrase, second: Phrase, today: int, at_ms: int) -> Span | None:
    """From where one phrase begins to where another ends; a day that only one of them names is that of both."""
    days = _days(first), _days(second)
    low = days[0] or days[1]
    high = days[1] or days[0]
    if low is not None and high is not None:
        return _shortest(first, second, low.first, high.last, at_ms, latest=False)
    for day in (today, today - 1):
        span = _shortest(first, second, day, day, at_ms, latest=True)
        if span and span[0] <= at_ms:
            return span
    return None


def _shortest(first: Phrase, second: Phrase, low_day: int, high_day: int, at_ms: int, *, latest: bool) -> Span | None:
    """The shortest range of the readings of both ends, if possible in waking hours and over by `at_ms`.

    Of equal ones it is the `latest`, or else the first.
    """
    pairs = [
        (start, end)
        for start, end in product(_ends(first, low_day, begins=True), _ends(second, high_day, begins=False))
        if start < end
    ]
    over = [pair for pair in pairs if pair[1] <= at_ms]
    waking = range(week_ms(low_day, FIRST_WAKING_MS), week_ms(low_day + 1))
    sign = -1 if latest else 1
    return min(over or pairs, key=lambda pair: (pair[0] not in waking, pair[1] - pair[0], sign * pair[0]), default=None)


def _ends(phrase: Phrase, day: int, *, begins: bool) -> list[int]:
    """The moments at which a phrase can begin or end a range on a day."""
    clock = next((piece.clock for piece in phrase.pieces if piece.clock), None)
    part = next((piece.part for piece in phrase.pieces if piece.part), None)
    if clock is not None:
        if part is not None:
            low, high = (week_ms(day, hours_ms(hours)) for hours in hours_of(part))
            return [week_ms(day, _reading(clock, day, (low, high), None))]
        times = clock.readings if clock.spoken or not clock.either else (clock.usual,)
        return [week_ms(day, time) for time in times]
    if part is not None:
        hours = POINTS.get(part, hours_of(part)[0 if begins else 1])
        return [week_ms(day, hours_ms(hours))]
    days = _days(phrase)
    if days is not None and days.loose:
        return [days.loose[0 if begins else 1]]
    return [week_ms(day) if begins else week_ms(day, _DAY_LENGTH_MS)]

"""Time expressions in English text as windows of week time, seen from the moment of a question.

What people say is vague ("at noon", "about four hours ago"), so each window carries a confidence, and nothing outside
one is ever excluded: retrieval only prefers what lies inside (EgoCITE §3, Insight 2). Widths follow measurements on
questions whose true moment is known. Windows are cut at the question's time; what lies wholly after it is no window.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS, MINUTE_MS, day_of, week_ms
from ray_tasks.retrieval.numbers import NUMBER, ORDINAL, number_of, ordinal_of

PARTS: dict[str, tuple[float, float]] = {
    "early morning": (0, 9),
    "morning": (0, 12.2),
    "breakfast": (6, 11),
    "noon": (11, 14.5),
    "midday": (11, 14.5),
    "lunchtime": (11, 14.5),
    "lunch": (11, 14.5),
    "afternoon": (12, 18.6),
    "dinnertime": (16.5, 22),
    "dinner": (16.5, 22),
    "supper": (16.5, 22),
    "evening": (17, 28),
    "night": (17, 28),
    "midnight": (22.5, 28),
}
"""Hours of a day that each part of it covers; a night runs on to 04:00 of the next day."""

DAY_END_HOUR = 28
HALF_DAY_BEFORE_MS = 14 * HOUR_MS
HALF_DAY_AFTER_MS = 12 * HOUR_MS
"""People who say "two days ago" mean from 14 hours before that moment to 12 hours after it."""
AROUND_MS = 20 * MINUTE_MS
"""What "at 3 pm" means on either side."""
LEAST_SLACK_MINUTES, MOST_SLACK_MINUTES = 10.0, 180.0
"""Bounds of the slack of "N hours ago", which is a quarter of the time named."""

_ABOUT = "(?:about |around |approximately |roughly |almost |nearly |over |more than |less than )?"
_PART = "|".join(sorted(PARTS, key=len, reverse=True))
_UNIT = "(?:seconds?|minutes?|mins?|hours?|hrs?|days?|weeks?)"
_NAMED_DAY = (
    rf"(?:the )?day before yesterday|yesterday|today|day ?\d+\b(?! (?:and |{NUMBER} )?{_UNIT})|"
    rf"(?:the |my |our )?{ORDINAL} day"
)
_DAY = rf"{_NAMED_DAY}|tonight|{_ABOUT}{NUMBER} days? ago"
_CLOCK = r"\d{1,2}(?:[:.]\d{2})? ?(?:a\.?m\b\.?|p\.?m\b\.?)|\d{1,2}:\d{2}(?::\d{2})?|\d{1,2} o'?clock"
_RELATION = "(?P<relation>before |after |until |since )?"
_MINUTES = {"s": 1 / 60, "m": 1.0, "h": 60.0, "d": 1440.0, "w": 10080.0}


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A window [start_ms, end_ms] of week time, how sure it is to hold what is meant (0 to 1), and where it was read.

    `span` is the place of the phrase in the text.
    """

    start_ms: int
    end_ms: int
    confidence: float
    phrase: str
    span: tuple[int, int]


# In order: what is matched first keeps its words.
_RULES = tuple(
    (kind, re.compile(rf"\b(?:{pattern})"))
    for kind, pattern in (
        (
            "past",
            rf"(?:in|within|over|during|for) the (?:past|last|previous) (?:(?P<amount>{NUMBER}) )?(?P<unit>{_UNIT})\b",
        ),
        ("night_before_last", r"(?:the )?night before last\b"),
        ("last_night", r"(?:last|the previous) (?:night|evening)\b"),
        ("part_before_yesterday", rf"(?:the )?(?P<part>{_PART}) before yesterday\b"),
        (
            "between",
            rf"(?:between|from) (?P<clock>{_CLOCK}) (?:and|to|until|till) (?P<clock2>{_CLOCK})"
            rf"(?:,? (?:on )?(?P<day>{_DAY}))?",
        ),
        ("clock", rf"(?P<day>{_DAY}),? {_RELATION}(?:at |around |about |by )?(?P<clock>{_CLOCK})"),
        ("clock", rf"{_RELATION}(?:at |around |about |by )?(?P<clock>{_CLOCK})(?:,? (?:on )?(?P<day>{_DAY}))?"),
        ("part", rf"{_RELATION}this (?P<part>{_PART})\b"),
        (
            "part",
            rf"(?P<day>{_DAY})(?:'s)?,? (?:at |in |during |around |on |for )?(?:the )?{_RELATION}(?P<part>{_PART})\b",
        ),
        ("part", rf"{_RELATION}(?:the )?(?P<part>{_PART}),? (?:of |on |of the )?(?P<day>{_DAY})\b"),
        ("parts_ago", rf"(?P<amount>{NUMBER}) (?P<part>morning|afternoon|evening|night)s? ago\b"),
        (
            "ago",
            rf"{_ABOUT}(?:(?P<amount>{NUMBER}) )?(?P<unit>{_UNIT})(?P<half> and a half)?"
            rf"(?:,? (?:and )?(?P<amount2>{NUMBER}) (?P<unit2>minutes?|mins?|hours?|hrs?))?"
            rf" (?:ago|earlier|before now)\b",
        ),
        ("day", rf"(?:on |earlier )?(?P<day>{_NAMED_DAY})\b"),
        ("tonight", r"tonight\b"),
        ("just_now", r"just now\b|a (?:moment|second|(?:little )?while) ago\b|moments ago\b"),
        ("recent", r"recently\b|lately\b|these days\b"),
        (
            "bare_part",
            rf"{_RELATION}(?:in the |at |during |during the |around |over |on the |for |the )?(?P<part>{_PART})\b",
        ),
    )
)


def plain(text: str) -> str:
    """A text in lower case with plain apostrophes and no hyphens, of the same length."""
    low = text.lower()
    if len(low) != len(text):  # a few letters become two in lower case
        low = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return low.replace("’", "'").replace("-", " ")


def find_windows(text: str, at_ms: int) -> tuple[TimeWindow, ...]:
    """The windows a text names, in order of the text, seen from `at_ms`; words that belong to one phrase count once."""
    low = plain(text)
    taken: list[tuple[int, int]] = []
    found: list[TimeWindow] = []
    for kind, pattern in _RULES:
        for match in pattern.finditer(low):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            taken.append(match.span())
            window = _window(kind, match.groupdict(), at_ms)
            if window is not None and max(window[0], 0) <= min(window[1], at_ms):
                start, end, confidence = window
                phrase = match.group().strip()
                found.append(TimeWindow(max(start, 0), min(end, at_ms), confidence, phrase, match.span()))
    return tuple(sorted(found, key=lambda window: window.span))


def every_day(text: str, at_ms: int) -> tuple[TimeWindow, ...]:
    """A text that is nothing but a part of the day ("Evening", "At noon") as one window for each day up to `at_ms`."""
    low = plain(text).strip(" .!?")
    match = _RULES[-1][1].fullmatch(low)
    if not match:
        return ()
    windows: list[TimeWindow] = []
    for day in range(1, day_of(at_ms) + 1):
        start, end = _part(match.group("part"), day, match.group("relation"))
        if start <= at_ms:
            windows.append(TimeWindow(start, min(end, at_ms), 0.6, low, (0, len(text))))
    return tuple(windows)


def _window(kind: str, group: dict[str, str | None], at_ms: int) -> tuple[int, int, float] | None:
    """(start, end, confidence) of a phrase, not yet cut at the question's time; None where it is no time after all."""
    today = day_of(at_ms)
    if kind == "ago":
        return _ago(group, at_ms)
    if kind == "past":
        minutes = _MINUTES[str(group["unit"])[0]] * (number_of(group["amount"]) if group["amount"] else 1)
        return at_ms - round(minutes * MINUTE_MS), at_ms, 0.8
    if kind == "just_now":
        return at_ms - HOUR_MS, at_ms, 0.6
    if kind == "recent":
        return at_ms - DAY_MS, at_ms, 0.3
    if kind in ("last_night", "night_before_last", "tonight"):
        day = today - {"last_night": 1, "night_before_last": 2, "tonight": 0}[kind]
        return (*_part("night", day), 0.9)
    if kind == "parts_ago":
        return (*_part(str(group["part"]), today - round(number_of(str(group["amount"])))), 0.8)
    if kind == "part_before_yesterday":
        return (*_part(str(group["part"]), today - 2), 0.9)
    if kind == "day":
        day = _day(group["day"], today)
        return week_ms(day), week_ms(day, DAY_END_HOUR * HOUR_MS), 0.9
    if kind == "part":
        return (*_part(str(group["part"]), _day(group.get("day"), today), group["relation"]), 0.9)
    if kind == "bare_part":
        window = _part(str(group["part"]), today, group["relation"])
        return (*(window if window[0] <= at_ms else _part(str(group["part"]), today - 1, group["relation"])), 0.6)
    return _clock_window(group, at_ms)


def _ago(group: dict[str, str | None], at_ms: int) -> tuple[int, int, float]:
    """ "N days ago" is a day; anything shorter or finer is a moment with slack on both sides."""
    unit, amount = str(group["unit"])[0], group["amount"] or "a"
    number = number_of(amount) + (0.5 if group["half"] else 0.0)
    minutes = number * _MINUTES[unit]
    if group["amount2"]:
        minutes += number_of(group["amount2"]) * _MINUTES[str(group["unit2"])[0]]
    middle = at_ms - round(minutes * MINUTE_MS)
    vague = any(word in amount for word in ("few", "several", "couple", "some"))
    if unit in "dw" and number >= 1 and not group["amount2"]:
        slack = DAY_MS if vague else 0
        return middle - HALF_DAY_BEFORE_MS - slack, middle + HALF_DAY_AFTER_MS + slack, 0.5 if vague else 0.8
    share = 0.6 if vague else 0.25
    slack = round(min(max(share * minutes, LEAST_SLACK_MINUTES), MOST_SLACK_MINUTES) * MINUTE_MS)
    return middle - slack, middle + slack, 0.6 if vague else 0.8


def _part(part: str, day: int, relation: str | None = None) -> tuple[int, int]:
    """A part of a day; with a relation also what lies before or after it on the same day."""
    low, high = PARTS[part]
    start, end = week_ms(day, round(low * HOUR_MS)), week_ms(day, round(high * HOUR_MS))
    if relation and relation.strip() in ("before", "until"):
        return week_ms(day), end
    if relation:
        return start, week_ms(day, DAY_END_HOUR * HOUR_MS)
    return start, end


def _day(text: str | None, today: int) -> int:
    """The number of a day as people name it, for someone for whom it is day `today`."""
    if not text or text.endswith(("today", "tonight")):
        return today
    if text.endswith("before yesterday"):
        return today - 2
    if text.endswith("yesterday"):
        return today - 1
    if text.endswith("ago"):
        amount = re.search(rf"(?P<amount>{NUMBER}) days? ago", text)
        return today - (round(number_of(amount.group("amount"))) if amount else 0)
    digits = re.search(r"day ?(\d+)", text)
    return int(digits.group(1)) if digits else ordinal_of(text)


def _clock_window(group: dict[str, str | None], at_ms: int) -> tuple[int, int, float] | None:
    clock = _clock_ms(str(group["clock"]))
    if clock is None:
        return None
    moment = week_ms(_day(group["day"], day_of(at_ms)), clock)
    if not group["day"] and moment > at_ms:
        moment -= DAY_MS
    if group.get("clock2"):
        second = _clock_ms(str(group["clock2"]))
        return None if second is None else (moment, moment + (second - clock) % DAY_MS, 0.9)
    relation = (group.get("relation") or "").strip()
    midnight = moment - moment % DAY_MS
    if relation in ("before", "until"):
        return midnight, moment, 0.8
    if relation:
        return moment, midnight + DAY_END_HOUR * HOUR_MS, 0.8
    return moment - AROUND_MS, moment + AROUND_MS, 0.9


def _clock_ms(text: str) -> int | None:
    """Milliseconds since midnight of ``3 pm`` or ``15:30``; None where it is no time of day.

    One to six o'clock are in the afternoon.
    """
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    hour, minute = numbers[0], numbers[1] if len(numbers) > 1 else 0
    if ("p" in text and hour < 12) or ("clock" in text and hour < 7):
        hour += 12
    elif "a" in text and hour == 12:
        hour = 0
    return hour * HOUR_MS + minute * MINUTE_MS if hour < 24 and minute < 60 else None

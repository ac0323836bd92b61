"""Amounts of time: how long ago something was, and "in the last N ..."."""

from __future__ import annotations

import re
from typing import Final

from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS, MINUTE_MS
from ray_tasks.retrieval.numbers import NUMBER, number_of

UNIT: Final = r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|h|days?|weeks?)"
_MINUTES: Final = {"s": 1 / 60, "m": 1.0, "h": 60.0, "d": 1440.0, "w": 10080.0}
_LESS: Final = r"(?P<less>less than|under|at most|not more than|no more than|within(?: the last)?)"
_MORE: Final = r"(?P<more>more than|at least|well over)"
_ABOUT: Final = (
    r"(?:a good|about|around|approximately|roughly|almost|nearly|over|just over|just under|some(?= (?:\d|one|two|three|"
    r"four|five|six|seven|eight|nine|ten|twenty))|like|maybe|probably|only|just)"
)
_AGO: Final = r"(?:ago|earlier(?! than)|before now|back(?= *(?:$|[?.,;!])))"
_SHARE: Final = r"(?P<share>(?:a |three )?quarters?) of an "

AGO: Final = re.compile(
    rf"\b(?:(?:{_LESS}|{_MORE}|{_ABOUT}) )*(?:between )?(?:{_SHARE}|(?P<a_quarter>(?:a )?quarter )|"
    rf"(?:(?P<amount>{NUMBER}) ?)(?:(?:~|to|or|and) ?(?P<most>{NUMBER}) ?)?)?"
    rf"(?P<unit>{UNIT})(?: or (?P<more_units>two|so))?(?P<half> and a half)?"
    rf"(?:,? (?:and )?(?P<amount2>{NUMBER}) ?(?P<unit2>minutes?|mins?|hours?|hrs?))?(?: or so)? {_AGO}\b"
)
"""A moment some time before the question."""

PAST: Final = re.compile(
    rf"\b(?:(?:in|within|over|during|for|throughout) (?:the |these )?|(?:the |these )(?=\w+ {NUMBER} ))"
    rf"(?:past|last|previous) (?:(?P<amount>{NUMBER}|half) )?(?P<unit>{UNIT})(?P<half> and a half)?\b(?! so far)"
)
"""What ends with the question: "in the last two days"."""
VAGUE_PASTS: Final[tuple[tuple[re.Pattern[str], int, float], ...]] = (
    (re.compile(r"\bjust now\b|\b(?:a |just a )?(?:short |little )?(?:moments?|seconds?|while) ago\b"), HOUR_MS, 0.6),
    (re.compile(r"\bnot (?:so |very |too )?long ago\b"), 4 * HOUR_MS, 0.4),
    (re.compile(r"\brecently\b|\blately\b|\bthese days\b"), DAY_MS, 0.3),
)
"""Words for the near past: their pattern, how far it reaches back in ms, and the confidence."""

HALF_DAY_BEFORE_MS: Final = 14 * HOUR_MS
HALF_DAY_AFTER_MS: Final = 12 * HOUR_MS
"""People who say "two days ago" mean from 14 hours before that moment to 12 hours after it."""
_LEAST_SLACK_MINUTES, _MOST_SLACK_MINUTES = 10.0, 180.0
"""Bounds of the slack of "N hours ago", which is a quarter of the time named."""

Window = tuple[int, int, float]
"""Start and end (week time, ms; the end may lie after the question) and confidence."""


def days_ago(match: re.Match[str]) -> int | None:
    """The days in an AGO that names whole days or weeks and nothing finer, as in "two days ago"; else None."""
    unit = match["unit"][0]
    if unit not in "dw" or match["amount2"] or match["share"] or match["a_quarter"] or match["more_units"] == "two":
        return None
    if match["less"] or match["more"] or match["most"] or match["half"]:
        return None
    number = number_of(match["amount"] or "a")
    return round(number) * (7 if unit == "w" else 1) if number >= 1 else None


def ago(match: re.Match[str], at_ms: int) -> Window:
    """The window of an AGO: a day for days, else a moment with slack on both sides, or all that is less or more."""
    unit, amount = match["unit"][0], match["amount"] or "a"
    number = number_of(amount)
    if match["share"] or match["a_quarter"]:
        number = 0.75 if (match["share"] or "").startswith("three") else 0.25
    number += 0.5 if match["half"] else 0.0
    minutes = number * _MINUTES[unit]
    if match["amount2"]:
        minutes += number_of(match["amount2"]) * _MINUTES[match["unit2"][0]]
    most = minutes
    if match["most"] or match["more_units"] == "two":
        most = _MINUTES[unit] * number_of(match["most"] or "two")
    vague = any(word in amount for word in ("few", "several", "couple", "some")) and not match["share"]
    days = unit in "dw" and number >= 1 and not match["amount2"]
    before, after = _slack(most, vague=vague, days=days)[0], _slack(minutes, vague=vague, days=days)[1]
    start, end = at_ms - round(most * MINUTE_MS) - before, at_ms - round(minutes * MINUTE_MS) + after
    if match["less"]:
        end = at_ms
    if match["more"]:
        start, end = start - round(minutes * MINUTE_MS), at_ms - round(minutes * MINUTE_MS)
    vague = vague or bool(match["less"] or match["more"])
    return start, end, (0.5 if days else 0.6) if vague else 0.8


def _slack(minutes: float, *, vague: bool, days: bool) -> tuple[int, int]:
    """How much earlier and later than a moment people may mean (ms)."""
    if days:
        more = DAY_MS if vague else 0
        return HALF_DAY_BEFORE_MS + more, HALF_DAY_AFTER_MS + more
    share = 0.6 if vague else 0.25
    slack = round(min(max(share * minutes, _LEAST_SLACK_MINUTES), _MOST_SLACK_MINUTES) * MINUTE_MS)
    return slack, slack


def past(match: re.Match[str], at_ms: int) -> Window:
    """The window of a PAST."""
    amount = "half a" if match["amount"] == "half" else match["amount"] or "a"
    number = number_of(amount) + (0.5 if match["half"] else 0.0)
    return at_ms - round(number * _MINUTES[match["unit"][0]] * MINUTE_MS), at_ms, 0.8

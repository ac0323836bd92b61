"""Days as people name them: ``DAY3``, ``the third day``, ``yesterday``, ``last Friday``, ``every day``.

A weekday is a day of the recording only where the date of DAY1 is known, or where the text itself says what day it is
("today is Sunday"); otherwise it is no window, rather than a wrong one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Final

from ray_tasks.retrieval.numbers import NUMBER, ORDINAL, number_of, ordinal_of
from ray_tasks.retrieval.spoken_time.amounts import UNIT

WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY: Final = "|".join(WEEKDAYS)
_NUMBERS: Final = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen"
_OWN: Final = r"(?:(?:the|my|our|that) )?(?:very )?"

DAYS: Final = tuple(
    (kind, re.compile(rf"\b(?:{pattern})\b"))
    for kind, pattern in (
        ("today_is", rf"(?:today is|it is|it's) (?P<weekday>{_WEEKDAY})(?: today)?"),
        ("so_far", r"(?:the )?(?:last|latest|most recent) day so far"),
        ("first_days", rf"(?:the |my |our )?first (?P<amount>{NUMBER}) days"),
        ("later", r"(?:the )?day after tomorrow|tomorrow"),
        ("before_yesterday", r"(?:the )?day before yesterday"),
        ("yesterday", r"yesterday|(?:the )?previous day"),
        ("today", r"today"),
        (
            "numbers",
            rf"days? (?P<number>\d{{1,3}}|{_NUMBERS}) ?(?:and|to|until|till|through|or|&|~) ?"
            rf"(?P<last>\d{{1,3}}|{_NUMBERS})(?![\d:.]| ?(?:{UNIT}|[ap]\.?m|o'?clock)\b)",
        ),
        ("number", rf"day ?(?P<number>\d{{1,4}}|{_NUMBERS})(?! (?:and |{NUMBER} )?{UNIT}\b)(?!\d)"),
        ("ordinal", rf"{_OWN}(?P<place>{ORDINAL}) day(?! (?:off|trip|tour|care|out)\b)"),
        ("other", r"(?:the )?other day"),
        ("every", r"(?:every|each) (?:single )?day"),
        ("weekday", rf"(?:(?P<which>last|this) )?(?P<weekday>{_WEEKDAY})"),
        ("weekend", r"(?:last |this |the |at the )?weekend"),
    )
)
"""Names of days, longest first."""


@dataclass(frozen=True, slots=True)
class Days:
    """Days of the recording, from first to last, as one span; where `each` is set every one is meant by itself.

    `loose`: (start, end) in week time where the phrase alone is wider than its day. `confidence` is that of the phrase.
    """

    first: int
    last: int
    confidence: float = 0.9
    each: bool = False
    loose: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Today:
    """What is known of the day of a question: its number, and its weekday (0 is Monday) where that is known."""

    number: int
    weekday: int | None = None

    @classmethod
    def of(cls, number: int, text: str, first_day: date | None) -> Today:
        """The weekday comes from the date of DAY1, or from a text that says it."""
        if first_day is not None:
            return cls(number, (first_day.weekday() + number - 1) % 7)
        said = DAYS[0][1].search(text)
        return cls(number, WEEKDAYS.index(said["weekday"]) if said else None)


def days_of(kind: str, match: re.Match[str], today: Today) -> Days | None:
    """The days that one of DAYS matched; None where it cannot be told which day of the recording is meant."""
    number = today.number
    if kind == "number":
        day = int(number_of(match["number"]))
        return _one(day) if day else None
    if kind == "numbers":
        first, last = sorted((int(number_of(match["number"])), int(number_of(match["last"]))))
        return Days(first, last) if first else None
    if kind == "ordinal":
        return _one(ordinal_of(match["place"]))
    if kind in ("weekday", "weekend"):
        return _weekdays(kind, match, today)
    if kind == "first_days":
        return Days(1, max(round(number_of(match["amount"])), 1))
    if kind == "every":
        return Days(1, number, 0.6, each=True)
    if kind == "other":
        return Days(max(number - 4, 1), max(number - 1, 0), 0.3)
    if kind == "today_is":
        return None
    back = {"before_yesterday": 2, "yesterday": 1, "today": 0, "so_far": 0, "later": -1}[kind]
    return _one(number - back, 0.6 if "previous" in match.group() else 0.9)


def _weekdays(kind: str, match: re.Match[str], today: Today) -> Days | None:
    """The latest such day up to the question, for "last Friday" before the question's own day."""
    if today.weekday is None:
        return None
    if kind == "weekend":
        sunday = today.number - (today.weekday - 6) % 7 if today.weekday != 5 else today.number + 1
        return Days(max(sunday - 1, 1), sunday) if sunday >= 1 else None
    back = (today.weekday - WEEKDAYS.index(match["weekday"])) % 7
    if back == 0 and match["which"] == "last":
        back = 7
    day = today.number - back
    return _one(day) if day >= 1 else None


def _one(day: int, confidence: float = 0.9) -> Days:
    return Days(day, day, confidence)

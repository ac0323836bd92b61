"""Calendar dates as the days of a recording: ``3 May 2024`` is DAY3 where recording began on the first of May.

Benchmarks made from a week of recordings date their questions, while the memory counts days. Dates are read in the
forms people and programs write; what is no date of the recording stays as it is and is counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
LONGEST_DAYS: Final = 366
"""A date further than this from the first day is none of the recording's."""

_MONTH: Final = "|".join(rf"{month}|{month[:3]}\.?" for month in MONTHS)
_ORDINAL: Final = r"(?:st|nd|rd|th)?"
_FORMS: Final = (
    r"(?<!\d)(?P<y1>\d{4})[-/.](?P<m1>\d{1,2})[-/.](?P<d1>\d{1,2})(?!\d)",
    r"(?:(?P<y4>\d{4})年)?(?P<m4>\d{1,2})月(?P<d4>\d{1,2})[日号]",
    rf"\b(?P<m2>{_MONTH}) (?P<d2>\d{{1,2}}){_ORDINAL}\b(?!:)(?:,? (?P<y2>\d{{4}})\b)?",
    rf"\b(?P<d3>\d{{1,2}}){_ORDINAL}(?: of)? (?P<m3>{_MONTH})(?!\w)(?:,? (?P<y3>\d{{4}})\b)?",
)
DATE: Final = re.compile("|".join(_FORMS))
"""A date within a text; its parts are read by `date_of`."""
_AMBIGUOUS: Final = re.compile(r"(?<!\d)\d{1,2}/\d{1,2}/\d{2,4}(?!\d)")
_COMPACT: Final = re.compile(r"(?:19|20)\d{6}")
_STAMP: Final = re.compile(r"(?<=\d)T(?=\d{2}:\d{2})")
_GLUED_CLOCK: Final = re.compile(
    r"(?P<day>\bDAY ?\d{1,3}[ _,]+)(?P<h>[01]\d|2[0-3])(?P<m>[0-5]\d)(?P<s>[0-5]\d)(?:\d\d)?\b"
)


@dataclass(frozen=True, slots=True)
class Calendar:
    """The date of DAY1."""

    first: date

    def day_number(self, when: date) -> int | None:
        """The day of the recording, from 1; None for a date before it or long after."""
        number = (when - self.first).days + 1
        return number if 1 <= number <= LONGEST_DAYS else None


@dataclass(frozen=True, slots=True)
class Dated:
    """A text with its dates as days: how many became days, and how many could not."""

    text: str
    converted: int = 0
    left: int = 0


def as_days(text: str, calendar: Calendar | None) -> Dated:
    """Every date in a text as ``DAYn``, and ``DAY3 11300000`` as ``DAY3 11:30``, which is how people write times."""
    converted = left = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal converted, left
        when = date_of(match, calendar.first.year if calendar else None)
        number = calendar.day_number(when) if calendar and when else None
        if number is None:
            left += 1
            return match.group()
        converted += 1
        return f"DAY{number}"

    text = DATE.sub(replace, _STAMP.sub(" ", text))
    left += len(_AMBIGUOUS.findall(text))
    text = re.sub(r"\b[Tt]he (?=DAY\d)", "", text)
    return Dated(_GLUED_CLOCK.sub(_written_clock, text), converted, left)


def date_of(match: re.Match[str], year: int | None) -> date | None:
    """The date that DATE matched; `year` stands in where the text gives none. None for no date of any calendar."""
    form = next(number for number in "1423" if match.group(f"d{number}"))
    month_text = match.group(f"m{form}")
    month = int(month_text) if month_text.isdigit() else _month_number(month_text)
    in_year = int(match.group(f"y{form}") or 0) or year
    try:
        return date(in_year, month, int(match.group(f"d{form}"))) if in_year else None
    except ValueError:
        return None


def compact_date(text: str) -> date | None:
    """The date in ``20240503``, None where the text is no such date (a clock time such as 20240503 is told by use)."""
    if not _COMPACT.fullmatch(text):
        return None
    try:
        return date(int(text[:4]), int(text[4:6]), int(text[6:]))
    except ValueError:
        return None


def dates_in(value: object) -> Iterator[date]:
    """Every date with a year in a value of any JSON shape, as strings are found in it."""
    if isinstance(value, dict):
        for part in value.values():
            yield from dates_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from dates_in(part)
    elif isinstance(value, (str, int)) and not isinstance(value, bool):
        compact = compact_date(str(value).strip())
        if compact:
            yield compact
        for match in DATE.finditer(str(value)):
            when = date_of(match, None)
            if when:
                yield when


def _month_number(name: str) -> int:
    return [month[:3] for month in MONTHS].index(name[:3]) + 1


def _written_clock(match: re.Match[str]) -> str:
    seconds = "" if match["s"] == "00" else f":{match['s']}"
    return f"{match['day'].rstrip(' _,')} {match['h']}:{match['m']}{seconds}"

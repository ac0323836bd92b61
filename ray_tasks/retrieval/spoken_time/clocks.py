"""Clock times as people say and write them: ``11:15``, ``3 pm``, ``half past nine``, ``twenty to four``, ``at 3``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ray_tasks.corpus.week_time import HOUR_MS, MINUTE_MS
from ray_tasks.retrieval.numbers import number_of

NOON_MS: Final = 12 * HOUR_MS
FIRST_WAKING_MS: Final = 7 * HOUR_MS
"""Of two readings of an hour without am or pm, the one before this is the other half of the day."""

_HOURS: Final = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_HALF: Final = r"(?P<half>a\.?m\b\.?|p\.?m\b\.?)"
_NO_QUANTITY: Final = r"(?! ?(?:%|percent|k?g|k?m|cm|mm|m?l|lit(?:er|re)s?|euros?|dollars?|yuan|kilos?|degrees)\b)"
_BEHIND: Final = "|".join(rf"(?<=\b{word} )" for word in ("at", "by", "around", "before", "after", "since", "until"))
_PAUSE: Final = (
    r"(?=\s*(?:$|[?.,;!)~]|(?:in the (?:\w+ )?(?:morning|afternoon|evening)|at night|this|last (?:night|evening)|"
    r"yesterday|today|tonight|the day before|on (?:day|the|my|our)|day|and|to|until|till|or)\b))"
)
"""What follows a bare number that may be a time of day; before a noun it counts things."""

CLOCKS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:(?P<share>half|(?:a )?quarter)|(?P<amount>five|ten|twenty five|twenty|\d{{1,2}})(?P<named> minutes?)?) "
        rf"(?P<side>past|after|to|before|till) (?P<of>{_HOURS}|1[0-2]|[1-9])\b(?![:.]\d)(?: o'?clock)?(?: ?{_HALF})?",
        rf"(?<![\d.:])(?P<hour>\d{{1,2}})[:h](?P<minute>\d{{2}})(?::(?P<second>\d{{2}}))?(?![\d:]|\.\d)(?: ?{_HALF})?",
        rf"(?<![\d.:])(?P<hour>\d{{1,2}})\.(?P<minute>\d{{2}}) ?{_HALF}",
        rf"(?:{_BEHIND})(?P<hour>\d{{1,2}})\.(?P<minute>\d{{2}})\b(?![.:]\d){_NO_QUANTITY}",
        rf"\b(?P<hour>\d{{1,2}}|{_HOURS}) ?{_HALF}",
        rf"\b(?P<hour>\d{{1,2}}|{_HOURS}) o'?clock\b(?: ?{_HALF})?",
    )
)
"""Clock times, surest first."""
BARE: Final = re.compile(rf"\b(?P<hour>{_HOURS}|1[0-2]|[1-9])\b(?![:.%]\d){_PAUSE}")
"""A number that may be a time of day beside a word that makes it one."""
_ROUND_MINUTES: Final = (5, 10, 20, 25)
_RANGE_BEFORE: Final = re.compile(r"\b(?:from|between) $")


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day in ms since midnight; `either`: it may as well be twelve hours later.

    `spoken`: nothing tells the half of the day, as a written ``9:30`` does.
    """

    ms: int
    either: bool = False
    spoken: bool = False

    @property
    def readings(self) -> tuple[int, ...]:
        """The times it can mean, within the 28 hours that people call one day."""
        times = [self.ms, self.ms + NOON_MS] if self.either else [self.ms]
        return (*times, *(time + 24 * HOUR_MS for time in times if time < 4 * HOUR_MS))

    @property
    def usual(self) -> int:
        """What somebody who is awake means by it: one to half past six are in the afternoon, the rest as it stands."""
        return self.ms + NOON_MS if self.either and self.ms < FIRST_WAKING_MS else self.ms


def clock_of(match: re.Match[str]) -> Clock | None:
    """The time that one of CLOCKS or BARE matched; None where it is no time of day."""
    group = match.groupdict()
    half = (group.get("half") or "")[:1]
    if group.get("side"):
        return _past_or_to(match, half)
    hour, minute, second = (int(number_of(group.get(name) or "0")) for name in ("hour", "minute", "second"))
    if hour > 23 or minute > 59 or second > 59:
        return None
    written = bool(group.get("minute"))
    ms = hour * HOUR_MS + minute * MINUTE_MS + second * 1000
    if half or hour > 12 or (written and str(group["hour"]).startswith("0")):
        return Clock(_in_half(ms, half))
    # a written 9:30 is one of the morning, but few are awake at 3:15
    return Clock(ms % NOON_MS, either=True, spoken=not written or hour < 7)


def _past_or_to(match: re.Match[str], half: str) -> Clock | None:
    """``Half past``, ``quarter to`` and minutes before or after an hour; "from ten to eleven" is a range instead."""
    share, side = match["share"], match["side"]
    minutes = 30 if share == "half" else 15 if share else int(number_of(match["amount"]))
    if minutes > 59 or (share == "half" and side != "past"):
        return None
    if not share and not match["named"] and side != "past":
        whole, start, end = match.string, match.start(), match.end()
        plainly = minutes in _ROUND_MINUTES and re.compile(_PAUSE).match(whole, end)
        if not plainly or _RANGE_BEFORE.search(whole, 0, start):
            return None
    sign = 1 if side in ("past", "after") else -1
    ms = (int(number_of(match["of"])) * 60 + sign * minutes) % (12 * 60) * MINUTE_MS
    return Clock(_in_half(ms, half)) if half else Clock(ms, either=True, spoken=True)


def _in_half(ms: int, half: str) -> int:
    """A time in the half of the day that is named, if one is."""
    if half == "p" and ms < NOON_MS:
        return ms + NOON_MS
    if half == "a" and NOON_MS <= ms < NOON_MS + HOUR_MS:
        return ms - NOON_MS
    return ms

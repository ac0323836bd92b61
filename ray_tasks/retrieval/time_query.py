"""What a question asks of time: which occurrence, inside which windows, and relative to which other event.

This is the rule engine's counterpart of the temporal query that EgoCITE's drafting agent writes (§4.2): an intent
("last", "first", "usually"), windows of week time with a confidence, and an anchor for "after the last time I did X".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal

from ray_tasks.retrieval.time_phrases import TimeWindow, every_day, find_windows, plain

Intent = Literal["latest", "earliest", "recent", "habit", "plan", "any"]
Relation = Literal["before", "after", "during"]

_OF_OCCASION = r"(?:the |my |our |your )?(?:very )?(?:{}) (?:time|occasion)\b"
_LAST_TIME = _OF_OCCASION.format("last|previous|latest|most recent")
_FIRST_TIME = _OF_OCCASION.format("first|earliest")
_PERIOD = r"(?:night|evening|week|month|year|name|step|floor|hours?|minutes?|days?|few|couple|several|\d+|two|three)"
_HABIT = re.compile(
    r"\b(?:usual(?:ly)?|often|always|typically|normally|generally|habitually|frequent(?:s|ly)?|regularly|routinely|"
    r"every (?:time|day|morning|evening|night)|each time|most of the time|mostly|tends? to|habits?|favou?rite|"
    r"likes? to|loves? to|prefers?|the most|the least|how many times|how frequently)\b"
)
_REGULAR = re.compile(
    r"\b(?:usual(?:ly)?|often|always|typically|normally|generally|habitually|regularly|routinely|mostly|tends? to|"
    r"habits?|every time|each time|most of the time|likes? to|loves? to|prefers?)\b"
)
"""Words that speak of all days; "the most" and "how many times" may count within one."""
_OCCASION = re.compile(rf"\b(?:{_LAST_TIME}|{_FIRST_TIME})")
_LATEST = re.compile(rf"\b(?:{_LAST_TIME}|last\b(?! {_PERIOD}\b)|latest\b|most recent(?:ly)?\b)")
_EARLIEST = re.compile(
    rf"\b(?:{_FIRST_TIME}|first\b(?! (?:day|floor|aid|night|name|person|thing in the morning)\b)|earliest\b|"
    r"originally\b|initially\b)"
)
_RECENT = re.compile(
    r"\b(?:just now|(?:a )?(?:moment|minute|second)s? ago|just (?:\w+ed|said|did|put|gave|took|told|had|got))\b"
)
_PLAN = re.compile(
    r"\b(?:plan(?:s|ned|ning)?|(?:am|is|are) (?:\w+ )?going to|gonna|will|shall|should|might|may|wants? to|needs? to|"
    r"next|tomorrow|intend(?:s|ed)?|would like to|later today|upcoming|do we have (?:in|for|on))\b"
)
_ASKS_WHEN = re.compile(
    r"\bwhen (?:was|were|is|are|did|do|does|had|have|has|will|should)\b|\bwhat time\b|\bhow long ago\b|\bwhat day\b|"
    r"\bwhich day\b|\bwhen exactly\b"
)
_ANCHOR = re.compile(
    r"\b(?P<relation>after|before|since|until|while|when|during|as soon as|the moment)\b "
    r"(?!(?:was|were|is|are|did|do|does|"
    rf"had|have|has|will)\b)(?:{_LAST_TIME} |{_FIRST_TIME} )?(?:that |when )?(?P<clause>[^,?.;]+)"
)
_OCCASION_CLAUSE = re.compile(
    rf"(?P<relation>\b(?:after|before|since) )?(?:{_LAST_TIME}|{_FIRST_TIME}) (?:that |when )?(?P<clause>[^,?.;]+)"
)
_RELATIONS: dict[str, Relation] = {
    "after": "after",
    "since": "after",
    "as soon as": "after",
    "before": "before",
    "until": "before",
}


@dataclass(frozen=True, slots=True)
class Anchor:
    """An event by which a question places another one: ``after`` `I cut the fruit`."""

    relation: Relation
    clause: str


@dataclass(frozen=True, slots=True)
class TimeQuery:
    """The temporal side of a question; `windows` are cut at the question's time and may be empty."""

    intent: Intent
    windows: tuple[TimeWindow, ...]
    anchor: Anchor | None
    asks_when: bool


@lru_cache(maxsize=4096)  # every step of a method reads the same question
def parse_time_query(text: str, at_ms: int, first_day: date | None = None) -> TimeQuery:
    """Reads the temporal intent of a question asked at `at_ms` (week time, ms); `first_day` is the date of DAY1.

    A question about plans is answered by what was said before, so windows that are not over yet ("this afternoon",
    "today") do not place its answer and are left out; so is a part of the day alone, which is the coming one.
    """
    low = plain(text)
    intent = intent_of(low)
    # "the last time we had breakfast on the boat" may be on any day
    any_day = bool(_REGULAR.search(low) or _OCCASION.search(low))
    found = find_windows(text, at_ms, first_day, any_day=any_day)
    windows = tuple(one for one in found if one.dated and one.end_ms < at_ms) if intent == "plan" else found
    return TimeQuery(intent, windows, _anchor(text, found), bool(_ASKS_WHEN.search(low)))


def intent_of(low: str) -> Intent:
    """The intent of a lower-case question: habit before last, last before just now, that before plans, then first."""
    if _HABIT.search(low):
        return "habit"
    if _LATEST.search(low):
        return "latest"
    if _RECENT.search(low):
        return "recent"
    if _PLAN.search(low):
        return "plan"
    if _EARLIEST.search(low):
        return "earliest"
    return "any"


@lru_cache(maxsize=16384)
def choice_windows(text: str, at_ms: int, first_day: date | None = None) -> tuple[TimeWindow, ...]:
    """The windows of a choice that is a time and little else ("About four hours ago"); none for other choices.

    A part of the day alone ("Evening") may be that of any day. `first_day` is the date of DAY1.
    """
    windows = every_day(text, at_ms)
    if windows:
        return windows
    windows = find_windows(text, at_ms, first_day)
    rest = len(text.split()) - sum(len(phrase.split()) for _, phrase in {(one.span, one.phrase) for one in windows})
    return windows if windows and rest <= 2 else ()


def _anchor(text: str, windows: tuple[TimeWindow, ...]) -> Anchor | None:
    """The event a question is placed by; phrases that are times of their own ("before lunch") are no events."""
    low = plain(text)
    for pattern in (_OCCASION_CLAUSE, _ANCHOR):
        for match in pattern.finditer(low):
            start, end = match.span("clause")
            a_time = any(
                first <= start < last or start <= first < start + 4 for first, last in (w.span for w in windows)
            )
            if len(match.group("clause").split()) >= 2 and not a_time:
                relation = (match.group("relation") or "during").strip()
                return Anchor(_RELATIONS.get(relation, "during"), text[start:end].strip())
    return None

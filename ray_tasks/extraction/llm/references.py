"""Whether a statement names everybody and everything it speaks of (EgoCITE Table 8, entity resolution).

A pronoun may stand where its referent stands before it in the same statement: "Tobi says that he will lock the shed".
"""

from __future__ import annotations

import re
from typing import Final

from ray_tasks.extraction.llm.faults import Fault
from ray_tasks.extraction.llm.sources import Source
from ray_tasks.extraction.llm.statement import Statement
from ray_tasks.extraction.verbs import verb_base
from ray_tasks.extraction.wordlists import (
    ADVERBS,
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    PREPOSITIONS,
    word_set,
)

_SINGULAR: Final = word_set("he she him his her hers himself herself")
_PLURAL: Final = word_set("they them their theirs themselves")
_THING: Final = word_set("it its itself")
_OURS: Final = word_set("we us our ours ourselves")
_YOURS: Final = word_set("you your yours yourself")
_MINE: Final = word_set("i me my mine myself")
_OBJECTS: Final = word_set("him her them")
_UNNAMED: Final = word_set(
    "someone somebody anyone anybody person persons man men woman women guy guys lady ladies stranger strangers others"
)
_VAGUE: Final = word_set("stuff thing things something")
_WEATHER: Final = re.compile(
    r"\bit(?: (?:looks|seems|sounds) (?:like|as|that)\b"
    r"|(?: 's| is| was| will be| looks| seems| gets| feels)? (?:\w+ly |too |very |so )?"
    r"(?:rain\w*|snow\w*|time|late|early|cold|hot|warm|dark|noon|midnight|sunny|windy|cloudy|stormy)\b)"
)
_AFTER_DEICTIC: Final = PREPOSITIONS | CONJUNCTIONS | AUXILIARIES | ADVERBS
_FINITE: Final = AUXILIARIES | word_set("looks seems means sounds works goes needs makes makes takes")
_ONES: Final = word_set("this that these those another other same")
_BE: Final = word_set("is are was were 's will would can could might must has have had should isn't aren't wasn't")


def check_subject(statement: Statement, source: Source) -> list[Fault]:
    """Faults of who a statement is about: nobody named, or a name that no line holds."""
    first = statement.words[0].strip(",")
    if first.endswith("'s") or (not statement.subjects and first not in source.names):  # "Will" is a name too
        return [Fault("unnamed_subject", " ".join(statement.words[:2]))]
    unknown = [name for name in statement.subjects if name != "I" and not _is_known(name, source)]
    return [Fault("unknown_name", ", ".join(unknown))] if unknown else []


def _is_known(name: str, source: Source) -> bool:
    parts = name.split()
    return source.foreign or name in source.names or all(part in source.names for part in parts)


def check_references(statement: Statement) -> list[Fault]:
    """Faults of words that point at somebody or something the statement does not name."""
    pointing = [statement.words[i] for i in range(len(statement.low)) if _points_nowhere(statement, i)]
    told = statement.clause if statement.clause is not None else len(statement.low)
    unnamed = [word for word in statement.low[:told] if word in _UNNAMED]
    faults = [Fault("pronoun", ", ".join(pointing))] if pointing else []
    return [*faults, Fault("unnamed_person", ", ".join(unnamed))] if unnamed else faults


def _points_nowhere(statement: Statement, i: int) -> bool:
    word = statement.low[i]
    if word in _SINGULAR:
        return not _has_person(statement, i)
    if word in _PLURAL:
        return not (_names_before(statement, i) >= 2 or _things_before(statement, i))
    if word in _THING:
        return not (_things_before(statement, i) or _WEATHER.match(" ".join(statement.low[i:])))
    if word in _OURS:
        return not (_names_before(statement, i) and _MINE & set(statement.low[:i]))
    if word in _YOURS:
        return statement.low[i - 1] != "thank"
    if word in _VAGUE:
        return word != "something" or not _is_described(statement, i)
    return _is_deictic(statement, i)


def _has_person(statement: Statement, i: int) -> bool:
    """Whether somebody before a pronoun can be meant: for an object of the same clause not its own subject."""
    names = _names_before(statement, i)
    word, follower = statement.low[i], _next(statement, i)
    is_object = word in _OBJECTS and (word != "her" or follower in _AFTER_DEICTIC | DETERMINERS | {""})
    in_clause = statement.clause is not None and i > statement.clause
    return names >= (2 if is_object and not in_clause else 1)


def _is_deictic(statement: Statement, i: int) -> bool:
    word, before, after = statement.low[i], statement.low[i - 1] if i else "", _next(statement, i)
    if word in ("this", "these", "those"):
        is_subject = word == "this" and after.endswith("s") and verb_base(after) is not None
        return is_subject or after in _AFTER_DEICTIC | {""}
    if word in ("one", "ones"):
        return before in _ONES
    if word == "here":
        return True
    if word == "there":
        return after not in _BE and (before in PREPOSITIONS or not _things_before(statement, i))
    if word != "that":
        return False
    if after in ("", "thing"):
        return True
    if before in PREPOSITIONS:
        return after in _AFTER_DEICTIC
    return after in _FINITE and not statement.is_thing(i - 1)


def _is_described(statement: Statement, i: int) -> bool:
    """Whether a "something" is told more of: "something to drink", "something hot"."""
    after = _next(statement, i)
    if after == "to":
        return i + 2 < len(statement.low) and verb_base(statement.low[i + 2]) is not None
    return after not in _AFTER_DEICTIC | {""}


def _next(statement: Statement, i: int) -> str:
    if statement.words[i].endswith((",", ".", "!", "?", ";", ":")):
        return ""
    return statement.low[i + 1] if i + 1 < len(statement.low) else ""


def _names_before(statement: Statement, i: int) -> int:
    """How many people but the wearer are named before a word."""
    subjects = sum(name != "I" for name in statement.subjects)
    start = max(statement.verb, 1)
    return subjects + sum(statement.is_name(position) for position in range(start, i))


def _things_before(statement: Statement, i: int) -> bool:
    """Whether a thing is named before a word, other than right before it."""
    return any(statement.is_thing(position) for position in range(statement.verb + 1, i))

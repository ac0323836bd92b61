"""The view rules: what is wrong with a statement (EgoCITE Table 1, Table 8 and appendix G), as rules of closed words.

A rule errs on the side of keeping: a word that it does not know breaks nothing. Each fault has a rule's name, under
which it is counted, and a remark for the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ray_tasks.extraction.llm.behaviour import check_event, check_one_behaviour
from ray_tasks.extraction.llm.faults import Fault
from ray_tasks.extraction.llm.references import check_references, check_subject
from ray_tasks.extraction.llm.schemas import Kind
from ray_tasks.extraction.llm.sources import Source
from ray_tasks.extraction.llm.speech_acts import check_speech_act, is_speech
from ray_tasks.extraction.llm.speech_verbs import speech_base
from ray_tasks.extraction.llm.statement import Statement, read_statement
from ray_tasks.extraction.llm.wording import (
    FEWEST_CONVERSATION_WORDS,
    FEWEST_WORDS,
    MOST_WORDS,
    check_ground,
    check_plain_words,
    check_wording,
)
from ray_tasks.extraction.wordlists import word_set
from ray_tasks.rows import View

_SHARE_OF_FINE: Final = 0.34
_SHARE_OF_SUMMARY: Final = 0.15
_PASSED_ON: Final = word_set("say tell ask reply answer whisper shout")
_MINE: Final = word_set("i me my mine we us our")


def view_of(text: str, kind: Kind) -> View:
    """The view of an entry: that of its kind, unless its main verb can only be one of speaking."""
    return "utterance" if kind == "speech" or is_speech(read_statement(text)) else "action"


def check_fine(text: str, kind: Kind, source: Source) -> tuple[Fault, ...]:
    """What is wrong with a normalised action or utterance; empty where it may stand."""
    statement = read_statement(text)
    faults = check_wording(statement, FEWEST_WORDS, MOST_WORDS)
    if not _readable(faults):
        return tuple(faults)
    faults += check_subject(statement, source) + check_references(statement) + check_one_behaviour(statement)
    if view_of(text, kind) == "utterance":
        faults += check_speech_act(statement)
    else:
        faults += check_event(statement, kind)
    if kind != "gesture":
        faults += check_ground(statement, source, _SHARE_OF_FINE)
    return tuple(faults)


def check_activity(text: str, source: Source) -> tuple[Fault, ...]:
    """What is wrong with a normalised summary of an activity."""
    statement = read_statement(text)
    faults = check_wording(statement, FEWEST_WORDS, MOST_WORDS)
    return tuple(faults + _check_summary(statement, source) if _readable(faults) else faults)


def check_conversation(text: str, source: Source, participants: Sequence[str]) -> tuple[Fault, ...]:
    """What is wrong with a normalised summary of a conversation among `participants`, the wearer by name."""
    statement = read_statement(text)
    faults = check_wording(statement, FEWEST_CONVERSATION_WORDS, MOST_WORDS)
    if not _readable(faults):
        return tuple(faults)
    faults += _check_summary(statement, source)
    if missing := [name for name in participants if not _mentions(statement, name, source.me)]:
        faults.append(Fault("missing_participant", ", ".join("I" if name == source.me else name for name in missing)))
    if speech_base(statement.low[statement.verb]) in _PASSED_ON and statement.clause is not None:
        faults.append(Fault("sub_quote", statement.words[statement.verb]))
    return tuple(faults)


def _check_summary(statement: Statement, source: Source) -> list[Fault]:
    return [
        *check_subject(statement, source),
        *check_references(statement),
        *check_one_behaviour(statement, summary=True),
        *check_plain_words(statement),
        *check_ground(statement, source, _SHARE_OF_SUMMARY),
    ]


def _readable(faults: Sequence[Fault]) -> bool:
    """Whether there are English words that the other rules can read."""
    return not any(fault.rule in ("empty", "not_english") for fault in faults)


def _mentions(statement: Statement, name: str, me: str) -> bool:
    if name == me:
        return bool(_MINE & set(statement.low))
    return name in statement.text

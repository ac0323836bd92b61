"""Whether an utterance is a speech act whose content is complete (EgoCITE Table 8, speech normalisation)."""

from __future__ import annotations

from typing import Final

from ray_tasks.extraction.llm.faults import Fault
from ray_tasks.extraction.llm.speech_verbs import BARE, GREETINGS, MANUAL_TOO, speech_base
from ray_tasks.extraction.llm.statement import CLAUSE_WORDS, Statement
from ray_tasks.extraction.verbs import verb_base, verb_forms
from ray_tasks.extraction.wordlists import AUXILIARIES, DETERMINERS, FUNCTION_WORDS, word_set
from ray_tasks.extraction.words import content_words

_ON: Final = word_set("about on over of for regarding against concerning")
_TALK: Final = word_set("talk speak chat converse")
_NO_TOPIC: Final = word_set(
    "question questions answer answers reply word words sentence line hello goodbye yes no ok okay"
)
_SHORTEST_CLAUSE: Final = 2


def is_speech(statement: Statement) -> bool:
    """Whether the main verb can only be one of speaking."""
    base = speech_base(statement.low[statement.verb])
    return base is not None and base not in MANUAL_TOO


def check_speech_act(statement: Statement) -> list[Fault]:
    """Faults of an utterance: no verb of speaking, or nothing complete after it."""
    verb = statement.low[statement.verb]
    base = speech_base(verb)
    if base is None and (statement.clause is None or verb in FUNCTION_WORDS):
        return [Fault("no_speech_act", verb)]
    return [] if _is_complete(statement, base or verb) else [Fault("incomplete_speech")]


def _is_complete(statement: Statement, base: str) -> bool:
    low = statement.low
    for i in range(statement.verb + 1, len(low)):
        word = low[i]
        tail = range(i + 1, len(low))
        if word in CLAUSE_WORDS:
            return len(tail) >= _SHORTEST_CLAUSE and _tells(statement, tail)
        infinitive = word == "to" and i + 1 < len(low) and _is_infinitive(statement, i + 1)
        if (word in _ON or infinitive) and _tells(statement, tail):
            return True
    rest = range(statement.verb + 1, len(low))
    if base in GREETINGS:
        return bool(rest)
    if base in _TALK:
        return False
    if base in BARE:
        told = [i for i in rest if not statement.is_name(i)]
        return _tells(statement, rest, names=False) and (_has_clause(statement, rest) or len(told) > _SHORTEST_CLAUSE)
    return _tells(statement, rest, names=False)


def _tells(statement: Statement, positions: range, *, names: bool = True) -> bool:
    """Whether words hold content beyond "a question" and "hello"; a name counts where it may be the topic."""
    for i in positions:
        if statement.is_name(i):
            if names:
                return True
        elif statement.low[i] not in _NO_TOPIC and content_words(statement.low[i]):
            return True
    return False


def _is_infinitive(statement: Statement, i: int) -> bool:
    """Whether the word after "to" is a verb rather than whoever is spoken to."""
    word = statement.low[i]
    return (
        not statement.is_name(i)
        and word not in DETERMINERS | {"me", "us"}
        and ("base" in verb_forms(word) or speech_base(word) is not None or word not in FUNCTION_WORDS)
    )


def _has_clause(statement: Statement, positions: range) -> bool:
    """Whether a clause without "that" follows: "Tobi says the boat leaves at six"."""
    return any(
        statement.low[i] in AUXILIARIES or "third" in verb_forms(statement.low[i]) or verb_base(statement.low[i])
        for i in positions
    )

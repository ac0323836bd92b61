"""Whether a statement tells one behaviour, and one worth an entry (EgoCITE Table 8: atomicity, category, motion)."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from ray_tasks.extraction.filters import reason_to_drop
from ray_tasks.extraction.llm.faults import Fault
from ray_tasks.extraction.llm.schemas import Kind
from ray_tasks.extraction.llm.speech_verbs import MANUAL_TOO, speech_base
from ray_tasks.extraction.llm.statement import Statement
from ray_tasks.extraction.sentences import clauses
from ray_tasks.extraction.verbs import AMBIGUOUS_NOUNS, verb_base, verb_forms
from ray_tasks.extraction.wordlists import (
    ADVERBS,
    AUXILIARIES,
    DETERMINERS,
    FUNCTION_WORDS,
    PARTICLES,
    PREPOSITIONS,
    word_set,
)

_SENTENCES: Final = re.compile(r"(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bMrs)(?<!\bSt)[.!?]\s+\S|[;；]")
_WITH_HAND: Final = re.compile(r" with (?:my|his|her|the|one) (?:left |right )?(?:hands?|fingers?|thumb)\b")
_SUBJECT_WORDS: Final = word_set("i he she they we it")
_POSTURES: Final = word_set("stand stare gaze glance pause idle remain blink breathe be")
_PURE_MOTIONS: Final = word_set(
    "walk go move come step run head advance proceed stroll wander rush hurry turn return climb"
)
_REACHING: Final = word_set("enter leave reach cross exit approach board visit pass")
_NO_PLACE: Final = word_set(
    "direction side front back forth left right rear forward forwards step steps bit area way spot circle circles"
)
_PLACE_WORDS: Final = word_set("upstairs downstairs outside inside indoors outdoors home")
_NOUNS_TOO: Final = AMBIGUOUS_NOUNS | word_set(
    "leave drink plant water cut cook box load label stamp snack pile stack fish dress glue salt pepper"
)


def check_one_behaviour(statement: Statement, *, summary: bool = False) -> list[Fault]:
    """A fault where a second behaviour is joined to the first by and, while, then, as, a comma or a new sentence.

    What is said may hold several facts: only a second speech act parts it, or in a summary somebody else's act. "And"
    may join people and objects.
    """
    if joint := _SENTENCES.search(statement.text):
        return [Fault("coupled", joint.group()[0])]
    low = statement.low
    end = _content_start(statement)
    for i in range(statement.verb + 1, len(low)):
        word = low[i]
        inside = i > end
        if (
            (word == "and" and (_opens_speech(statement, i) or (not inside and _opens_act(statement, i))))
            or (word == "and" and summary and _opens_clause(statement, i + 1))
            or (not inside and word in ("while", "then"))
            or (not inside and statement.words[i].endswith(",") and _opens_clause(statement, i + 1))
            or (not inside and word == "as" and _opens_clause(statement, i + 1))
        ):
            return [Fault("coupled", " ".join(statement.words[i : i + 3]))]
    head = " ".join(statement.words[:end])
    if "and" in low[statement.verb + 1 : end] and len(clauses(head)) > 1 and not _cut_at_noun(statement, end):
        return [Fault("coupled", "and")]
    return []


def _content_start(statement: Statement) -> int:
    """Where the main clause ends and what is said or asked for begins: "asks Tobi | to sweep and mop the floor"."""
    end = statement.clause if statement.clause is not None else len(statement.low)
    if speech_base(statement.low[statement.verb]) is None:
        return end
    for i in range(statement.verb + 1, end - 1):
        follower = statement.low[i + 1]
        to_whom = statement.is_name(i + 1) or follower in DETERMINERS | {"me", "us"}
        if statement.low[i] in ("about", "on", "for") or (statement.low[i] == "to" and not to_whom):
            return i
    return end


def _opens_speech(statement: Statement, i: int) -> bool:
    """Whether a second speech act follows "and": "... and asks Mara", "... and tells me that"."""
    position = _past_adverbs(statement, i + 1)
    if position + 1 >= len(statement.low) or speech_base(statement.low[statement.verb]) is None:
        return False
    word = statement.low[position]
    base = speech_base(word)
    if base is None or base in MANUAL_TOO or not _same_form(statement.low[statement.verb], word):
        return False
    follower = statement.low[position + 1]
    return follower in DETERMINERS | PREPOSITIONS | {"me", "us", "that", "whether", "what"} or statement.is_name(
        position + 1
    )


def _same_form(first: str, second: str) -> bool:
    return first.endswith("s") == second.endswith("s") and first.endswith("ing") == second.endswith("ing")


def _opens_act(statement: Statement, i: int) -> bool:
    """Whether a second act follows "and": its own subject and verb, or a word that takes an object as verbs do."""
    position = _past_adverbs(statement, i + 1)
    if _opens_clause(statement, position):
        return True
    if position + 1 >= len(statement.low):
        return False
    word, follower = statement.low[position], statement.low[position + 1]
    takes_object = follower in DETERMINERS and follower not in ("all", "both", "half")
    return takes_object and word not in FUNCTION_WORDS and not statement.is_name(position)


def _opens_clause(statement: Statement, position: int) -> bool:
    """Whether a subject and its verb stand at a position: "I walk", "Tobi is", "the others leave"."""
    low = statement.low
    if position + 1 >= len(low):
        return False
    if low[position] not in _SUBJECT_WORDS and not statement.is_name(position):
        return low[position] == "the" and any(word in AUXILIARIES for word in low[position + 2 : position + 4])
    verb = _past_adverbs(statement, position + 1)
    if verb >= len(low):
        return False
    forms = verb_forms(low[verb])
    if low[position] in _SUBJECT_WORDS:
        return bool(forms) or low[verb] in AUXILIARIES or speech_base(low[verb]) is not None
    return low[verb] in AUXILIARIES or "third" in forms or forms == {"past"} or speech_base(low[verb]) is not None


def _past_adverbs(statement: Statement, position: int) -> int:
    while position < len(statement.low) and statement.low[position] in ADVERBS:
        position += 1
    return position


def _cut_at_noun(statement: Statement, end: int) -> bool:
    """Whether each "and" is followed by a word that is a noun as often as a verb: "jugs and water to the tent"."""
    after = [
        (second, statement.low[i + 2] if i + 2 < end else "")
        for i, (first, second) in enumerate(pairwise(statement.low[:end]))
        if first == "and" and i > statement.verb
    ]
    return all((verb_base(word) or word) in _NOUNS_TOO and follower not in DETERMINERS for word, follower in after)


def check_event(statement: Statement, kind: Kind) -> list[Fault]:
    """Faults of actions that the scheme leaves out: postures, micro gestures, motion without a named destination."""
    reason = reason_to_drop(_WITH_HAND.sub("", statement.text))
    if reason in ("undirected_motion", "micro_gesture"):
        return [Fault(reason)]
    if statement.base in _POSTURES and kind != "gesture":
        return [Fault("posture", statement.base)]
    if (kind == "movement" or _is_pure_motion(statement)) and not _reaches(statement):
        return [Fault("undirected_motion")]
    return []


def _is_pure_motion(statement: Statement) -> bool:
    """Whether somebody moves, rather than something: no object follows the verb."""
    follower = statement.low[statement.verb + 1] if statement.verb + 1 < len(statement.low) else ""
    return statement.base in _PURE_MOTIONS and follower in PREPOSITIONS | PARTICLES | ADVERBS | _NO_PLACE | {""}


def _reaches(statement: Statement) -> bool:
    """Whether a place, a thing or a person is named that is reached."""
    rest = statement.low[statement.verb + 1 :]
    if statement.base in _REACHING and any(_is_place(word) for word in rest):
        return True
    for i, word in enumerate(rest):
        if word in _PLACE_WORDS and word not in ("inside", "outside"):
            return True
        if word in PREPOSITIONS and any(_is_place(near) for near in rest[i + 1 : i + 6]):
            return True
    return any(word in _PLACE_WORDS for word in rest)


def _is_place(word: str) -> bool:
    return word not in FUNCTION_WORDS and word not in _NO_PLACE and "ing" not in verb_forms(word)

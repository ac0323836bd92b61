"""Query variants of a question: what to look for once the asking is taken out of it.

"When was the last time I used the timer?" is best answered by rows like "I use the timer"; so beside the question
itself there are its core, and every choice alone and behind the question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ray_tasks.index.lexical import tokenize
from ray_tasks.retrieval.time_phrases import find_windows
from ray_tasks.retrieval.time_query import choice_windows

_WH = r"(?:who|whom|whose|what|which|where|when|why|how)"
_AUX = r"(?:was|were|is|are|am|did|do|does|had|have|has|will|would|should|shall|can|could|might|may|must)(?:n't)?"
_ASKED = re.compile(
    rf"\b{_WH}\b(?:'s)?(?: (?:else|exactly|many|much|long|often|far|times?|among us|kinds? of|types? of|"
    r"of (?:us|them|the following(?: people| persons)?)))*",
    re.IGNORECASE,
)
_OCCASION = r"(?:the |my |our )?(?:very )?(?:last|first|previous|latest|most recent) (?:time|occasion)\b"
_CLAUSE_OF_OCCASION = re.compile(rf"\b{_OCCASION}(?: that\b| when\b)?\s*(?P<clause>[^,?;]*)", re.IGNORECASE)
_SCAFFOLD = re.compile(
    rf"\b(?:{_OCCASION}|this time|just now|right now|now|before(?=\W*$)|previously|earlier|originally|recently|usually|"
    r"often|always|typically|normally|generally|again|in total|so far|at that time|the most|the least|first|last|"
    r"just)\b",
    re.IGNORECASE,
)
_QUESTION_AFTER = re.compile(
    rf"[,.;!?]\s+(?=(?:(?:and|then|but|so) )?(?:[a-z]+ ){{0,2}}(?:(?!when\b){_WH}\b|when {_AUX}\b))", re.IGNORECASE
)
_SUBJECT = r"(?:i|we|you|he|she|they|it|my|our|his|her|their|the|a|an|this|that|these|those|(?-i:[A-Z])[\w-]*)\b"
_SUPPORT = re.compile(rf"^((?:[\w'-]+ ){{0,4}}?)(?:did|does|do) (?={_SUBJECT})", re.IGNORECASE)
_ME = re.compile(r"\b(?:me|myself|i)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Variants:
    """The texts to search with; the tuples have one entry for each choice ("" where it is empty or a time)."""

    question: str
    core: str
    context: str
    with_choice: tuple[str, ...]
    choices: tuple[str, ...]


@lru_cache(maxsize=4096)  # the planner and the responder ask for the same ones
def make_variants(question: str, choices: tuple[str, ...], at_ms: int) -> Variants:
    """Every variant of a question and its choices, asked at `at_ms` (week time, ms)."""
    text = " ".join(question.split())
    contents = tuple("" if choice_windows(choice, at_ms) else " ".join(choice.split()) for choice in choices)
    core = core_of(text, at_ms) or text
    return Variants(
        question=text,
        core=core,
        context=context_of(text, core),
        with_choice=tuple(f"{text} {choice}" if choice else "" for choice in contents),
        choices=tuple(first_person(choice) for choice in contents),
    )


def context_of(text: str, core: str) -> str:
    """The core behind what the question first tells; the core itself where it tells nothing."""
    told = text[: len(text) - len(asked_part(text))].strip(" ,.;")
    return core if not told or told in core else f"{told}, {core}"


def asked_part(text: str) -> str:
    """What asks in a text that first tells something: from "when" on in "Now I wash up, when did I last do so?"."""
    breaks = list(_QUESTION_AFTER.finditer(text))
    return text[breaks[-1].end() :].strip() if breaks else text


def core_of(text: str, at_ms: int) -> str:
    """A question without its asking.

    That is the clause of "the last time ..." alone, else the question without wh-word, auxiliary and words of time
    (with what is told before it, where too little is left to search with).
    """
    occasion = _CLAUSE_OF_OCCASION.search(text)
    if occasion and len(occasion.group("clause").split()) >= 2:
        return _bare(occasion.group("clause"), at_ms)
    asked = asked_part(text)
    core = _without_asking(asked, at_ms)
    return core if len(tokenize(core)) > 1 else _without_asking(text, at_ms)


def _without_asking(asked: str, at_ms: int) -> str:
    match = _ASKED.search(asked)
    if not match:
        return _bare(asked, at_ms)
    after = re.sub(rf"^\s*{_AUX}\b", "", asked[match.end() :], count=1, flags=re.IGNORECASE).strip()
    after = _SUPPORT.sub(r"\1", after)
    return _bare(f"{asked[: match.start()]} {after}", at_ms)


def first_person(choice: str) -> str:
    """A choice as the wearer would write it: "Me" -> "I", "Mine" -> "my"."""
    if choice.strip().lower() == "mine":
        return "my"
    return _ME.sub("I", choice)


def _bare(text: str, at_ms: int) -> str:
    """A text without its phrases and words of time."""
    for window in reversed(find_windows(text, at_ms)):
        text = f"{text[: window.span[0]]} {text[window.span[1] :]}"
    text = " ".join(_SCAFFOLD.sub(" ", text).split())
    return re.sub(r"\s+([,.])", r"\1", text).strip(" ,.;:!?")

"""What a question looks for: object, action, intent and temporal constraint (Imprint section 3.3, Algorithm 2 line 3).

The paper leaves this to a language model; here rules read it. A question's type is told by its words alone: the
benchmark's categories are part of what is measured, so no method may see them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal, Protocol

from ray_tasks.extraction.predicate import low
from ray_tasks.extraction.records.phrases import read_act
from ray_tasks.extraction.verbs import verb_base, verb_forms
from ray_tasks.extraction.wordlists import AUXILIARIES, DETERMINERS, PREPOSITIONS
from ray_tasks.retrieval.imprint.day_parts import day_parts_in
from ray_tasks.retrieval.queries import asked_part, core_of
from ray_tasks.retrieval.time_phrases import every_day, plain
from ray_tasks.retrieval.time_query import Relation, TimeQuery, parse_time_query
from ray_tasks.retrieval.types import Question

Intent = Literal["who", "where", "what", "when", "how_many", "usually", "with_whom", "other"]
Wh = Literal["who", "where", "what", "when", "other"]
Occasion = Literal["first", "last"]

_WH_WORD: Final = re.compile(r"\b(?:who|whom|whose|where|what|which|when|how|why)\b")
_WHICH_PERSON: Final = re.compile(r"\bwhich (?:one )?(?:of (?:us|them|you)|person|people|friend|friends)\b")
_HOW_MANY: Final = re.compile(r"\bhow (?:many|much)\b|\bnumber of\b")
_COMPANY: Final = re.compile(
    r"\bwith(?: \w+)? (?:me|us|whom)\b|\b(?:with|next to|beside) (?:who|whom)\b|\bnext to me\b|\bbeside me\b"
    r"|\bwho\b[^,?.]*\b(?:with|alongside|next to|beside)\b|\b(?:joins?|joined|joining) (?:me|us|in)\b"
    r"|\b(?:helps?|helped|helping) (?:me|us)\b|\baccompan\w+\b|\btogether\b"
    r"|\b(?:tells?|told|gives?|gave|hands?|handed|teaches|taught) (?:me|us)\b"
)
_EMPTY_ACTIONS: Final = frozenset({"", "do", "be", "happen", "go", "go on", "occur"})
_BEFORE_ANCHOR: Final = re.compile(
    r"(?:\b(?:right |just |immediately )?(?:after|before|since|until|while|when|during|as soon as|the moment))?\s*"
    r"(?:(?:the |my |our )?(?:very )?(?:last|first|previous|latest|most recent|earliest) (?:time|occasion))?\s*"
    r"(?:that|when)?\s*$",
    re.IGNORECASE,
)
_HELPING: Final = re.compile(
    r"\b(?:help(?:s|ed|ing)?|joined in to help)(?: (?:me|us|him|her|them|[A-Z][\w-]+))?(?: to)?(?= [a-z]+)"
)
_NEGATION: Final = re.compile(r"\b(?:not|never)\b|(?<=\w)n't\b")
_LEADING: Final = re.compile(r"^(?:the )?to (?=[a-z]+)")
_TRAILING: Final = re.compile(r"(?<=\w) (?:with|at|in|on|for|from|of|by)$")
_SUBJECTS: Final = frozenset(["i", "we", "you", "he", "she", "they"])
_NAME: Final = re.compile(r"(?<![.?!] )(?<!^)\b[A-Z][\w-]+")
_OWNER: Final = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True)
class Placing:
    """An event by which a question places another: its object and action, and on which side of it the answer lies."""

    relation: Relation
    object: str
    action: str


@dataclass(frozen=True, slots=True)
class Cues:
    """A question taken apart; texts are "" where it does not tell.

    asked: the word that asks, also where the intent is a habit. occasion: whether the first or the last time is meant.
    placing: another event before or after which it was. windows: of week time in ms. day_parts: hours of any day, as
    (from, to). people: whom it names. sub_questions: what has to be found, in order.
    """

    object: str
    action: str
    intent: Intent
    asked: Wh
    occasion: Occasion | None = None
    placing: Placing | None = None
    windows: tuple[tuple[int, int], ...] = ()
    day_parts: tuple[tuple[float, float], ...] = ()
    people: tuple[str, ...] = ()
    sub_questions: tuple[str, ...] = ()

    @property
    def is_temporal(self) -> bool:
        """Whether the question constrains time at all."""
        return bool(self.occasion or self.placing or self.windows or self.day_parts)


class Decomposer(Protocol):
    """Takes questions apart."""

    def __call__(self, question: Question, wearer: str) -> Cues:
        """The cues of a question about the wearer of that name; nothing but its text and time is looked at."""
        ...


def decompose(question: Question, wearer: str) -> Cues:
    """The cues of a question by rules."""
    return _decompose(" ".join(question.text.split()), question.at_ms, wearer)


@lru_cache(maxsize=4096)
def _decompose(text: str, at_ms: int, wearer: str) -> Cues:
    time = parse_time_query(text, at_ms)
    people = named_people(text)
    thing, action, placing = _sought(text, time, at_ms, people, wearer)
    if not thing and not action:
        thing = core_of(text, at_ms) or text
    asked = _asked(text, time)
    daily = [window for window in time.windows if every_day(window.phrase, at_ms)]
    occasion: Occasion | None = {"latest": "last", "earliest": "first"}.get(time.intent)  # type: ignore[assignment]
    cues = Cues(
        object=thing,
        action=action,
        intent=_intent(text, time, asked),
        asked=asked,
        occasion=occasion,
        placing=placing,
        windows=tuple((window.start_ms, window.end_ms) for window in time.windows if window not in daily),
        day_parts=tuple(hours for window in daily for hours in day_parts_in(window.phrase)),
        people=people,
    )
    return replace(cues, sub_questions=_sub_questions(cues, text))


def named_people(text: str) -> tuple[str, ...]:
    """Words that are written like names inside a sentence."""
    return tuple(dict.fromkeys(_OWNER.sub("", name) for name in _NAME.findall(text) if not verb_forms(name.lower())))


def _asked(text: str, time: TimeQuery) -> Wh:
    """The kind of thing that is asked for, by the first word that asks."""
    if time.asks_when:
        return "when"
    part = plain(asked_part(text))
    found = _WH_WORD.search(part)
    word = found.group() if found else ""
    if word in ("who", "whom", "whose") or _WHICH_PERSON.search(part):
        return "who"
    kinds: dict[str, Wh] = {"where": "where", "what": "what", "which": "what", "when": "when"}
    return kinds.get(word, "other")


def _intent(text: str, time: TimeQuery, asked: Wh) -> Intent:
    """The intent: counts before habits, these before company, that before the word that asks."""
    part = plain(asked_part(text))
    if _HOW_MANY.search(part):
        return "how_many"
    if time.intent == "habit":
        return "usually"
    if asked == "who" and _COMPANY.search(part):
        return "with_whom"
    return asked


def _sought(
    text: str, time: TimeQuery, at_ms: int, people: Collection[str], wearer: str
) -> tuple[str, str, Placing | None]:
    """Object and action that are looked for, and the event by which they are placed.

    "What did I do after I cut the fruit?" has no cue but that event, so it is what is looked for.
    """
    if time.anchor is None or time.anchor.relation == "during":
        return (*_act(core_of(text, at_ms), people, wearer), None)
    clause = time.anchor.clause
    place = text.find(clause)
    rest = f"{_BEFORE_ANCHOR.sub('', text[:place])} {text[place + len(clause) :]}".strip()
    anchor = _act(core_of(clause, at_ms), people, wearer)
    thing, action = _act(core_of(rest, at_ms), people, wearer)
    if not thing and action in _EMPTY_ACTIONS:
        return (*anchor, None)
    return thing, action, Placing(time.anchor.relation, *anchor)


def _act(clause: str, people: Collection[str], wearer: str) -> tuple[str, str]:
    """Object and action of a clause, which may lack its subject, ask for its object first, or be passive."""
    words = _as_told(_LEADING.sub("", _HELPING.sub("", _NEGATION.sub(" ", clause))).split(), people)
    act = read_act(" ".join(words), people, wearer) if words else None
    if act is not None and act.action == "be":
        return act.object or act.location or "", ""
    if act is not None and (act.object or _is_subject(words[0], people)):
        thing = act.object
        if thing == wearer and act.attributes:  # "who told me about the roof"
            thing = act.attributes[0].partition(" ")[2]
        action = act.action if thing else _TRAILING.sub("", act.action)
        return thing, action
    start = next((i for i in range(1, len(words) - 1) if _is_subject(words[i], people)), 0)
    if start:
        thing, action = _act(" ".join(words[start:]), people, wearer)
        return thing or _first_thing(words[:start])[0], action
    if len(words) > 1 and low(words[0]) not in DETERMINERS | _SUBJECTS and low(words[1]) in DETERMINERS:
        return _first_thing(words[1:])[0], low(words[0])  # a verb that is not known
    return _passive(words)


def _as_told(words: Sequence[str], people: Collection[str]) -> list[str]:
    """The words of a clause as the wearer would tell an act: "Mara find the cup" and "finding the cup" -> "I find"."""
    told = list(words)
    if len(told) > 1 and (told[0] in people or low(told[0]) in _SUBJECTS) and verb_base(low(told[1])):
        told = told[1:]
    first = low(told[0]) if told else ""
    base = verb_base(first)
    if base is None or first in AUXILIARIES | DETERMINERS or told[0][:1].isupper():
        return list(words)
    return ["I", base, *told[1:]]


def _is_subject(word: str, people: Collection[str]) -> bool:
    return low(word) in _SUBJECTS or word in people


def _first_thing(words: Sequence[str]) -> tuple[str, int]:
    """The first noun phrase without its determiner, and where it ends."""
    plain_words = [low(word) for word in words]
    passed = DETERMINERS | AUXILIARIES | PREPOSITIONS | _SUBJECTS
    start = next((i for i, word in enumerate(plain_words) if word not in passed), len(words))
    end = start
    while end < len(words) and plain_words[end] not in PREPOSITIONS | AUXILIARIES:
        if end > start and "past" in verb_forms(plain_words[end]):
            break
        end += 1
    thing = " ".join(_OWNER.sub("", word.strip(",.;:!?")) for word in words[start:end])
    return ("" if thing.lower() == "there" else thing), end


def _passive(words: Sequence[str]) -> tuple[str, str]:
    """The first noun phrase, and the first participle after it: "the cup on the shelf bought from" -> cup, buy."""
    thing, end = _first_thing(words)
    rest = (low(word) for word in words[end:])
    verb = next((word for word in rest if "past" in verb_forms(word) and word not in AUXILIARIES), "")
    return thing, verb_base(verb) or ""


def _sub_questions(cues: Cues, text: str) -> tuple[str, ...]:
    """What has to be found for an answer: the event that places it, then the event itself."""
    steps = []
    if cues.placing is not None:
        steps.append(f"when: {cues.placing.action} {cues.placing.object}".strip())
    which = f"{cues.occasion} time: " if cues.occasion else ""
    steps.append(f"{which}{cues.action} {cues.object}".strip())
    return (*steps, asked_part(text))

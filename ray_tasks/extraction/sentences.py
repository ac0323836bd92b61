"""Visual caption lines to clauses: subject, verb and object, one act each (EgoCITE Table 8, atomicity and format)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ray_tasks.extraction.filters import reason_to_drop
from ray_tasks.extraction.letters import begins_name
from ray_tasks.extraction.objects import fill_object, needs_object
from ray_tasks.extraction.predicate import EDGE, WEARER_WORDS, Predicate, Subject, find_predicate, low, with_wearer
from ray_tasks.extraction.verbs import AMBIGUOUS_NOUNS, Form, verb_base, verb_forms
from ray_tasks.extraction.wordlists import (
    ADVERBS,
    AUXILIARIES,
    DETERMINERS,
    PARTICLES,
    PREPOSITIONS,
    PRONOUNS,
    word_set,
)
from ray_tasks.extraction.words import content_words, without_quotes

_FILLER: Final = re.compile(
    r"^(?:h+m+|u+m+|u+h+|o+h+|ah+|m+|mhm|wow|whoa|oops|okay|ok|alright|all right|right|well|yeah|yes|hey|haha\w*|er|eh"
    r"|so|next|meanwhile|finally|then|now|and then|and now|after that|at this point|at the moment|at this moment"
    r"|at that moment|just then|once again)\s*(?:[,.:!…，。]+|\s[—–-]+)\s*(?=\S)",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(
    r"^(?:and then|and now|so now|then|now|right now|just then|just now|and|but|at this moment|at that moment"
    r"|so(?= (?:i|we|he|she|they|now|then|let)\b))\s+(?=\S)",
    re.IGNORECASE,
)
_INNER_FILLER: Final = re.compile(r",? (?:u+m+|u+h+|h+m+|er),|,? (?:u+m+|u+h+|h+m+)(?=[.!?…]|$)", re.IGNORECASE)
_CLOSING: Final = re.compile(r",? (?:right now|now|at the moment|at this moment)(?=[.!?]?$)", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(
    r"(?<!\bMr\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bMrs\.)(?<!\.\.\.)(?<=[.!?。！？])\s+|\s*[;；]\s*|\s*[—–]\s*|\s+--?\s+"
)
_THIRD_SUBJECTS: Final = word_set(
    """
    he she they he's she's they're they've they'll everyone everybody someone somebody nobody everyone's it it's
    you you're both
    """
)
_PERSONAL: Final = word_set("he she him her his they their hers theirs them")
_SUBORDINATE: Final = word_set("that what if whether because when who which where how why")
_WITH_COMPLEMENT: Final = word_set(
    """
    watch see hear let help make have feel want need plan try ask tell hope decide prepare go use notice find
    """
)
_INTRANSITIVE: Final = word_set(
    """
    nod laugh smile speak sit stand wait clap chat talk wave sing dance yawn eat drink turn bend lean crouch
    squat kneel come go walk step get wake lie move run arrive return stop pause rest look jump climb hurry work
    chuckle cough sigh shrug leave gesture listen watch think point type sleep smoke shout pose read cook rush
    stroll wander
    """
)
_MOVEMENTS: Final = frozenset({"undirected_motion", "micro_gesture"})
_CONNECTIVES: Final = frozenset({"and", "then", "while", "as"})
_NEAR: Final = 3
_OBJECT_STARTS: Final = DETERMINERS | PREPOSITIONS | PARTICLES | PRONOUNS | ADVERBS | {"left", "right"}


@dataclass(frozen=True, slots=True)
class Clause:
    """One act, ended with a full stop.

    Where a line names no subject, `assumed` holds its acts with the wearer put in as the subject, and `certain` tells
    whether that reading needs no support from the lines before.
    """

    text: str
    subject: Subject
    assumed: tuple[str, ...] = ()
    certain: bool = False


@dataclass(frozen=True, slots=True)
class _Act:
    """A part of a clause, and how it reads when it stays joined to the part before."""

    text: str
    subject: Subject
    joined: str


@dataclass(frozen=True, slots=True)
class _Part:
    """A clause under the knife; its first `inherited` words were taken over from the part before."""

    words: tuple[str, ...]
    predicate: Predicate
    inherited: int

    def act(self, end: int, joint: str) -> _Act:
        """The words before `end` as an act."""
        own = " ".join(self.words[self.inherited : end])
        return _Act(" ".join(self.words[:end]).strip(" ,"), self.predicate.subject, f"{joint} {own}".strip(" ,"))


@lru_cache(maxsize=65_536)
def clauses(line: str) -> tuple[Clause, ...]:
    """The clauses of a visual line whose wearer is already "I"; empty where it holds no words.

    A sentence that the rules do not understand is one clause in its own words.
    """
    found: list[Clause] = []
    for sentence in _SENTENCE_END.split(clean(line)):
        plain = clean(sentence).strip(" ,")
        if plain.strip(EDGE + " "):
            found.extend(_clauses_of_sentence(plain))
    return tuple(dict.fromkeys(found))


def clean(text: str) -> str:
    """A line without quote marks, without fillers, and without words that only say "now" or "then"."""
    text = without_quotes(text)
    while opening := _FILLER.match(text) or _OPENING.match(text):
        text = text[opening.end() :]
    text = _CLOSING.sub("", _INNER_FILLER.sub("", text))
    return text[:1].upper() + text[1:]


def _clauses_of_sentence(sentence: str) -> list[Clause]:
    words = sentence.split()
    predicate = find_predicate(words)
    if predicate:
        return [Clause(_ended(text), subject) for text, subject in _split(words, predicate)]
    first = low(words[0])
    subject: Subject = "wearer" if first in WEARER_WORDS else "other" if first in _THIRD_SUBJECTS else "none"
    assumed = with_wearer(words) if subject == "none" else None
    if assumed is None:
        return [Clause(_ended(sentence), subject)]
    filled, certain = assumed
    inner = find_predicate(filled)
    acts = [text for text, _ in _split(filled, inner)] if inner else [" ".join(filled)]
    return [Clause(_ended(sentence), "none", tuple(_ended(act) for act in acts), certain)]


def _split(words: Sequence[str], predicate: Predicate) -> list[tuple[str, Subject]]:
    """A clause cut where a second verb phrase with its own content follows "and", "then", "while" or a comma.

    A part whose "it" cannot be put back to the one thing of the part before stays joined to that part.
    """
    acts: list[tuple[str, Subject]] = []
    for act in _cut(words, predicate):
        text = act.text
        if acts and needs_object(text):
            filled = fill_object(text, acts[-1][0])
            if filled is None:
                acts[-1] = (f"{acts[-1][0]} {act.joined}", acts[-1][1])
                continue
            text = filled
        acts.append((text, act.subject))
    return acts


def _cut(words: Sequence[str], predicate: Predicate) -> list[_Act]:
    """The acts of a clause in order, wherever both sides of a connective can stand alone."""
    acts: list[_Act] = []
    part, joint = _Part(tuple(words), predicate, inherited=0), ""
    position = predicate.verb + 1
    while position < len(part.words):
        start = _after_connective(part.words, position)
        right = _right_part(part, position, start) if start is not None else None
        if start is None or right is None or (right.inherited and not _stands_alone(part, position)):
            position += 1
            continue
        acts.append(part.act(position, joint))
        joint = " ".join(part.words[position:start])
        part, position = right, right.predicate.verb + 1
    return [*acts, part.act(len(part.words), joint)]


def _after_connective(words: Sequence[str], position: int) -> int | None:
    """Where the phrase after a connective at `position` begins; None where no connective stands there."""
    start = position
    while start < len(words) and low(words[start]) in _CONNECTIVES:
        start += 1
    if start == position and not words[position - 1].endswith(","):
        return None
    while start < len(words) and low(words[start]) in ADVERBS:
        start += 1
    return start if start < len(words) else None


def _right_part(part: _Part, position: int, start: int) -> _Part | None:
    """The second verb phrase as a clause of its own: with its own subject, or with that of the first."""
    words, predicate = part.words, part.predicate
    between = {low(word) for word in words[position:start]}
    if any(low(word) in _SUBORDINATE for word in words[predicate.verb + 1 : position]):
        return None
    rest = words[start:]
    first = low(rest[0])
    own = find_predicate(rest)
    if own and own.verb <= _NEAR and (first in WEARER_WORDS | _THIRD_SUBJECTS or begins_name(rest[0])):
        return (
            _Part(rest, own, inherited=0) if content_words(" ".join(rest)) or reason_to_drop(" ".join(rest)) else None
        )
    form: Form = "ing" if "while" in between else predicate.form
    if "as" in between or form not in verb_forms(first) or not _is_verb_here(rest, form):
        return None
    if not content_words(" ".join(rest)) and reason_to_drop(" ".join(rest)) not in _MOVEMENTS:
        return None
    if "while" not in between and _governs(words[predicate.verb : position], form):
        return None
    if {low(word) for word in rest} & _PERSONAL and _names_another(part, position):
        return None
    prefix = predicate.prefix
    if "while" in between and predicate.form != "ing":
        prefix = _progressive(prefix, past=predicate.form == "past")
    begun = prefix.split()
    return _Part((*begun, *rest), Predicate(len(begun), form, prefix, predicate.subject), inherited=len(begun))


def _is_verb_here(rest: Sequence[str], form: Form) -> bool:
    """Whether the first word, which may be a noun as well, is followed by what follows a verb."""
    verb, follower = low(rest[0]), low(rest[1]) if len(rest) > 1 else ""
    if form == "past":
        return True
    if not follower:
        return verb_base(verb) in _INTRANSITIVE
    return follower in _OBJECT_STARTS or begins_name(rest[1]) or (form == "ing" and verb not in AMBIGUOUS_NOUNS)


def _governs(left: Sequence[str], form: Form) -> bool:
    """Whether the left part may govern a verb of this form: "I want to open it", "I watch Mara open it"."""
    if form in ("base", "ing") and verb_base(low(left[0])) in _WITH_COMPLEMENT:
        return True
    return form == "base" and any("base" in verb_forms(low(word)) for word in left[1:])


def _names_another(part: _Part, position: int) -> bool:
    """Whether a pronoun after the cut could stand for somebody named before it, other than as the subject."""
    if part.predicate.subject == "wearer":
        return True
    return any(begins_name(word) for word in part.words[part.predicate.verb + 1 : position])


def _progressive(prefix: str, *, past: bool) -> str:
    """``I`` -> ``I am`` or ``I was``, ``Mara`` -> ``Mara is``, ``Mara and Tobi`` -> ``Mara and Tobi are``."""
    words = [word for word in prefix.split() if low(word) not in AUXILIARIES]
    subject = " ".join(words).removesuffix("'ve").removesuffix("'ll")
    first = low(subject.split()[0]) if subject else ""
    if "and" in words or first in ("we", "they", "you"):
        return f"{subject} {'were' if past else 'are'}"
    return f"{subject} {'was' if past else 'am' if first == 'i' else 'is'}"


def _stands_alone(part: _Part, position: int) -> bool:
    """Whether what precedes a cut is whole: it has an object or needs none, and has content or is a mere motion."""
    left = " ".join(part.words[:position]).strip(" ,")
    reason = reason_to_drop(left)
    after_verb = part.words[part.predicate.verb + 1 : position]
    if all(low(word) in PARTICLES or low(word) in ADVERBS for word in after_verb):
        main = verb_base(low(part.words[part.predicate.verb]))
        return main in _INTRANSITIVE or reason in _MOVEMENTS
    return reason in _MOVEMENTS or bool(content_words(left))


def _ended(text: str) -> str:
    text = text.strip(" ,")
    return text if not text or text[-1] in ".!?。！？…" else text + "."

"""One act in English to the parts of an interaction: verb phrase, object, and what prepositions tell beside them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from ray_tasks.extraction.predicate import EDGE, find_predicate, low
from ray_tasks.extraction.verbs import verb_base, verb_forms
from ray_tasks.extraction.wordlists import (
    ADVERBS,
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    PARTICLES,
    PLACES,
    PREPOSITIONS,
    PRONOUNS,
    word_set,
)

_ARTICLES: Final = word_set("the a an this that these those my your his her its our their some any another each every")
_PARTICLES: Final = word_set("up down out off away back apart")
_LAST_PARTICLES: Final = word_set("on in over around together aside open")
_GIVING: Final = word_set("give hand pass show bring send teach lend buy throw offer tell ask pay read serve feed")
_BEGINNING: Final = word_set("start begin continue keep go prepare proceed help be")
_ON_SCREEN: Final = word_set("open use browse scroll check launch search close exit view swipe")
_SPACE: Final = word_set(
    "to at in into on onto from over under above below behind beside between through across along around against inside"
    " outside near toward towards by past beneath among off of"
)
_STOP: Final = (
    PREPOSITIONS | PRONOUNS | CONJUNCTIONS | ADVERBS | AUXILIARIES | (PARTICLES - {"home", "inside"}) | {"using"}
)
_ITS: Final = word_set(
    "it them him her himself herself itself themselves this that these those they he she one something"
)
_EVERYONE: Final = word_set("everyone everybody someone somebody others theirs")
_NO_ADVERBS: Final = word_set("family belly jelly fly butterfly assembly reply supply lily jolly")
_LONGEST: Final = 7
_MOST_GOVERNED: Final = 2


@dataclass
class Act:
    """An act. `subject` are the words before the verb; `object` is "" where there is none or only a pronoun."""

    subject: tuple[str, ...]
    action: str
    object: str = ""
    tool: str | None = None
    app: str | None = None
    location: str | None = None
    attributes: list[str] = field(default_factory=list)


def read_act(text: str, people: Collection[str], me: str) -> Act | None:
    """The parts of one act; None where no subject with a known verb is found.

    `people` are the names in the text, `me` is the wearer's, by which "me" is replaced. ``I cut the rope with a
    knife in the shed.`` -> cut, rope, tool knife, location shed.
    """
    words = text.split()
    predicate = find_predicate(words)
    if predicate is None:
        return None
    subject = tuple(
        word.replace("’", "'").split("'")[0] for word in predicate.prefix.split() if low(word) not in AUXILIARIES
    )
    verb, position = _verb(words, predicate.verb)
    reader = _Reader(words, people, me)
    act = Act(subject, verb)
    reader.read(act, position)
    return act


def _verb(words: Sequence[str], at: int, governed: int = 0) -> tuple[str, int]:
    """The base of the verb, with the verbs that it governs, and where what follows them begins."""
    base = verb_base(low(words[at])) or low(words[at])
    position = at + 1
    while position < len(words) and low(words[position]) in ADVERBS and words[position][-1] not in EDGE:
        position += 1
    if governed == _MOST_GOVERNED:
        return base, position
    plain = [low(word) for word in words[position : position + 2]]
    if len(plain) == 2 and plain[0] == "to" and "base" in verb_forms(plain[1]):
        inner, after = _verb(words, position + 1, governed + 1)
        return (inner if base in _BEGINNING else f"{base} to {inner}"), after
    if plain and "ing" in verb_forms(plain[0]) and base in _BEGINNING | {"stop", "finish"}:
        inner, after = _verb(words, position, governed + 1)
        return (inner if base in _BEGINNING else f"{base} {words[position].lower().strip(EDGE)}"), after
    if len(plain) == 2 and plain[0] == "and" and verb_forms(plain[1]):
        inner, after = _verb(words, position + 1, governed + 1)
        return f"{base} and {inner}", after
    return base, position


class _Reader:
    """Reads what follows a verb from left to right."""

    def __init__(self, words: Sequence[str], people: Collection[str], me: str) -> None:
        self._words, self._people, self._me = words, people, me

    def read(self, act: Act, position: int) -> None:
        """Fills an act with what stands from `position` on."""
        position = self._past(position, ADVERBS)
        if self._low(position) in _PARTICLES and not (
            self._low(position) == "back" and self._low(position + 1) == "of"
        ):
            act.action += f" {self._low(position)}"
            position = self._past(position + 1, ADVERBS)
        if self._low(position) in PREPOSITIONS:
            prepositions, position = self._prepositions(position)
            thing, end = self.noun_phrase(position)
            if thing:
                act.action += f" {prepositions}"
                if prepositions.split()[-1] in _SPACE and _is_place(thing):
                    act.location = thing
            elif prepositions in PLACES:
                act.location = prepositions
            self._take_object(act, thing)
        else:
            thing, end = self.noun_phrase(position)
            self._take_object(act, thing)
            second, after = self.noun_phrase(end)
            if second and act.action in _GIVING and self._is_person(thing):
                act.attributes += [f"to {act.object}"] if act.object else []
                act.object, end = "", after
                self._take_object(act, second)
            if self._is_particle(end) and " " not in act.action:
                act.action += f" {self._low(end)}"
                end += 1
        self._read_rest(act, end)
        self._tell_app(act)

    def noun_phrase(self, position: int) -> tuple[str, int]:
        """The noun phrase at a position without its articles, and what follows it; "" where there is none."""
        start = position
        while (
            self._low(position) in _ARTICLES
            and position + 1 < len(self._words)
            and self._words[position][-1] not in EDGE
        ):
            position += 1
        if self._low(position) in PRONOUNS | _EVERYONE | (_ITS if position == start else set()):
            return self._low(position), position + 1
        found: list[str] = []
        while position < len(self._words) and len(found) < _LONGEST:
            word = self._low(position)
            joins = word in ("of", "and", "'s") and found and self._goes_on(position)
            if (word in _STOP and not joins) or not word:
                break
            if found and found[0] in self._people and verb_forms(word):  # "I watch Tobi open the crate"
                break
            if (word not in _ARTICLES or joins) and (not word.endswith("ly") or word in _NO_ADVERBS):
                found.append(self._words[position].strip(EDGE))
            position += 1
            if self._words[position - 1][-1] in EDGE:
                break
        while found and found[-1].lower() in ("of", "and"):
            found.pop()
        return " ".join(found), (position if found else start)

    def _goes_on(self, position: int) -> bool:
        """Whether "of" or "and" is followed by another noun."""
        follower = self._low(position + 1)
        if not follower or (follower in _STOP and follower not in DETERMINERS):
            return False
        return self._low(position) == "of" or follower in DETERMINERS or not verb_forms(follower)

    def _read_rest(self, act: Act, position: int) -> None:
        """Prepositional phrases after the object."""
        while position < len(self._words):
            word = self._low(position)
            if word in PREPOSITIONS or word == "using":
                prepositions, after = self._prepositions(position)
                thing, end = self.noun_phrase(after)
                if thing:
                    self._take_phrase(act, prepositions, thing)
                position = max(end, position + 1)
            elif word in PLACES and act.location is None:
                act.location, position = word, position + 1
            else:
                position += 1

    def _take_phrase(self, act: Act, prepositions: str, thing: str) -> None:
        thing = self._me if thing in ("me", "myself") else thing
        if thing in _ITS:
            return
        if prepositions in ("with", "using") and not self._is_person(thing):
            if act.tool is None and not _is_body(thing):
                act.tool = thing
        elif prepositions.split()[-1] in _SPACE and _is_place(thing) and act.location is None:
            act.location = thing
        else:
            act.attributes.append(f"{prepositions} {thing}")

    def _take_object(self, act: Act, thing: str) -> None:
        if thing in _ITS:
            return
        if thing:
            act.object = self._me if thing in ("me", "myself", "us", "i") else thing

    def _tell_app(self, act: Act) -> None:
        words = act.object.split()
        if not words:
            return
        if words[-1].lower() in ("app", "application"):
            act.app = " ".join(words[:-1]) or None
        elif words[0][0].isupper() and not self._is_person(act.object) and act.action.split()[0] in _ON_SCREEN:
            act.app = act.object

    def _is_particle(self, position: int) -> bool:
        """Whether a particle that belongs to the verb stands behind its object: "put the jug down"."""
        word, last = self._low(position), position + 1 == len(self._words)
        return (word in _PARTICLES and self._low(position + 1) not in DETERMINERS) or (last and word in _LAST_PARTICLES)

    def _is_person(self, thing: str) -> bool:
        return (
            thing in PRONOUNS | _EVERYONE
            or thing == self._me
            or any(part in self._people for part in (thing, *thing.split()))
        )

    def _prepositions(self, position: int) -> tuple[str, int]:
        """Prepositions that follow one another ("out of", "up to") as one, and what follows them."""
        end = position + 1
        while self._low(end) in PREPOSITIONS and end - position < 3:
            end += 1
        return " ".join(self._low(at) for at in range(position, end)), end

    def _past(self, position: int, words: Collection[str]) -> int:
        while self._low(position) in words:
            position += 1
        return position

    def _low(self, position: int) -> str:
        return low(self._words[position]) if position < len(self._words) else ""


def _is_place(thing: str) -> bool:
    return thing.split()[-1].lower() in PLACES and not thing.lower().endswith("power bank")


def _is_body(thing: str) -> bool:
    return thing.split()[-1].lower() in ("hand", "hands", "arm", "arms", "finger", "fingers", "foot", "feet")

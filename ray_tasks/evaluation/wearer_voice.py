"""Questions about a wearer as the wearer would ask them: "What did Mara eat after she left?" -> "What did I eat ...".

The memory is told in the first person, so a question that names its wearer is turned round by rules: the name becomes
I, me or my with the verb that goes with it, and a pronoun follows where it can stand for nobody else. A pronoun that
may be another person's stays, and is reported.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ray_tasks.extraction.letters import LOWER, UPPER
from ray_tasks.extraction.pronouns import names_person, put_name
from ray_tasks.extraction.verbs import first_person, verb_forms
from ray_tasks.extraction.wordlists import ADVERBS, AUXILIARIES, FUNCTION_WORDS, PREPOSITIONS, word_set

_WEARER: Final = "Qwearerq"
"""Stands for the wearer while a text is worked on; no name that a person has."""
_DESCRIBED: Final = re.compile(r"\b[Tt]he (?:camera[ -])?wearer\b")
_REFLEXIVE: Final = re.compile(r"\b(?:him|her)self\b")
_ASKS_PERSON: Final = re.compile(r"\b(?:who|whom|whose|which (?:person|friend|people))\b", re.IGNORECASE)
_CAPITALISED: Final = re.compile(rf"(?<![\w'’])[{UPPER}][{LOWER}]+(?!\w)")
_NO_PERSON: Final = FUNCTION_WORDS | word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december day which whose why how yes no none according based during yesterday today
    tonight usually often
    """
)
_TOKENS: Final = re.compile(r"\w+(?:['’]\w*)?|[^\w]+")
_OBJECT_AFTER: Final = PREPOSITIONS - {"after", "before", "until", "as", "than", "like"}
_SUBJECT_AFTER: Final = AUXILIARIES - {"been", "being", "be", "having"}
_OPENING: Final = word_set("when while after before because that if since until where what which who why how")
_USUALLY: Final = ADVERBS | word_set("usually often never sometimes regularly typically normally ever both recently")


@dataclass(frozen=True, slots=True)
class Voiced:
    """A text in the wearer's words. unresolved: it holds a pronoun that may or may not be the wearer's."""

    text: str
    changed: bool
    unresolved: bool


class WearerVoice:
    """Turns texts about one wearer into that wearer's; the name is the last part of the id (``A1_MARA`` -> Mara)."""

    def __init__(self, wearer: str) -> None:
        self._name = wearer.rpartition("_")[2].capitalize()
        forms = sorted({wearer, self._name, self._name.upper()}, key=len, reverse=True)
        self._named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, forms))})(?!\w)")

    def turn(self, text: str, context: str = "") -> Voiced:
        """A question, or an option with its question (both as the file has them) as `context`."""
        marked = _DESCRIBED.sub(_WEARER, self._named.sub(_WEARER, text))
        unresolved = False
        if names_person(marked) or _REFLEXIVE.search(marked):
            if self._is_alone(f"{context} {text}"):
                marked = _REFLEXIVE.sub("myself", marked)
                while names_person(marked):
                    marked = put_name(marked, _WEARER)
            else:
                unresolved = True
        turned = _speak(marked)
        return Voiced(turned, turned != text, unresolved)

    def _is_alone(self, text: str) -> bool:
        """Whether a text names the wearer and nobody else, and does not ask for somebody."""
        if not (self._named.search(text) or _DESCRIBED.search(text)) or _ASKS_PERSON.search(text):
            return False
        others = {match.group() for match in _CAPITALISED.finditer(text)} - {self._name}
        return all(word.lower() in _NO_PERSON or verb_forms(word.lower()) for word in others)


def _speak(marked: str) -> str:
    """A text in which every _WEARER has become the right form of I, and the verbs beside it agree."""
    tokens = _TOKENS.findall(marked)
    for place, token in enumerate(tokens):
        if token == _WEARER:
            tokens[place] = _self(tokens, place)
        elif token.startswith(_WEARER):
            tokens[place] = _own(tokens, place)
    text = "".join(tokens)
    return text[:1].upper() + text[1:] if marked.startswith(_WEARER) else text


def _own(tokens: list[str], place: int) -> str:
    """What stands for "Mara's": my, mine where nothing is named after it, or I'm for "Mara is"."""
    after = _neighbour(tokens, place, 1)
    if after is None:
        return "mine"
    word = tokens[after].lower()
    if "ing" in verb_forms(word) or word in ("not", "a", "an", "the", "going", "about"):
        return "I'm"
    return "mine" if word in FUNCTION_WORDS and word not in _USUALLY else "my"


def _self(tokens: list[str], place: int) -> str:
    """I or me by what stands beside the name; the verb that agrees with it is changed in place."""
    before, verb = _neighbour(tokens, place, -1), _verb_after(tokens, place)
    previous = tokens[before].lower() if before is not None else ""
    alone = not _joined(tokens, place)
    if previous in _OBJECT_AFTER:
        return "me"
    if previous in _SUBJECT_AFTER and before is not None:
        if alone:
            tokens[before] = _as_written(tokens[before], first_person(previous))
        return "I"
    if verb is not None:
        tokens[verb] = first_person(tokens[verb]) if alone else tokens[verb]
        return "I"
    following = _neighbour(tokens, place, 1)
    if previous == "and" and following is not None and "base" in verb_forms(tokens[following].lower()):
        return "I"
    return "I" if previous in _OPENING else "me"


def _neighbour(tokens: list[str], place: int, step: int) -> int | None:
    """The place of the word beside, None where anything but white space lies between or nothing follows."""
    beside = place + 2 * step
    if 0 <= beside < len(tokens) and tokens[place + step].isspace():
        return beside
    return None


def _verb_after(tokens: list[str], place: int) -> int | None:
    """The place of the finite verb (third person or past) that follows a subject, past adverbs."""
    at = _neighbour(tokens, place, 1)
    while at is not None and tokens[at].lower() in _USUALLY:
        at = _neighbour(tokens, at, 1)
    if at is None:
        return None
    word = tokens[at].lower()
    finite = word in AUXILIARIES or verb_forms(word) & {"third", "past"}
    return at if finite else None


def _joined(tokens: list[str], place: int) -> bool:
    """Whether the name is one of several ("Mara and Tobi"), with which verbs stay as they are."""
    words = [_neighbour(tokens, place, step) for step in (-1, 1)]
    return any(at is not None and tokens[at].lower() in ("and", "or") for at in words)


def _as_written(word: str, new: str) -> str:
    return new.capitalize() if word[:1].isupper() else new

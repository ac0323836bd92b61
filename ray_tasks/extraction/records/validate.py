"""What a model says about a caption, held against the caption's own lines (Imprint Appendix B)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from pydantic import BaseModel, ConfigDict

from ray_tasks.corpus.language import has_han
from ray_tasks.extraction.people import Roster, label_names
from ray_tasks.extraction.predicate import EDGE
from ray_tasks.extraction.records.types import Interaction
from ray_tasks.extraction.verbs import verb_base
from ray_tasks.extraction.wordlists import DETERMINERS, FUNCTION_WORDS, word_set
from ray_tasks.extraction.words import distinct, lower_words, stem
from ray_tasks.rows import Caption

FAULTS: Final = {
    "no_person": "name who acts",
    "unknown_person": "the lines know no such person; use the names of the lines",
    "action_no_verb": "the action is not a short verb phrase in its base form and in lower case",
    "no_object": "name the object; words such as it or them name nothing",
    "object_too_long": "the object is too long; name the thing only",
    "object_not_told": "the lines do not speak of this object; call it as they do",
}
"""What can be wrong with a record, and how the model is told."""

_WEARER: Final = word_set("i me myself we us wearer")
_PRONOUNS: Final = word_set("he she they you it him her them who this that these those")
_NOTHING: Final = word_set("none null n/a unknown nothing unspecified")
_NO_THINGS: Final = _PRONOUNS | _NOTHING | word_set("something thing things object itself themselves one")
_MAIN_VERBS: Final = word_set("be have do")
_LONGEST_ACTION: Final = 5
_LONGEST_OBJECT: Final = 10
_LONGEST_ATTRIBUTE: Final = 15
_MOST_ATTRIBUTES: Final = 8


class ToldInteraction(BaseModel):
    """An interaction in the fields of Imprint's Appendix B."""

    model_config = ConfigDict(extra="forbid")

    persons: list[str]
    action: str
    object: str
    tool: str | None
    app: str | None
    location: str | None
    speech_content: str | None
    attributes: list[str]


class ToldInteractions(BaseModel):
    """The interactions of a caption."""

    model_config = ConfigDict(extra="forbid")

    interactions: list[ToldInteraction]


@dataclass(frozen=True, slots=True)
class Judged:
    """The interactions of a reply that can be kept, what is wrong with the others by their number, and what was left
    out of those that were kept.
    """

    kept: tuple[Interaction, ...]
    wrong: dict[int, str]
    dropped: Counter[str]


class Source:
    """What a caption's own lines tell: people, words and speech."""

    def __init__(self, caption: Caption, me: str) -> None:
        self._lines = [line for line in caption.lines if line.text.strip()]
        self._me = me
        self._foreign = any(has_han(line.text) for line in self._lines)

    def judge(self, told: Sequence[ToldInteraction]) -> Judged:
        """What of a reply can be kept."""
        kept: list[Interaction] = []
        wrong: dict[int, str] = {}
        dropped: Counter[str] = Counter()
        for number, one in enumerate(told):
            people = [self._person(person) for person in one.persons if _plain(person)]
            action, thing = _action(one.action), _without_article(one.object)
            fault = self._fault(people, action, thing)
            if fault:
                wrong[number] = fault
            else:
                kept.append(self._kept(one, distinct(name for name in people if name), action, thing, dropped))
        return Judged(tuple(kept), wrong, dropped)

    def _fault(self, people: Sequence[str | None], action: str, thing: str) -> str:
        if not people:
            return "no_person"
        if None in people:
            return "unknown_person"
        words = action.split()
        first = words[0] if words else ""
        is_verb = first.replace("-", "").isalpha() and (first not in FUNCTION_WORDS or first in _MAIN_VERBS)
        if not is_verb or len(words) > _LONGEST_ACTION:
            return "action_no_verb"
        if not thing or set(lower_words(thing)) <= _NO_THINGS:
            return "no_object"
        if len(thing.split()) > _LONGEST_OBJECT:
            return "object_too_long"
        return "" if self._tells(thing) else "object_not_told"

    def _kept(
        self, one: ToldInteraction, people: tuple[str, ...], action: str, thing: str, dropped: Counter[str]
    ) -> Interaction:
        """An interaction without those of its details that the lines do not tell."""
        details: dict[str, str | None] = {}
        for name in ("tool", "app", "location"):
            value = _without_article(getattr(one, name) or "")
            told = value if value and value.lower() not in _NOTHING else None
            if told and not self._tells(told):
                dropped[f"{name}_not_told"] += 1
                told = None
            details[name] = told
        attributes = distinct(clean for text in one.attributes if (clean := _plain(text)))
        wanted = [text for text in attributes if len(text.split()) <= _LONGEST_ATTRIBUTE and self._tells(text)][
            :_MOST_ATTRIBUTES
        ]
        if len(wanted) < len(attributes):
            dropped["attribute_not_told"] += len(attributes) - len(wanted)
        speech = _plain(one.speech_content or "").strip('"“”') or None
        if speech and not self._says(speech, people):
            dropped["speech_not_verbatim"] += 1
            speech = None
        return Interaction(people, action, thing, speech=speech, attributes=tuple(wanted), **details)

    def _person(self, text: str) -> str | None:
        """Who a name or description stands for; None where the lines know nobody of that kind."""
        plain = _without_article(text)
        low = plain.lower()
        if low in _WEARER or low == self._me.lower():
            return self._me
        if low in self._names:
            return self._names[low]
        if low == "someone":
            return low
        words = lower_words(plain)
        if not words or set(words) & _PRONOUNS:
            return None
        if all(word in self._words for word in words) and not plain[0].isupper():
            return low
        return plain if self._foreign and plain[0].isupper() else None

    def _tells(self, text: str) -> bool:
        """Whether the lines hold a word of a text, whatever its form; Chinese lines are not asked."""
        return self._foreign or any(
            stem(word) in self._stems for word in lower_words(text) if word not in FUNCTION_WORDS
        )

    def _says(self, speech: str, people: Sequence[str]) -> bool:
        """Whether one of these people, or somebody unknown, says just these words; white space does not count."""
        wanted = "".join(speech.split())
        said = [text for speaker, text in self._speech if not speaker or set(speaker) & set(people)]
        return any(wanted in text for text in said)

    @cached_property
    def _names(self) -> dict[str, str]:
        """Names by their lower case: speakers, and people whom these lines show or speak of by name."""
        roster = Roster("")
        roster.learn(self._lines)
        end_ms = max((line.end_ms for line in self._lines), default=0)
        shown = [name for line in self._lines for name in roster.named(line.text, end_ms)]
        spoken = [name for line in self._lines for name in label_names(line.speaker)]
        called = [
            word.strip(EDGE).removesuffix("'s")
            for line in self._lines
            for word in line.text.split()
            if word[:1].isupper() and word.strip(EDGE).lower().removesuffix("'s") not in FUNCTION_WORDS
        ]
        return {name.lower(): name for name in (*called, *shown, *spoken) if name}

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word for line in self._lines for word in lower_words(f"{line.speaker or ''} {line.text}"))

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(stem(word) for word in self._words | set(lower_words(self._me)))

    @cached_property
    def _speech(self) -> list[tuple[tuple[str, ...], str]]:
        """What each speaker says without white space, lines that follow one another as one."""
        found: list[tuple[tuple[str, ...], str]] = []
        for line in self._lines:
            if line.modality != "speech":
                continue
            speaker, text = label_names(line.speaker), "".join(line.text.split())
            if found and found[-1][0] == speaker:
                text = found.pop()[1] + text
            found.append((speaker, text))
        return found


def _plain(text: str) -> str:
    return " ".join(text.replace("\x00", "").split())


def _without_article(text: str) -> str:
    words = _plain(text).strip(EDGE + " ").split()
    while len(words) > 1 and words[0].lower() in DETERMINERS - {"all", "both", "one", "two", "three", "half"}:
        del words[0]
    return " ".join(words)


def _action(text: str) -> str:
    """A verb phrase in lower case whose first word is in its base form where that is known."""
    words = _plain(text).lower().strip(EDGE + " ").split()
    return " ".join([verb_base(words[0]) or words[0], *words[1:]]) if words else ""

"""Reads the lines of a shard in order of time and tells what each says by itself (EgoCITE section 4.1, EgoScheme)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ray_tasks.corpus.fuse import CLIP_MS
from ray_tasks.extraction.context import Context
from ray_tasks.extraction.filters import reason_to_drop
from ray_tasks.extraction.objects import fill_object, needs_object, same_actor
from ray_tasks.extraction.people import Roster, in_first_person, label_names
from ray_tasks.extraction.pronouns import has_unresolved, names_person, put_name
from ray_tasks.extraction.sentences import Clause, clauses
from ray_tasks.extraction.speech import analyse
from ray_tasks.extraction.types import CONTEXT_MS, window_end
from ray_tasks.extraction.utterances import utterance
from ray_tasks.extraction.wordlists import word_set
from ray_tasks.extraction.words import distinct, is_english, lower_words
from ray_tasks.rows import Caption, Line, View

_NEIGHBOUR_MS: Final = 10_000
_JUST_MENTIONED_MS: Final = 30_000
_OWN_WORDS: Final = word_set("i i'm i've i'll i'd me my mine myself we we're we've we'll we'd us our ours")
_UNNAMED_PERSON: Final = re.compile(
    r"\b(?:man|woman|girl|boy|guy|lady|child|kid|baby|person|photographer|cameraman|waiter|waitress|driver|clerk|staff"
    r"|cashier|neighbou?r|colleague|friend|girlfriend|boyfriend|mother|father|mom|dad|sister|brother|auntie|uncle|teacher"
    r"|customer|owner|boss|stranger|guest)\b"
)


@dataclass(frozen=True, slots=True)
class Fact:
    """The text of an atom, before it is compared with the others of its caption."""

    view: View
    text: str
    people: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """What one line gave: facts, or the reason why there are none, and what was odd about it."""

    facts: tuple[Fact, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()


@lru_cache(maxsize=2)
def read_shard(
    captions: tuple[Caption, ...], halo: tuple[Caption, ...], wearer: str
) -> tuple[tuple[Reading, ...], ...]:
    """The readings of every line of every caption of a shard, after those of its halo.

    A reading rests on lines of its own caption and of earlier ones, and on none that ends after its caption. The fine
    and the coarse views of a shard share one reading.
    """
    if not captions:
        return ()
    reader = _Reader(wearer)
    for caption in halo:
        if caption.start_ms >= captions[0].start_ms - CONTEXT_MS:
            reader.read(caption)
    return tuple(tuple(reader.read(caption)) for caption in captions)


class _Reader:
    """Reads captions in order and remembers what the five minutes before have said."""

    def __init__(self, wearer: str) -> None:
        self._roster = Roster(wearer)
        self._context = Context(self._roster)
        self._last_act: tuple[str, int] = ("", 0)
        self._last_subject: tuple[str, int] = ("none", 0)
        self._end_ms = 0

    def read(self, caption: Caption) -> list[Reading]:
        """What each line of a caption gives, in order.

        A line that runs on past the end of the window after its own is read but not remembered.
        """
        self._roster.learn(caption.lines)
        self._context.enter(caption)
        self._end_ms = caption.end_ms
        readings = []
        for line in caption.lines:
            if not line.text.strip():
                readings.append(Reading(reason="empty"))
                continue
            memory = self._last_act, self._last_subject
            readings.append(self._spoken(line) if line.modality == "speech" else self._seen(line))
            if line.end_ms <= window_end(caption) + CLIP_MS:
                self._context.add(line)
            else:  # it may end after later captions, which then must not know it
                self._last_act, self._last_subject = memory
        return readings

    # Speech

    def _spoken(self, line: Line) -> Reading:
        if self._context.is_loop(line):
            return Reading(reason="recogniser_loop")
        speech = analyse(line.text)
        speakers = label_names(line.speaker)
        notes = [] if speakers else ["unknown_speaker"]
        if not speech.english:
            notes.append("not_english")
        if speech.laughs:
            return Reading((_laughter(speakers, self._roster.me),), notes=tuple(notes))
        said = utterance(line, self._context.said(), self._roster, self._end_ms)
        if said is None:
            return Reading(reason="no_content")
        if said.answers:
            notes.append("answer_joined")
        text, people = self._with_absent_person(said.text, said.people, speakers)
        if text != said.text:
            notes.append("pronoun_resolved")
        if has_unresolved(text):
            notes.append("pronoun_unresolved")
        return Reading((Fact("utterance", text, people),), notes=tuple(notes))

    def _with_absent_person(
        self, text: str, people: tuple[str, ...], speakers: tuple[str, ...]
    ) -> tuple[str, tuple[str, ...]]:
        """A "he" in speech named only if one person was spoken of who does not speak, since a listener is a "you"."""
        if not names_person(text) or set(people) - set(speakers) - {self._roster.me}:
            return text, people
        names = [name for name in self._context.mentioned(_JUST_MENTIONED_MS) if name not in speakers]
        if len(names) != 1 or set(self._context.mentioned()) - set(speakers) != {names[0]}:
            return text, people
        name = names[0]
        if name in self._context.speakers() or self._unnamed_person_in_sight():
            return text, people
        return put_name(text, name), distinct([*people, name])

    # Sight

    def _seen(self, line: Line) -> Reading:
        if not is_english(line.text):
            text = " ".join(line.text.split())
            return Reading((Fact("action", text, self._roster.named(text, self._end_ms)),), notes=("not_english",))
        text = in_first_person(self._roster.unglue(line.text, self._end_ms), self._roster.me)
        facts: list[Fact] = []
        reasons: list[str] = []
        notes: Counter[str] = Counter()
        for clause in clauses(text):
            for act in self._acts(clause, line, notes):
                resolved = self._resolved(act, line, notes)
                reason = reason_to_drop(resolved)
                if reason:
                    reasons.append(reason)
                else:
                    facts.append(Fact("action", resolved, self._people(resolved)))
                    self._last_act = (resolved, line.end_ms)
        return Reading(tuple(facts), "" if facts else (reasons or ["no_content"])[0], tuple(notes))

    def _acts(self, clause: Clause, line: Line, notes: Counter[str]) -> tuple[str, ...]:
        """The acts of a clause; a missing subject is the wearer unless the line before speaks of somebody else."""
        subject, until = self._last_subject
        follows_another = subject == "other" and line.start_ms - until <= _NEIGHBOUR_MS
        if clause.assumed and (clause.certain or not follows_another):
            self._last_subject = ("wearer", line.end_ms)
            notes["subject_assumed"] += 1
            return clause.assumed
        if clause.subject != "none":
            self._last_subject = (clause.subject, line.end_ms)
        elif self._roster.named(clause.text.split()[0], self._end_ms):
            self._last_subject = ("other", line.end_ms)
        else:
            self._last_subject = (subject, line.end_ms) if follows_another else ("none", line.end_ms)
            notes["subject_unclear"] += 1
        return (clause.text,)

    def _resolved(self, act: str, line: Line, notes: Counter[str]) -> str:
        """An act with its pronouns put back where one reading is possible."""
        text = act
        earlier, until = self._last_act
        recent = until <= self._end_ms and line.start_ms - until <= _NEIGHBOUR_MS
        if recent and needs_object(text) and same_actor(text, earlier):
            text = fill_object(text, earlier) or text
        if names_person(text) and not self._names_another(text):
            people = self._context.people()
            if len(people) == 1 and not self._unnamed_person_in_sight():
                text = put_name(text, people[0])
        if text != act:
            notes["pronoun_resolved"] += 1
        if has_unresolved(text):
            notes["pronoun_unresolved"] += 1
        return text

    def _names_another(self, text: str) -> bool:
        """Whether an act has somebody of its own to whom its pronouns may belong."""
        actor = text.split(" ", 1)[0].lower()
        own_subject = actor not in _OWN_WORDS and not names_person(actor)
        return own_subject or bool(set(self._roster.named(text, self._end_ms)) - {self._roster.me})

    def _unnamed_person_in_sight(self) -> bool:
        return any(_UNNAMED_PERSON.search(text) for text in self._context.seen_texts())

    def _people(self, text: str) -> tuple[str, ...]:
        mine = (self._roster.me,) if _OWN_WORDS & set(lower_words(text)) else ()
        return distinct([*mine, *self._roster.named(text, self._end_ms)])


def _laughter(speakers: tuple[str, ...], me: str) -> Fact:
    names = ["I" if name == me else name for name in speakers] or ["Someone"]
    verb = "laugh" if len(names) > 1 or names == ["I"] else "laughs"
    return Fact("action", f"{' and '.join(names)} {verb}.", speakers)

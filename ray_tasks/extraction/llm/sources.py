"""What a statement may rest on: the lines of its captions and of the five minutes before, as they stand at its end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ray_tasks.extraction.people import Roster, label_names
from ray_tasks.extraction.types import CONTEXT_MS
from ray_tasks.extraction.verbs import verb_forms
from ray_tasks.extraction.wordlists import FUNCTION_WORDS, INTERJECTIONS, word_set
from ray_tasks.extraction.words import content_words, distinct, lower_words, stem
from ray_tasks.rows import Caption, Line

_CHINESE: Final = re.compile(r"[\u3400-\u9fff]")
_WORD: Final = re.compile(r"\b[^\W\d_][\w-]+")
_OWN_WORDS: Final = word_set("i i'm i've i'll i'd me my mine myself we we're we've we'll we'd us our ours")


@dataclass(frozen=True, slots=True)
class Source:
    """The wearer's name, the names, and the stems of content words that lines hold. `foreign`: lines are not English,
    so that names and words of a statement need not be found among them.
    """

    me: str
    names: frozenset[str]
    stems: frozenset[str]
    foreign: bool


class Shard:
    """The captions of one wearer and hour with those of the five minutes before, and who is known when."""

    def __init__(self, captions: Sequence[Caption], halo: Sequence[Caption], wearer: str) -> None:
        self.wearer = wearer
        self.captions = tuple(captions)
        self.halo = tuple(halo)
        since = captions[0].start_ms - CONTEXT_MS if captions else 0
        self._before = [caption for caption in halo if caption.start_ms >= since]
        self._all = (*self._before, *self.captions)
        self._roster = Roster(wearer)
        for caption in self._all:
            self._roster.learn(caption.lines)

    @property
    def me(self) -> str:
        """What others call the wearer."""
        return self._roster.me

    def context(self, position: int, end_ms: int) -> list[Line]:
        """The lines of the five minutes before a caption, without those that end after `end_ms`."""
        since = self.captions[position].start_ms - CONTEXT_MS
        first = len(self._before) + position
        while first > 0 and self._all[first - 1].start_ms >= since:
            first -= 1
        earlier = self._all[first : len(self._before) + position]
        return [line for caption in earlier for line in caption.lines if line.end_ms <= end_ms and line.text.strip()]

    def source(self, lines: Iterable[Line]) -> Source:
        """What lines hold."""
        held = [_held(line.text, line.speaker) for line in lines]
        names = frozenset([self.me]).union(*(one.names for one in held))
        return Source(self.me, names, frozenset().union(*(one.stems for one in held)), any(o.foreign for o in held))

    def people(self, text: str, source: Source, at_ms: int) -> tuple[str, ...]:
        """The people of a statement in order of mention: the wearer for "I" and "we", and names that are known."""
        mine = (self.me,) if _OWN_WORDS & set(lower_words(text)) else ()
        known = self._roster.named(text, at_ms)
        by_use = Roster(self.wearer)
        by_use.learn([Line(0, 0, "visual", None, text, "en")])
        used = (name for name in by_use.named(text, 0) if name in source.names)
        return distinct([*mine, *known, *used])

    def present(self, lines: Iterable[Line], at_ms: int) -> tuple[str, ...]:
        """Who speaks in lines or is named in what is seen."""
        found: list[str] = []
        for line in lines:
            found.extend(label_names(line.speaker))
            if line.modality == "visual":
                found.extend(self._roster.named(line.text, at_ms))
        return distinct(found)


@lru_cache(maxsize=65_536)
def stems_of(text: str) -> frozenset[str]:
    """Stems of the content words of a text."""
    return frozenset(stem(word) for word in content_words(text))


@lru_cache(maxsize=65_536)
def _held(text: str, speaker: str | None) -> Source:
    """What one line holds; nobody is the wearer."""
    return Source("", _names_in(text, speaker), stems_of(text), _CHINESE.search(text) is not None)


def _names_in(text: str, speaker: str | None) -> frozenset[str]:
    """What a statement may begin with: names of a label, and capitalised words that can be names.

    A word that only opens a sentence may be among them; whatever no line holds is not.
    """
    labels = label_names(speaker)
    words = {word for word in _WORD.findall(text) if word[0].isupper() and not verb_forms(word.lower())}
    named = {word for word in words if word.lower() not in FUNCTION_WORDS | INTERJECTIONS}
    return frozenset([*labels, *(part for name in labels for part in name.split()), *named])

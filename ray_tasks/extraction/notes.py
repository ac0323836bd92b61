"""What the coarse views know of each caption: its acts, its talk and its words, and how telling a word is."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

from ray_tasks.extraction.people import label_names
from ray_tasks.extraction.reader import Fact, Reading
from ray_tasks.extraction.speech import Speech, analyse
from ray_tasks.extraction.types import window_end
from ray_tasks.extraction.words import content_words, distinct, stem
from ray_tasks.rows import Caption, Line


@dataclass(frozen=True, slots=True)
class Talk:
    """A spoken line: who speaks, what is said, and whom the line names."""

    line: Line
    speakers: tuple[str, ...]
    speech: Speech
    people: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A caption as the coarse views see it. All of it rests on this caption and earlier ones.

    `seen_terms` and `spoken_terms` count the words of lines that end inside the caption's window: what segmentation and
    statistics may look at.
    """

    caption: Caption
    acts: tuple[Fact, ...]
    talk: tuple[Talk, ...]
    seen_terms: Counter[str]
    spoken_terms: Counter[str]


def take_note(caption: Caption, readings: Sequence[Reading]) -> Note:
    """The note of a caption from the readings of its lines."""
    acts: list[Fact] = []
    talk: list[Talk] = []
    seen: Counter[str] = Counter()
    spoken: Counter[str] = Counter()
    for line, reading in zip(caption.lines, readings, strict=True):
        in_window = line.end_ms <= window_end(caption)
        if line.modality == "visual":
            acts.extend(reading.facts)
            seen.update(term for fact in reading.facts if in_window for term in terms_of(fact.text, fact.people))
        elif line.text.strip():
            people = distinct(name for fact in reading.facts for name in fact.people)
            one = Talk(line, label_names(line.speaker), analyse(line.text), people)
            talk.append(one)
            spoken.update(terms_of(one.speech.content, people) if in_window else ())
    return Note(caption, tuple(dict.fromkeys(acts)), tuple(talk), seen, spoken)


@lru_cache(maxsize=65_536)
def terms_of(text: str, people: tuple[str, ...]) -> tuple[str, ...]:
    """Stems of the content words of a text, and the people named in it; a name is never taken for a word."""
    names = {part for name in people for part in name.lower().split()}
    words = [word.removesuffix("'s") for word in content_words(text)]
    named = [name for name in people if name in text]
    return (*(stem(word) for word in words if word not in names), *(f"@{name}" for name in named))


class Rarity:
    """How telling a term is: its inverse document frequency over the notes so far, never over later ones."""

    def __init__(self, documents: Sequence[Counter[str]]) -> None:
        self._postings: dict[str, list[int]] = {}
        for index, terms in enumerate(documents):
            for term in terms:
                self._postings.setdefault(term, []).append(index)

    def weight(self, term: str, up_to: int) -> float:
        """log(1 + N / (1 + n)) with N = `up_to` + 1 documents, n of them holding the term."""
        holding = bisect_right(self._postings.get(term, []), up_to)
        return log(1 + (up_to + 1) / (1 + holding))

"""The script of the sample week as data: days, scenes and beats, read from the YAML files of this folder.

Clock times are milliseconds since midnight of their day; a span is [start_ms, end_ms). A slip in the script (an unknown
name, a beat told twice, somebody in two places) raises StoryError naming the file and the scene.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import yaml

from ray_tasks.corpus.week_time import MINUTE_MS, parse_clock

SOMEONE = "someone"
"""The script's name for a voice whose owner nobody named; such cues carry no speaker."""

_SPAN = re.compile(r"(?P<start>[\d:.]+)-(?P<end>[\d:.]+)")
_PRESENCE = re.compile(r"(?P<when>[\d:.-]+) (?P<place>[a-z ]+): (?P<people>.+)")
_CLOCK = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d\d))?)?")
_OFFSET = re.compile(r"(\d+):(\d\d)")


class StoryError(ValueError):
    """The script contradicts itself or cannot be read; the message names the file and the place in it."""


@dataclass(frozen=True, slots=True, order=True)
class Words:
    """A sentence and, where the script gives one, its Chinese version (else empty)."""

    english: str
    chinese: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a day, ms since midnight."""

    start_ms: int
    end_ms: int

    def holds(self, start_ms: int, end_ms: int) -> bool:
        """Whether an interval lies in this span."""
        return self.start_ms <= start_ms and end_ms < self.end_ms

    def meets(self, other: Span) -> bool:
        """Whether the two spans share any time."""
        return self.start_ms < other.end_ms and other.start_ms < self.end_ms


@dataclass(frozen=True, slots=True)
class Beat:
    """One moment: what cameras show (by wearer's name), or what `speaker` says."""

    name: str
    offset_ms: int | None
    seen: Mapping[str, Words]
    speaker: str
    said: Words | None


@dataclass(frozen=True, slots=True)
class Scene:
    """Beats in order, from `start_ms` on; everybody in `people` hears every word."""

    title: str
    start_ms: int
    place: str
    people: tuple[str, ...]
    beats: tuple[Beat, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Who is where between the scenes."""

    span: Span
    place: str
    people: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """A day of the script; `sound_only` holds (name, hour) of which no picture was kept."""

    number: int
    recorded: Mapping[str, tuple[Span, ...]]
    sound_only: frozenset[tuple[str, int]]
    stretches: tuple[Stretch, ...]
    scenes: tuple[Scene, ...]

    def records(self, name: str, start_ms: int, end_ms: int) -> bool:
        """Whether the camera of `name` runs for the whole interval."""
        return any(span.holds(start_ms, end_ms) for span in self.recorded.get(name, ()))


@dataclass(frozen=True, slots=True)
class Week:
    """The whole script. `wearers` maps a name to the wearer's id, in the order of the script."""

    wearers: Mapping[str, str]
    guests: tuple[str, ...]
    chinese_names: Mapping[str, str]
    sync: frozenset[str]
    reserved: tuple[str, ...]
    days: tuple[Day, ...]


@dataclass(frozen=True, slots=True, order=True)
class Row:
    """What a camera showed or what was said (`speaker` may be empty); `beat` is empty for filler and unnamed beats."""

    wearer: str
    day: int
    start_ms: int
    end_ms: int
    visual: bool
    speaker: str
    words: Words
    beat: str


def read_yaml(name: str) -> Any:
    """A YAML file of this folder; the C loader, where PyYAML has it, is ten times faster."""
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def split_words(text: str) -> Words:
    """``English | Chinese`` as Words."""
    english, _, chinese = str(text).partition(" | ")
    return Words(english.strip(), chinese.strip())


def load_week() -> Week:
    """The script, checked; raises StoryError."""
    head = read_yaml("week.yaml")
    cast = (*head["wearers"], *head["guests"])
    days = tuple(_read_day(name, cast, tuple(head["wearers"])) for name in head["days"])
    names = [beat.name for day in days for scene in day.scenes for beat in scene.beats if beat.name]
    _refuse_repeats("week.yaml", "a beat's id", names)
    return Week(
        wearers=head["wearers"],
        guests=tuple(head["guests"]),
        chinese_names=head["chinese_names"],
        sync=frozenset(head["sync"]),
        reserved=tuple(head["reserved"]),
        days=days,
    )


def _read_day(file: str, cast: tuple[str, ...], wearers: tuple[str, ...]) -> Day:
    raw = read_yaml(file)
    scenes = [_read_scene(file, scene, cast, wearers) for scene in raw["scenes"]]
    day = Day(
        number=raw["day"],
        recorded={name: tuple(_span(file, text) for text in spans) for name, spans in raw["recorded"].items()},
        sound_only=frozenset((name, hour) for name, hours in raw.get("sound_only", {}).items() for hour in hours),
        stretches=tuple(_read_stretch(file, text, cast) for text in raw["stretches"]),
        scenes=tuple(sorted(scenes, key=lambda scene: scene.start_ms)),
    )
    for person in cast:
        spans = [stretch.span for stretch in day.stretches if person in stretch.people]
        if any(a.meets(b) for i, a in enumerate(spans) for b in spans[i + 1 :]):
            raise StoryError(f"{file}: {person} is in two stretches at once")
    return day


def _read_stretch(file: str, text: str, cast: tuple[str, ...]) -> Stretch:
    when, place, people = _presence(file, text, cast)
    return Stretch(_span(file, when), place, people)


def _read_scene(file: str, raw: Mapping[str, Any], cast: tuple[str, ...], wearers: tuple[str, ...]) -> Scene:
    where = f"{file}, scene {raw['title']!r}"
    when, place, people = _presence(where, raw["when"], cast)
    beats = tuple(_read_beat(where, beat, people, wearers) for beat in raw["beats"])
    return Scene(raw["title"], _clock(where, when), place, people, beats)


def _read_beat(where: str, raw: Mapping[str, str], people: tuple[str, ...], wearers: tuple[str, ...]) -> Beat:
    seen: dict[str, Words] = {}
    speeches: list[tuple[str, Words]] = []
    for key, value in raw.items():
        name = key.removesuffix(" sees")
        if key in {"id", "at"}:
            continue
        if name not in people and name != SOMEONE:
            raise StoryError(f"{where}: {name!r} is not in this scene")
        if key == name:
            speeches.append((name, split_words(value)))
        elif name in wearers:
            seen[name] = split_words(value)
        else:
            raise StoryError(f"{where}: {name} has no camera")
    if len(speeches) + bool(seen) != 1:
        raise StoryError(f"{where}: a beat is either seen or said by one person: {dict(raw)}")
    speaker, said = speeches[0] if speeches else ("", None)
    return Beat(raw.get("id", ""), _offset(where, raw["at"]) if "at" in raw else None, seen, speaker, said)


def _presence(where: str, text: str, cast: tuple[str, ...]) -> tuple[str, str, tuple[str, ...]]:
    match = _PRESENCE.fullmatch(text)
    if not match:
        raise StoryError(f"{where}: expected 'HH:MM place: people', found {text!r}")
    people = tuple(match["people"].split(", "))
    if unknown := set(people) - set(cast):
        raise StoryError(f"{where}: unknown people {sorted(unknown)}")
    return match["when"], match["place"], people


def _span(where: str, text: str) -> Span:
    match = _SPAN.fullmatch(text)
    if not match:
        raise StoryError(f"{where}: expected 'HH:MM-HH:MM', found {text!r}")
    return Span(_clock(where, match["start"]), _clock(where, match["end"]))


def _clock(where: str, text: str) -> int:
    """Milliseconds since midnight of ``HH:MM``, ``HH:MM:SS`` or ``HH:MM:SS.hh`` (hundredths)."""
    match = _CLOCK.fullmatch(text)
    if not match:
        raise StoryError(f"{where}: not a clock time: {text!r}")
    hour, minute, second, hundredth = match.groups(default="00")
    return parse_clock(f"{hour}{minute}{second}").ms + int(hundredth) * 10


def _offset(where: str, text: str) -> int:
    match = _OFFSET.fullmatch(str(text))
    if not match:
        raise StoryError(f"{where}: expected 'minutes:seconds' in quotes, found {text!r}")
    return int(match[1]) * MINUTE_MS + int(match[2]) * 1_000


def _refuse_repeats(file: str, what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise StoryError(f"{file}: {what} is used twice: {name!r}")
        seen.add(name)

"""Gives every beat of a scene its time, and every wearer who is there a row of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ray_tasks.corpus.week_time import HOUR_MS
from sample_week.dice import Dice
from sample_week.story import SOMEONE, Beat, Day, Row, Scene, Span, StoryError, Week, Words

# Two cameras in one room hear a word at slightly different times.
HEARING_LAG_MS = 133


@dataclass(frozen=True, slots=True)
class Staged:
    """The rows of a day's scenes, and the time each person spends in scenes."""

    rows: tuple[Row, ...]
    busy: Mapping[str, tuple[Span, ...]]


def stage_day(week: Week, day: Day) -> Staged:
    """All scenes of a day in order of time; raises StoryError where somebody would be in two scenes at once."""
    rows: list[Row] = []
    busy: dict[str, list[Span]] = {name: [] for name in (*week.wearers, *week.guests)}
    for scene in day.scenes:
        timed = list(_play(day, scene))
        span = Span(scene.start_ms, timed[-1][2] + 1)
        for name in scene.people:
            if any(span.meets(other) for other in busy[name]):
                raise StoryError(f"day{day.number}.yaml: {name} is still in a scene when {scene.title!r} begins")
            busy[name].append(span)
        for beat, start_ms, end_ms in timed:
            rows.extend(_rows(week, day, scene, beat, start_ms, end_ms))
    return Staged(tuple(rows), {name: tuple(spans) for name, spans in busy.items()})


def speaking_ms(words: Words) -> int:
    """How long it takes to say a sentence: a third of a second for an English word or two Chinese characters."""
    return 450 + 330 * (len(words.english.split()) or len(words.chinese) // 2)


def spoken_rows(
    week: Week, day: Day, people: tuple[str, ...], speaker: str, words: Words, start_ms: int, beat: str
) -> list[Row]:
    """A spoken line as every wearer in `people` recorded it; a camera that is off records nothing."""
    rows = []
    for lag, (name, wearer) in enumerate(week.wearers.items()):
        begin = start_ms + lag * HEARING_LAG_MS
        end = begin + speaking_ms(words)
        if name in people and day.records(name, begin, end):
            rows.append(Row(wearer, day.number, begin, end, False, "" if speaker == SOMEONE else speaker, words, beat))
    return rows


def _play(day: Day, scene: Scene) -> Iterator[tuple[Beat, int, int]]:
    """Each beat with its start and end (ms since midnight)."""
    dice = Dice("scene", day.number, scene.title)
    now = scene.start_ms
    for beat in scene.beats:
        if beat.offset_ms is not None:
            if scene.start_ms + beat.offset_ms < now:
                raise StoryError(f"day{day.number}.yaml, scene {scene.title!r}: {beat.name!r} comes too early")
            now = scene.start_ms + beat.offset_ms
        start_ms = now + dice.between(100, 900)
        if beat.said is not None:
            end_ms = start_ms + speaking_ms(beat.said)
            now = end_ms + dice.between(200, 1_300)
        else:
            end_ms = start_ms + dice.between(1_200, 3_200)
            now = end_ms + dice.between(900, 3_900)
        yield beat, start_ms, end_ms


def _rows(week: Week, day: Day, scene: Scene, beat: Beat, start_ms: int, end_ms: int) -> list[Row]:
    if beat.said is not None:
        return spoken_rows(week, day, scene.people, beat.speaker, beat.said, start_ms, beat.name)
    rows = []
    for name, words in beat.seen.items():
        if not day.records(name, start_ms, end_ms) or (name, start_ms // HOUR_MS) in day.sound_only:
            raise StoryError(f"day{day.number}.yaml, scene {scene.title!r}: {name} films nothing at {words.english!r}")
        rows.append(Row(week.wearers[name], day.number, start_ms, end_ms, True, "", words, beat.name))
    return rows

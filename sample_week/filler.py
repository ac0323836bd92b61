"""What happens between the scenes: chores, small talk and quiet, drawn from filler.yaml with seeded dice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ray_tasks.corpus.week_time import HOUR_MS
from sample_week.dice import Dice
from sample_week.staging import speaking_ms, spoken_rows
from sample_week.story import Day, Row, Span, Stretch, Week, Words, read_yaml, split_words

# Filler keeps clear of scenes, and of the end of each hour, so that only the planted cues run past their file.
SCENE_MARGIN_MS = 4_000
HOUR_MARGIN_MS = 9_000
SHORTEST_MS = 25_000
CHINESE_ONLY_SHARE = 0.03
SIGHT_SHARE = 0.14
SEEN_ECHO_SHARE = 0.14
SAID_ECHO_SHARE = 0.3

_SLOT = re.compile(r"\{(\w+)\}")
Drawn = dict[str, Words]


@dataclass(frozen=True, slots=True)
class Filler:
    """Templates of filler.yaml; a slot such as ``{tool}`` is drawn from `words`."""

    words: Mapping[str, tuple[Words, ...]]
    tails: tuple[str, ...]
    chores: Mapping[str, tuple[tuple[Words, ...], ...]]
    sights: tuple[Words, ...]
    away: frozenset[str]
    talks: Mapping[str, tuple[tuple[Words, ...], ...]]
    mutters: tuple[Words, ...]
    seen_echoes: Mapping[str, tuple[Words, ...]]
    said_echoes: tuple[tuple[Words, ...], ...]


def load_filler() -> Filler:
    """The templates of filler.yaml."""
    raw = read_yaml("filler.yaml")
    return Filler(
        words={slot: tuple(map(split_words, values)) for slot, values in raw["words"].items()},
        tails=tuple(raw["tails"]),
        chores={place: _sequences(chores) for place, chores in raw["chores"].items()},
        sights=tuple(map(split_words, raw["sights"])),
        away=frozenset(raw["away"]),
        talks={where: _sequences(talks) for where, talks in raw["talks"].items()},
        mutters=tuple(map(split_words, raw["mutters"])),
        seen_echoes={place: tuple(map(split_words, lines)) for place, lines in raw["echoes"]["seen"].items()},
        said_echoes=_sequences(raw["echoes"]["said"]),
    )


def fill_day(week: Week, day: Day, busy: Mapping[str, tuple[Span, ...]], filler: Filler) -> list[Row]:
    """Rows for every stretch of a day, outside the scenes of the people in it."""
    rows: list[Row] = []
    for stretch in day.stretches:
        dice = Dice("filler", day.number, stretch.span.start_ms, stretch.place)
        taken = [span for name in stretch.people for span in busy[name]]
        for free in free_spans(stretch.span, taken):
            for block in _blocks(free, dice):
                rows.extend(_block_rows(week, day, stretch, block, filler, dice))
    return rows


def free_spans(whole: Span, taken: list[Span]) -> Iterator[Span]:
    """What is left of `whole` without the taken spans, cut at full hours, with margins; scraps are left out."""
    edges = [Span(span.start_ms - SCENE_MARGIN_MS, span.end_ms + SCENE_MARGIN_MS) for span in taken]
    first_hour, last_hour = whole.start_ms // HOUR_MS, whole.end_ms // HOUR_MS
    edges += [Span(hour * HOUR_MS - HOUR_MARGIN_MS, hour * HOUR_MS) for hour in range(first_hour + 1, last_hour + 1)]
    now = whole.start_ms
    for edge in sorted(edges, key=lambda span: span.start_ms):
        if min(edge.start_ms, whole.end_ms) - now >= SHORTEST_MS:
            yield Span(now, min(edge.start_ms, whole.end_ms))
        now = max(now, edge.end_ms)
    if whole.end_ms - now >= SHORTEST_MS:
        yield Span(now, whole.end_ms)


def _blocks(free: Span, dice: Dice) -> Iterator[Span]:
    """Busy blocks of two to seven minutes with quiet stretches between them."""
    now = free.start_ms + dice.between(0, 45_000)
    while free.end_ms - now >= SHORTEST_MS:
        end = min(now + dice.between(120_000, 420_000), free.end_ms)
        yield Span(now, end)
        now = end + dice.between(85_000, 440_000)


def _block_rows(week: Week, day: Day, stretch: Stretch, block: Span, filler: Filler, dice: Dice) -> Iterator[Row]:
    for name in week.wearers:
        if name in stretch.people:
            yield from _chore_rows(week, day, stretch, name, block, filler, dice)
    yield from _talk_rows(week, day, stretch, block, filler, dice)


def _chore_rows(
    week: Week, day: Day, stretch: Stretch, name: str, block: Span, filler: Filler, dice: Dice
) -> Iterator[Row]:
    """What one camera shows in a block: the steps of one chore after another, and now and then somebody else."""
    others = [person for person in stretch.people if person != name]
    now = block.start_ms + dice.between(500, 6_000)
    while now < block.end_ms:
        drawn = _draw(week, others, filler, dice)
        steps = dice.pick(filler.chores[stretch.place])
        for step in steps[dice.between(0, len(steps) // 2) :]:
            if dice.chance(SEEN_ECHO_SHARE):
                template = dice.pick(filler.seen_echoes[stretch.place])
            elif others and stretch.place not in filler.away and dice.chance(SIGHT_SHARE):
                template = dice.pick(filler.sights)
            else:
                template = step
            words = _tailed(_fill(template, drawn), filler, dice)
            end_ms = now + dice.between(1_000, 3_400)
            silent = (name, now // HOUR_MS) in day.sound_only
            if end_ms < block.end_ms and day.records(name, now, end_ms) and not silent and "{" not in words.english:
                yield Row(week.wearers[name], day.number, now, end_ms, True, "", words, "")
            now = end_ms + dice.between(5_500, 13_500)


def _talk_rows(week: Week, day: Day, stretch: Stretch, block: Span, filler: Filler, dice: Dice) -> Iterator[Row]:
    """Small talk where two or more are present (lines may overlap, as people do), muttering where one is alone."""
    alone = len(stretch.people) == 1
    now = block.start_ms + dice.between(8_000, 30_000)
    while now < block.end_ms:
        first = dice.pick(stretch.people)
        second = first if alone else dice.pick([person for person in stretch.people if person != first])
        drawn = _draw(week, [second], filler, dice)
        for line in _lines(stretch, alone, filler, dice):
            role, words = _role(_fill(line, drawn))
            speaker = second if role == "B" else first
            end_ms = now + speaking_ms(words)
            if words.chinese and dice.chance(CHINESE_ONLY_SHARE):
                words = Words("", words.chinese)
            if end_ms < block.end_ms:
                yield from spoken_rows(week, day, stretch.people, speaker, words, now, "")
            now = end_ms + dice.between(-350, 1_800)
        now += dice.between(55_000, 150_000) if alone else dice.between(14_000, 48_000)


def _lines(stretch: Stretch, alone: bool, filler: Filler, dice: Dice) -> tuple[Words, ...]:
    if alone:
        return (dice.pick(filler.mutters),)
    if dice.chance(SAID_ECHO_SHARE):
        return dice.pick(filler.said_echoes)
    return dice.pick(filler.talks["away" if stretch.place in filler.away else "home"])


def _draw(week: Week, others: list[str], filler: Filler, dice: Dice) -> Drawn:
    """One word for each slot, so that all steps of a chore are about the same things."""
    drawn = {slot: dice.pick(values) for slot, values in filler.words.items()}
    if others:
        other = dice.pick(others)
        drawn["other"] = Words(other, week.chinese_names[other])
    return drawn


def _fill(template: Words, drawn: Drawn) -> Words:
    def put(pattern: str, language: str) -> str:
        return _SLOT.sub(lambda slot: getattr(drawn[slot[1]], language) if slot[1] in drawn else slot[0], pattern)

    return Words(put(template.english, "english"), put(template.chinese, "chinese"))


def _tailed(words: Words, filler: Filler, dice: Dice) -> Words:
    if not words.english.startswith("I ") or not dice.chance(0.55):
        return words
    return Words(f"{words.english.removesuffix('.')} {dice.pick(filler.tails)}.", words.chinese)


def _role(words: Words) -> tuple[str, Words]:
    """The role before the colon of a line of small talk (A where there is none), and the line without it."""
    role, colon, rest = words.english.partition(": ")
    return (role, Words(rest, words.chinese)) if colon and role in {"A", "B"} else ("A", words)


def _sequences(raw: list[list[str]]) -> tuple[tuple[Words, ...], ...]:
    return tuple(tuple(map(split_words, lines)) for lines in raw)

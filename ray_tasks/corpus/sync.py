"""Sync files to observations: clips with what was seen and said, in whole seconds of the clock.

A file is a list of ``{"video_file", "data": [{"start", "end", "text", "type": "caption" | "transcript"}]}``, times as
HHMMSS integers (an hour may lack its leading zero). The unit of the ledger is the row; a clip that cannot be read
counts as one failed row, since nobody knows how many it held.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ray_tasks.corpus.decoding import decode, is_bad
from ray_tasks.corpus.dialogue import read_dialogue
from ray_tasks.corpus.fuse import Clip, window_start
from ray_tasks.corpus.language import language_of
from ray_tasks.corpus.layout import SourceFile
from ray_tasks.corpus.problems import Problem, ProblemLog
from ray_tasks.corpus.spans import TOLD, assume_ends, settle_span
from ray_tasks.corpus.week_time import DAY_MS, WeekTimeError, day_of, parse_clock, week_ms
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Modality, Observation
from ray_tasks.strict_json import read_int

_MODALITY: dict[str, Modality] = {"caption": "visual", "transcript": "speech"}
_VIDEO_CLOCK = re.compile(r"(?<!\d)(\d{7,8})(?=\.[A-Za-z0-9]+$)")
_SHOWN = 60
_KINDS: dict[type, str] = {
    type(None): "nothing",
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "a truth value",
}


@dataclass(frozen=True, slots=True)
class ReadSync:
    """What one Sync file gave: observations, ledger, problems, and its videos by the start of their window."""

    observations: tuple[Observation, ...]
    ledger: Ledger
    problems: tuple[Problem, ...]
    clips: dict[int, Clip]


@dataclass(frozen=True, slots=True)
class _Row:
    """A readable row: its place (``clip/row``, from 1) and its times in week time; the end may be missing."""

    place: str
    start_ms: int
    end_ms: int | None
    modality: Modality
    text: str


@dataclass
class _Reading:
    """A Sync file in the course of being read."""

    file: SourceFile
    log: ProblemLog
    ledger: Ledger = field(default_factory=Ledger)
    rows: list[_Row] = field(default_factory=list)
    clips: dict[int, Clip] = field(default_factory=dict)

    def fail(self, reason: str, detail: str) -> None:
        self.ledger.taken += 1
        self.ledger.failed[reason] += 1
        self.log.add(reason, detail)


def read_sync(data: bytes, file: SourceFile, *, speech_superseded: bool) -> ReadSync:
    """The rows of a Sync file's bytes; spoken ones are filtered where the hour has a transcript of its own."""
    reading = _Reading(file, ProblemLog(file.label))
    for number, clip in enumerate(_clips(decode(data).text, reading), 1):
        _read_clip(clip, number, reading)
    observations = _observations(reading, speech_superseded)
    return ReadSync(observations, reading.ledger, tuple(reading.log.listed()), reading.clips)


def _clips(text: str, reading: _Reading) -> Sequence[object]:
    """The clips of a file; of a damaged one those that stand before the damage."""
    if not text.strip():
        reading.ledger.notes["empty_file"] += 1
        reading.log.add("empty_file", "the file is empty")
        return []
    try:
        content = json.loads(text, parse_int=read_int)
    except (json.JSONDecodeError, RecursionError) as error:
        whole = list(_clips_before_damage(text))
        where = f" at line {error.lineno}, character {error.pos}" if isinstance(error, json.JSONDecodeError) else ""
        kept = f"the {len(whole)} clips before it are read"
        reading.fail("damaged_json", f"the JSON breaks off{where} ({error.args[0]}); {kept}")
        return whole
    if not isinstance(content, list):
        reading.fail("not_a_list", f"expected a list of clips, found {_kind(content)}; nothing in it is read")
        return []
    return content


def _clips_before_damage(text: str) -> Iterator[object]:
    decoder = json.JSONDecoder(parse_int=read_int)
    position = text.find("[") + 1
    try:
        while position:
            clip, position = decoder.raw_decode(text, _skip_blank(text, position))
            yield clip
            position = _skip_blank(text, position)
            position = position + 1 if text[position : position + 1] == "," else 0
    except (json.JSONDecodeError, RecursionError):  # the damage, which the caller reports
        return


def _skip_blank(text: str, position: int) -> int:
    while text[position : position + 1].isspace():
        position += 1
    return position


def _read_clip(clip: object, number: int, reading: _Reading) -> None:
    rows = clip.get("data") if isinstance(clip, dict) else None
    if not isinstance(clip, dict) or not isinstance(rows, list):
        found = _kind(clip) if not isinstance(clip, dict) else f"'data' is {_kind(rows)}"
        reading.fail("bad_clip", f"clip {number}: expected an object with a list 'data', found {found}")
        return
    _note_video(clip.get("video_file"), number, reading)
    for index, row in enumerate(rows, 1):
        _read_row(row, f"{number}/{index}", reading)


def _note_video(name: object, number: int, reading: _Reading) -> None:
    """Keeps a clip's video for the window in which it starts; the first of several in one window."""
    match = _VIDEO_CLOCK.search(name) if isinstance(name, str) else None
    try:
        if not match:
            raise WeekTimeError(f"no start time in {_shown(name)}")
        start = _week_time(match.group(1), reading.file)
    except WeekTimeError as error:
        reading.ledger.notes["no_video_time"] += 1
        reading.log.add("no_video_time", f"clip {number}: video_file: {error}; its captions start at the half minute")
        return
    clip = Clip(start, str(name))
    known = reading.clips.setdefault(window_start(start), clip)
    if clip.start_ms < known.start_ms:
        reading.clips[window_start(start)] = clip


def _read_row(row: object, place: str, reading: _Reading) -> None:
    """Books a row as failed or empty, or keeps it for _observations."""
    if not isinstance(row, dict):
        reading.fail("bad_row", f"row {place}: expected an object, found {_kind(row)}")
        return
    kind, text = row.get("type"), row.get("text")
    modality = _MODALITY.get(kind.strip().casefold()) if isinstance(kind, str) else None
    if modality is None:
        reading.fail("unknown_type", f"row {place}: type is {_shown(kind)}, expected 'caption' or 'transcript'")
        return
    if not isinstance(text, str):
        reading.fail("bad_text", f"row {place}: text is {_shown(text)}, expected a string")
        return
    if is_bad(text):
        reading.fail("bad_bytes", f"row {place}: the text holds bytes that cannot be read")
        return
    try:
        start = _week_time(row.get("start"), reading.file)
        end = _week_time(row["end"], reading.file) if row.get("end") is not None else None
    except WeekTimeError as error:
        reading.fail("bad_time", f"row {place}: {error}")
        return
    reading.ledger.taken += 1
    if not text.strip():
        reading.ledger.filtered["empty"] += 1
        return
    reading.rows.append(_Row(place, start, end, modality, " ".join(text.replace("\x00", "").split())))


def _week_time(value: object, file: SourceFile) -> int:
    """Week time of a clock time in a file; one far before the file's hour lies beyond midnight.

    Raises WeekTimeError where it is no clock time.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise WeekTimeError(f"not a clock time: {_shown(value)} (expected HHMMSS)")
    ms = week_ms(file.day, _clock_ms(str(value).zfill(6) if isinstance(value, int) else value))
    return ms + DAY_MS if ms < file.base_ms - DAY_MS // 2 else ms


@lru_cache(maxsize=131_072)
def _clock_ms(digits: str) -> int:
    return parse_clock(digits).ms


def _observations(reading: _Reading, speech_superseded: bool) -> tuple[Observation, ...]:
    """The observations of the readable rows, each row booked as done or filtered."""
    file, ledger = reading.file, reading.ledger
    endless = dict(assume_ends([row.start_ms for row in reading.rows if row.end_ms is None]))
    observations: list[Observation] = []
    for row in reading.rows:
        if row.modality == "speech" and speech_superseded:
            ledger.filtered["superseded_by_transcript"] += 1
            continue
        end = row.end_ms if row.end_ms is not None else endless[row.start_ms]
        span = settle_span(row.start_ms, end, file.hour_end_ms)
        ledger.done += 1
        for note in span.notes:
            ledger.notes[note] += 1
            if note in TOLD:
                reading.log.add(note, f"row {row.place}: {TOLD[note]}")
        if row.end_ms is None:
            ledger.notes["assumed_end"] += 1
        source = f"{file.path.name}#{row.place}"
        day = day_of(span.start_ms)
        for speaker, text, lang in _said(row):
            observations.append(
                Observation(file.wearer, day, span.start_ms, span.end_ms, row.modality, speaker, text, lang, source)
            )
    return tuple(observations)


def _said(row: _Row) -> list[tuple[str | None, str, str]]:
    """(speaker, text, language) of what a row holds: a caption as it is, a spoken row by its speakers."""
    spoken = read_dialogue(row.text).utterances if row.modality == "speech" else ()
    return [(said.speaker, said.text, said.lang) for said in spoken] or [(None, row.text, language_of(row.text))]


def _kind(value: object) -> str:
    return _KINDS.get(type(value), type(value).__name__)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."

"""Rows in the released EgoLife layout: Transcript and DenseCaption subtitles, and Sync files.

Everything is rendered to bytes, so that the same script gives the same files on every platform.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ray_tasks.corpus.fuse import CLIP_MS
from ray_tasks.corpus.week_time import HOUR_MS, MINUTE_MS, SECOND_MS, format_clock
from sample_week.oddities import (
    BOM_FILES,
    CRLF_FILES,
    FULL_WIDTH_COLONS,
    ODD_NAMES,
    PLANTED_CUES,
    SYNC_DOUBLES_EVERY,
    HourFile,
)
from sample_week.story import Row, Week


@dataclass(frozen=True, slots=True)
class Cue:
    """A subtitle, ms from the hour of its file, and its lines."""

    start_ms: int
    end_ms: int
    lines: tuple[str, ...]


def corpus_files(week: Week, rows: Iterable[Row]) -> dict[str, bytes]:
    """Every file of the corpus: path below the corpus folder (with slashes) -> content."""
    by_hour: dict[HourFile, list[Row]] = defaultdict(list)
    for row in sorted(rows):
        by_hour[HourFile(row.wearer, row.day, row.start_ms // HOUR_MS)].append(row)
    synced = {week.wearers[name] for name in week.sync}
    files: dict[str, bytes] = {}
    crossings = _Crossings()
    for file, hour_rows in sorted(by_hour.items(), key=lambda item: (item[0].wearer, item[0].day, item[0].hour)):
        stem = f"{file.wearer}_DAY{file.day}_{file.hour:02d}000000"
        folder = f"{file.wearer}/DAY{file.day}"
        spoken = [row for row in hour_rows if not row.visual]
        visual = [row for row in hour_rows if row.visual]
        files[f"EgoLifeCap/Transcript/{folder}/{ODD_NAMES.get(file, stem + '.srt')}"] = transcript(file, spoken)
        if file.wearer not in synced:
            files[f"EgoLifeCap/DenseCaption/{folder}/{stem}.srt"] = subtitles(dense_cues(visual)).encode()
        elif visual:
            files[f"EgoLifeCap/Sync/{stem}.json"] = sync(week, file, hour_rows, crossings).encode()
    return files


def transcript(file: HourFile, spoken: Iterable[Row]) -> bytes:
    """The transcript of one hour, with its planted oddities."""
    cues = [Cue(row.start_ms % HOUR_MS, row.end_ms - file.hour * HOUR_MS, _spoken_lines(file, row)) for row in spoken]
    cues += [Cue(cue.start_ms, cue.end_ms, cue.lines) for cue in PLANTED_CUES if cue.file == file]
    text = subtitles(sorted(cues, key=lambda cue: (cue.start_ms, cue.end_ms, cue.lines)))
    if file in CRLF_FILES:
        text = text.replace("\n", "\r\n")
    return text.encode("utf-8-sig" if file in BOM_FILES else "utf-8")


def dense_cues(visual: Iterable[Row]) -> Iterator[Cue]:
    """Dense captions: the Chinese line above the English one, as far as there is one."""
    for row in visual:
        start_ms = row.start_ms % HOUR_MS
        lines = tuple(text for text in (row.words.chinese, row.words.english) if text)
        yield Cue(start_ms, start_ms + row.end_ms - row.start_ms, lines)


def subtitles(cues: Iterable[Cue]) -> str:
    """SubRip text with Unix line ends."""
    return "".join(
        f"{number}\n{_subrip_time(cue.start_ms)} --> {_subrip_time(cue.end_ms)}\n{chr(10).join(cue.lines)}\n\n"
        for number, cue in enumerate(cues, start=1)
    )


def sync(week: Week, file: HourFile, rows: Iterable[Row], crossings: _Crossings) -> str:
    """A Sync file: clips of 30 seconds with visual and spoken rows, whole seconds, English only where there is English.

    A clip bears the time at which its video begins, which for the first of a recording is inside the window. Like the
    real files this one loses spoken rows that cross a window's border, or doubles them.
    """
    clips: dict[int, list[dict[str, object]]] = defaultdict(list)
    for row in rows:
        first, last = row.start_ms // CLIP_MS, row.end_ms // CLIP_MS
        for window in (first,) if row.visual or first == last else crossings.windows(first, last):
            clips[window].append(_sync_row(row))
    starts = _recording_starts(week, file)
    data = []
    for window, clip in sorted(clips.items()):
        start_ms = starts.get(window, window * CLIP_MS)
        data.append({"video_file": f"DAY{file.day}_{file.wearer}_{format_clock(start_ms)}.mp4", "data": clip})
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


class _Crossings:
    """Which windows get a spoken row that crosses a border: none, or each tenth time both."""

    def __init__(self) -> None:
        self._count = 0

    def windows(self, first: int, last: int) -> tuple[int, ...]:
        self._count += 1
        return (first, last) if self._count % SYNC_DOUBLES_EVERY == 0 else ()


def _recording_starts(week: Week, file: HourFile) -> Mapping[int, int]:
    """Window number -> the ms at which a recording begins inside it."""
    names = {wearer: name for name, wearer in week.wearers.items()}
    day = next(day for day in week.days if day.number == file.day)
    return {span.start_ms // CLIP_MS: span.start_ms for span in day.recorded[names[file.wearer]]}


def _sync_row(row: Row) -> dict[str, object]:
    text = row.words.english or row.words.chinese
    return {
        "start": int(format_clock(row.start_ms)[:6]),
        "end": int(format_clock(row.end_ms)[:6]),
        "text": f"{row.speaker}: {text}" if row.speaker else text,
        "type": "caption" if row.visual else "transcript",
    }


def _spoken_lines(file: HourFile, row: Row) -> tuple[str, ...]:
    colon = "：" if row.speaker == "Ines" and file in FULL_WIDTH_COLONS else ": "
    prefix = f"{row.speaker}{colon}" if row.speaker else ""
    return tuple(prefix + text for text in (row.words.chinese, row.words.english) if text)


def _subrip_time(ms: int) -> str:
    hours, rest = divmod(ms, HOUR_MS)
    minutes, rest = divmod(rest, MINUTE_MS)
    seconds, rest = divmod(rest, SECOND_MS)
    return f"{hours:02d}:{minutes:02d}:{seconds:02d},{rest:03d}"

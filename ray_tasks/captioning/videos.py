"""Released video: which clips there are below a folder, whose they are, and when they start.

Clips lie in ``{wearer}/DAYn/*.mp4`` and are named like ``DAY1_A1_JAKE_11094208.mp4``. As with captions and transcripts,
the folder says whose day a clip is, and the last group of five to eight digits in its name when it starts.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ray_tasks.corpus.file_names import clock_in, entries, is_wearer, names_other
from ray_tasks.corpus.layout import ShardKey
from ray_tasks.corpus.problems import CorpusError, Problem
from ray_tasks.corpus.week_time import HOUR_MS, WeekTimeError, parse_day, week_ms

SUFFIX: Final = ".mp4"
_EXPECTED: Final = f"expected clips in {{wearer}}/DAYn/*{SUFFIX}, named for the time at which they start"
_ENDS_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class VideoFile:
    """A clip that starts at `start_ms` (week time), in `hour` of `day`."""

    path: Path
    wearer: str
    day: int
    hour: int
    start_ms: int

    @property
    def shard(self) -> ShardKey:
        """The shard that describes this clip, also where it runs past the hour."""
        return self.wearer, self.day, self.hour

    @property
    def label(self) -> str:
        """The path below the video folder, for sources, messages and reports."""
        return "/".join(self.path.parts[-3:])


@dataclass(frozen=True, slots=True)
class VideoLayout:
    """The clips below a folder in order of wearer and time, and what was odd about their places and names."""

    root: Path
    clips: tuple[VideoFile, ...]
    problems: tuple[Problem, ...]

    def by_hour(self) -> dict[ShardKey, tuple[VideoFile, ...]]:
        """The clips of each (wearer, day, hour) in which they start, in order of wearer and time."""
        hours: dict[ShardKey, list[VideoFile]] = {}
        for clip in self.clips:
            hours.setdefault(clip.shard, []).append(clip)
        return {shard: tuple(clips) for shard, clips in hours.items()}


def discover_videos(
    directory: Path | str, wearers: Iterable[str] | None = None, days: Iterable[object] | None = None
) -> VideoLayout:
    """The clips below `directory`, of these wearers and days only where given (days as 3 or ``DAY3``).

    A wearer who is asked for and has no clips is a problem that is told, since not everybody's video need be at hand;
    CorpusError is raised where there are no clips at all, or none of anybody who is asked for.
    """
    root, problems = Path(directory), list[Problem]()
    if not root.is_dir():
        raise CorpusError(f"{root}: no such folder; {_EXPECTED}")
    try:
        found = _without_duplicates(_walk(root, problems), problems)
    except OSError as error:
        raise CorpusError(f"{error.filename}: cannot be read ({error.strerror}); mend its permissions") from error
    if not found:
        first = f" ({problems[0]})" if problems else ""
        raise CorpusError(f"{root}: no video clips found; {_EXPECTED}{first}")
    wanted = set(wearers or ())
    clips = _of_days([clip for clip in found if not wanted or clip.wearer in wanted], days)
    if not clips:
        raise CorpusError(f"{root}: no video clips of those wearers and days; there are {_summary(found)}")
    kept = [problem for problem in problems if not wanted or problem.file.split("/")[0] in wanted]
    kept += [
        Problem("no_video", wearer, "has no video clips here; only what was written down of this wearer is used")
        for wearer in sorted(wanted - {clip.wearer for clip in clips})
    ]
    return VideoLayout(root, tuple(clips), tuple(kept))


def fingerprint(clip: VideoFile) -> str:
    """What tells a clip's content from another's, for cache keys: its size and the sha256 of its first and last MiB.

    A day of video is hundreds of gigabytes, and reading all of it only to find it unchanged would cost as much as
    decoding it. The index of an mp4 lies in its first or last bytes, with the size of every frame: no other recording
    and no other encoding agrees in it. Raises CorpusError where the file cannot be read.
    """
    try:
        with clip.path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            digest = hashlib.sha256(f"{size}\n".encode())
            digest.update(stream.read(_ENDS_BYTES))
            stream.seek(max(stream.tell(), size - _ENDS_BYTES))
            digest.update(stream.read(_ENDS_BYTES))
    except OSError as error:
        raise CorpusError(f"{clip.path}: cannot be read ({error.strerror}); mend it or take it away") from error
    return f"{size}-{digest.hexdigest()}"


def _walk(root: Path, problems: list[Problem]) -> list[VideoFile]:
    """Every clip in ``{wearer}/DAYn/``; what is no clip, or not where clips belong, is a problem."""
    clips: list[VideoFile] = []
    for wearer_folder in entries(root):
        if not wearer_folder.is_dir() or not is_wearer(wearer_folder.name):
            problems.append(_problem("misplaced", wearer_folder, 1, "is not the folder of a wearer; not read"))
            continue
        for day_folder in entries(wearer_folder):
            try:
                day = parse_day(day_folder.name)
            except WeekTimeError as error:
                problems.append(_problem("unknown_day", day_folder, 2, f"{error}; nothing in it is read"))
                continue
            if not day_folder.is_dir():
                problems.append(_problem("misplaced", day_folder, 2, "is not a folder; not read"))
                continue
            found = (_clip(path, wearer_folder.name, day, problems) for path in entries(day_folder))
            clips.extend(clip for clip in found if clip)
    return clips


def _clip(path: Path, wearer: str, day: int, problems: list[Problem]) -> VideoFile | None:
    """The clip at a path, or None and a problem."""
    if path.suffix.lower() != SUFFIX:
        problems.append(_problem("misplaced", path, 3, f"is no {SUFFIX} file; not read"))
        return None
    if not path.is_file():
        problems.append(_problem("not_a_file", path, 3, "is no readable file; not read"))
        return None
    try:
        clock = clock_in(path.name)
    except WeekTimeError as error:
        problems.append(_problem("unreadable_name", path, 3, f"no start in the name: {error}; not read"))
        return None
    if names_other(path.name, wearer, day):
        detail = f"the name disagrees with its folder; read as {wearer} DAY{day}, as the folder says"
        problems.append(_problem("name_disagrees", path, 3, detail))
    return VideoFile(path, wearer, day, clock // HOUR_MS, week_ms(day, clock))


def _without_duplicates(clips: list[VideoFile], problems: list[Problem]) -> list[VideoFile]:
    """One clip for each wearer and start: the one with the shortest name, which is the regular one."""
    kept: dict[tuple[str, int], VideoFile] = {}
    for clip in sorted(clips, key=lambda clip: (len(clip.path.name), str(clip.path))):
        first = kept.setdefault((clip.wearer, clip.start_ms), clip)
        if first is not clip:
            detail = f"a second clip with the start of {first.label}; not read: remove one of the two"
            problems.append(Problem("duplicate_clip", clip.label, detail))
    return sorted(kept.values(), key=lambda clip: (clip.wearer, clip.start_ms))


def _of_days(clips: list[VideoFile], days: Iterable[object] | None) -> list[VideoFile]:
    try:
        asked = {parse_day(day) for day in days or ()}
    except WeekTimeError as error:
        raise CorpusError(str(error)) from error
    return [clip for clip in clips if not asked or clip.day in asked]


def _problem(kind: str, path: Path, depth: int, detail: str) -> Problem:
    """A problem that names its place by the last `depth` parts of its path: from the wearer's folder down."""
    return Problem(kind, "/".join(path.parts[-depth:]), detail)


def _summary(clips: list[VideoFile]) -> str:
    """Whose clips there are, and of which days."""
    days: dict[str, set[int]] = {}
    for clip in clips:
        days.setdefault(clip.wearer, set()).add(clip.day)
    return "; ".join(f"{who} {', '.join(f'DAY{day}' for day in sorted(those))}" for who, those in sorted(days.items()))

"""Who may be seen: notes by people on the looks of the persons in a recording scene, told to the model beforehand.

EgoCITE Appendix B.1. Files are named ``{wearer}_{DAYn}_{HHMMSSFF}-{HHMMSSFF}.txt`` for the time that they cover; lines
that begin with ``#`` are comments.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Final

from ray_tasks.corpus.decoding import decode, is_bad
from ray_tasks.corpus.problems import CorpusError, Problem
from ray_tasks.corpus.week_time import HOUR_MS, WeekTimeError, day_of, parse_clock, parse_day, week_ms

_NAME = re.compile(r"(?P<wearer>.+)_(?P<day>day_?\d{1,4})_(?P<start>\d{5,8})-(?P<end>\d{5,8})", re.IGNORECASE)
_EXPECTED: Final = "expected {wearer}_DAYn_HHMMSSFF-HHMMSSFF.txt"


@dataclass(frozen=True, slots=True)
class Identity:
    """What is known of the persons in one recording scene, for the time from `start_ms` to `end_ms` (week time)."""

    file: str
    wearer: str
    start_ms: int
    end_ms: int
    text: str

    @property
    def day(self) -> int:
        """The day of the scene."""
        return day_of(self.start_ms)

    def distance(self, ms: int) -> int:
        """How far a time lies outside the scene; 0 inside."""
        return max(self.start_ms - ms, ms - self.end_ms, 0)


@dataclass(frozen=True)
class Identities:
    """The identity files that can be used, in order of wearer and time, and what was wrong with the others."""

    files: tuple[Identity, ...] = ()
    problems: tuple[Problem, ...] = ()

    def choose(self, wearer: str, ms: int) -> Identity | None:
        """What is known at a time: the scene that covers it, else the nearest one of that day, else nothing.

        Of several that cover it the shortest, which is the most particular; of several as near the earlier.
        """
        of_day = [file for file in self.files if file.wearer == wearer and file.day == day_of(ms)]

        def rank(file: Identity) -> tuple[int, int, int, str]:
            distance = file.distance(ms)
            return distance, 0 if distance else file.end_ms - file.start_ms, file.start_ms, file.file

        return min(of_day, key=rank, default=None)

    def for_hour(self, wearer: str, day: int, hour: int, longest_clip_s: int = 3600) -> str:
        """A digest of the files that may be chosen for a clip that starts in an hour, for cache keys.

        A file that is chosen at no moment of the hour, nor while a clip of it may run on, does not change it.
        """
        first = week_ms(day, hour * HOUR_MS)
        last = first + HOUR_MS + longest_clip_s * 1000
        chosen = {file for moment in self._moments(wearer, first, last) if (file := self.choose(wearer, moment))}
        digest = hashlib.sha256()
        for file in sorted(chosen, key=lambda file: file.file):
            digest.update(f"{file.file}\x1f{file.text}\x1e".encode())
        return digest.hexdigest()[:16] if chosen else "none"

    def _moments(self, wearer: str, first: int, last: int) -> set[int]:
        """A moment of every stretch between two times within which the choice is the same."""
        files = [file for file in self.files if file.wearer == wearer]
        turns = {first, last, *(week_ms(day) for day in range(day_of(first), day_of(last) + 1))}
        for file in files:
            turns |= {file.start_ms, file.end_ms + 1}
        for left, right in combinations(files, 2):
            for near, far in ((left, right), (right, left)):
                middle = (near.end_ms + far.start_ms) // 2
                turns |= {middle, middle + 1}
        return {turn for turn in turns if first <= turn <= last}


def load_identities(directory: Path | str | None, wearers: Iterable[str] | None = None) -> Identities:
    """The identity files of a folder, of these wearers only where given; none where there is no folder to read.

    Raises CorpusError where the folder is named and cannot be read.
    """
    if directory is None:
        return Identities()
    wanted, folder = set(wearers or ()), Path(directory)
    files: list[Identity] = []
    problems: list[Problem] = []
    try:
        for path in sorted(folder.iterdir()):
            if path.name.startswith("."):
                continue
            identity = _read(path, problems)
            if identity and (not wanted or identity.wearer in wanted):
                files.append(identity)
    except OSError as error:
        where = error.filename or folder
        raise CorpusError(f"{where}: cannot be read ({error.strerror}); name a folder of identity files") from error
    files.sort(key=lambda file: (file.wearer, file.start_ms, file.end_ms, file.file))
    return Identities(tuple(files), tuple(problems))


def _read(path: Path, problems: list[Problem]) -> Identity | None:
    """The identity file at a path, or None and a problem."""
    match = _NAME.fullmatch(path.stem)
    if path.suffix.lower() != ".txt" or not path.is_file() or not match:
        problems.append(Problem("unreadable_name", path.name, f"{_EXPECTED}; not used"))
        return None
    try:
        day = parse_day(match["day"])
        start, end = (week_ms(day, parse_clock(match[name]).ms) for name in ("start", "end"))
    except WeekTimeError as error:
        problems.append(Problem("unreadable_name", path.name, f"{error}; not used"))
        return None
    if end < start:
        problems.append(Problem("reversed", path.name, "ends before it starts; not used"))
        return None
    text = decode(path.read_bytes()).text
    if is_bad(text) or "\x00" in text:
        problems.append(Problem("bad_bytes", path.name, "holds bytes that are no text; not used: save it as UTF-8"))
        return None
    lines = [line.strip() for line in text.splitlines() if not line.lstrip().startswith("#")]
    kept = "\n".join(line for line in lines if line)
    if not kept:
        problems.append(Problem("empty_file", path.name, "says nothing beside comments; not used"))
        return None
    return Identity(path.name, match["wearer"], start, end, kept)

"""The released EgoLife layout: which files are there, whose they are, and the hour they are named for.

Below a folder that holds ``EgoLifeCap``, or that folder itself::

    Transcript/{wearer}/DAYn/{wearer}_DAYn_HH000000.srt      what was said
    DenseCaption/{wearer}/DAYn/{wearer}_DAYn_HH000000.srt    what was seen
    Sync/{wearer}_DAYn_HH000000.json                         both, in 30 s clips, in whole seconds

Real file names break this rule (``...10000000.mp4.srt``, ``DAY6_..._21000000.mp4.srt``), so the folder says whose day
a file is and the last group of five to eight digits in its name says when its offsets begin.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ray_tasks.corpus.file_names import clock_in, entries, is_wearer, names_other
from ray_tasks.corpus.problems import CorpusError, Problem
from ray_tasks.corpus.week_time import HOUR_MS, WeekTimeError, parse_day, week_ms

Kind = Literal["transcript", "dense", "sync"]
ShardKey = tuple[str, int, int]
"""(wearer, day, hour)."""

FOLDERS: Final[dict[Kind, str]] = {"transcript": "Transcript", "dense": "DenseCaption", "sync": "Sync"}
_SUFFIX: Final[dict[Kind, str]] = {"transcript": ".srt", "dense": ".srt", "sync": ".json"}
_EXPECTED = (
    "expected a folder with EgoLifeCap/Transcript/{wearer}/DAYn/*.srt, EgoLifeCap/DenseCaption/{wearer}/DAYn/*.srt "
    "or EgoLifeCap/Sync/*.json"
)

_SYNC_NAME = re.compile(
    r"(?:(?P<wearer>.+?)_DAY_?(?P<day>\d{1,4})|DAY_?(?P<day2>\d{1,4})_(?P<wearer2>.+?))_\d{5,8}(?:\.mp4)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A source file; its offsets count from `base_ms` (week time), which lies in `hour` of `day`."""

    path: Path
    wearer: str
    day: int
    hour: int
    kind: Kind
    base_ms: int

    @property
    def shard(self) -> ShardKey:
        """The shard that reads this file."""
        return self.wearer, self.day, self.hour

    @property
    def label(self) -> str:
        """The path below the corpus folder, for messages and reports."""
        return "/".join(self.path.parts[-2 if self.kind == "sync" else -4 :])

    @property
    def hour_end_ms(self) -> int:
        """The end of the hour for which the file is named (week time, ms)."""
        return week_ms(self.day, (self.hour + 1) * HOUR_MS)


@dataclass(frozen=True, slots=True)
class Layout:
    """The files of a corpus in order of wearer, time and kind, and what was odd about their places and names."""

    root: Path
    files: tuple[SourceFile, ...]
    problems: tuple[Problem, ...]


def discover(
    directory: Path | str, wearers: Iterable[str] | None = None, days: Iterable[object] | None = None
) -> Layout:
    """The source files below `directory`, of these wearers and days only where given (days as 3 or ``DAY3``).

    Raises CorpusError where the folder holds no recordings, or a wearer or day that is asked for does not exist.
    """
    problems: list[Problem] = []
    try:
        root = _corpus_root(Path(directory))
        found = _walk_days(root / FOLDERS["transcript"], "transcript", problems)
        found += _walk_days(root / FOLDERS["dense"], "dense", problems)
        found += _walk_sync(root / FOLDERS["sync"], problems)
    except OSError as error:
        raise CorpusError(f"{error.filename}: cannot be read ({error.strerror}); mend its permissions") from error
    files = _without_duplicates(found, problems)
    if not files:
        raise CorpusError(f"{directory}: no recordings found; {_EXPECTED}{_first(problems)}")
    wanted = set(wearers or ())
    kept = [problem for problem in problems if not wanted or any(wearer in problem.file for wearer in wanted)]
    return Layout(root, tuple(_selected(files, wanted, set(days or ()))), tuple(kept))


def plan_sources(layout: Layout) -> dict[ShardKey, tuple[SourceFile, ...]]:
    """The source files of each (wearer, day, hour), in order of wearer and time."""
    plan: dict[ShardKey, list[SourceFile]] = {}
    for file in layout.files:
        plan.setdefault(file.shard, []).append(file)
    return {shard: tuple(files) for shard, files in plan.items()}


def content_hash(file: SourceFile) -> str:
    """The sha256 of a file's bytes, for cache keys; raises CorpusError where it cannot be read."""
    try:
        with file.path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise CorpusError(
            f"{file.path}: cannot be read ({error.strerror}); mend it or take it out of the corpus"
        ) from error


def _corpus_root(directory: Path) -> Path:
    if not directory.is_dir():
        raise CorpusError(f"{directory}: no such folder; {_EXPECTED}")
    for root in (directory / "EgoLifeCap", directory):
        if any((root / name).is_dir() for name in FOLDERS.values()):
            return root
    raise CorpusError(f"{directory}: no recordings found; {_EXPECTED}")


def _walk_days(folder: Path, kind: Kind, problems: list[Problem]) -> list[SourceFile]:
    """The files of one kind in ``{wearer}/DAYn/``."""
    files: list[SourceFile] = []
    for wearer_folder in entries(folder):
        wearer = wearer_folder.name
        if not wearer_folder.is_dir() or not is_wearer(wearer):
            problems.append(_misplaced(wearer_folder, "is not the folder of a wearer"))
            continue
        for day_folder in entries(wearer_folder):
            try:
                day = parse_day(day_folder.name)
            except WeekTimeError as error:
                problems.append(Problem("unknown_day", _short(day_folder), f"{error}; nothing in it is read"))
                continue
            if not day_folder.is_dir():
                problems.append(_misplaced(day_folder, "is not a folder"))
                continue
            for path in entries(day_folder):
                file = _source_file(path, wearer, day, kind, problems)
                if file:
                    _check_name(file, problems)
                    files.append(file)
    return files


def _walk_sync(folder: Path, problems: list[Problem]) -> list[SourceFile]:
    files: list[SourceFile] = []
    for path in entries(folder):
        match = _SYNC_NAME.fullmatch(path.name.rsplit(".", 1)[0])
        wearer = (match.group("wearer") or match.group("wearer2")) if match else ""
        day = int(match.group("day") or match.group("day2")) if match else 0
        if path.suffix.lower() == _SUFFIX["sync"] and (day < 1 or not is_wearer(wearer)):
            problems.append(Problem("unreadable_name", _short(path), "expected {wearer}_DAYn_HH000000.json; not read"))
            continue
        file = _source_file(path, wearer, day, "sync", problems)
        if file:
            files.append(file)
    return files


def _source_file(path: Path, wearer: str, day: int, kind: Kind, problems: list[Problem]) -> SourceFile | None:
    """The file at a path whose wearer and day are known, or None and a problem."""
    if path.suffix.lower() != _SUFFIX[kind]:
        problems.append(_misplaced(path, f"is no {_SUFFIX[kind]} file"))
        return None
    if not path.is_file():
        problems.append(Problem("not_a_file", _short(path), "is no readable file; not read"))
        return None
    try:
        clock = clock_in(path.name)
    except WeekTimeError as error:
        problems.append(Problem("unreadable_name", _short(path), f"no hour in the name: {error}; not read"))
        return None
    return SourceFile(path, wearer, day, clock // HOUR_MS, kind, week_ms(day, clock))


def _check_name(file: SourceFile, problems: list[Problem]) -> None:
    """Notes a name that breaks the rule, or that names another wearer or day than the folders do."""
    name = file.path.name
    if re.fullmatch(rf"{re.escape(file.wearer)}_DAY{file.day}_\d\d000000\.srt", name):
        return
    if names_other(name, file.wearer, file.day):
        detail = f"the name disagrees with its folder; read as {file.wearer} DAY{file.day}, as the folder says"
        problems.append(Problem("name_disagrees", file.label, detail))
    elif file.base_ms % HOUR_MS:
        detail = "does not begin on the hour; its offsets are counted from the time in its name"
        problems.append(Problem("off_the_hour", file.label, detail))
    else:
        detail = f"breaks the naming rule; read as {file.wearer} DAY{file.day} {file.hour:02d} h"
        problems.append(Problem("odd_name", file.label, detail))


def _without_duplicates(files: Sequence[SourceFile], problems: list[Problem]) -> list[SourceFile]:
    """One file for each wearer, kind and start: the one with the shortest name, which is the regular one."""
    kept: dict[tuple[str, int, Kind], SourceFile] = {}
    for file in sorted(files, key=lambda file: (len(file.path.name), str(file.path))):
        slot = (file.wearer, file.base_ms, file.kind)
        first = kept.setdefault(slot, file)
        if first is not file:
            same = "the same content as" if _same_content(first.path, file.path) else "other content than"
            detail = f"a second file for this hour, with {same} {first.label}; not read: remove one of the two"
            problems.append(Problem("duplicate_file", file.label, detail))
    return sorted(kept.values(), key=lambda file: (file.wearer, file.base_ms, file.kind))


def _same_content(left: Path, right: Path) -> bool:
    try:
        return left.stat().st_size == right.stat().st_size and left.read_bytes() == right.read_bytes()
    except OSError:  # reported when the file is read
        return False


def _selected(files: list[SourceFile], wearers: set[str], days: set[object]) -> list[SourceFile]:
    """The files of these wearers and days; all of them where none are named."""
    known = sorted({file.wearer for file in files})
    unknown = sorted(wearers - set(known))
    if unknown:
        raise CorpusError(f"no recordings of {', '.join(unknown)}; there are {', '.join(known)}")
    chosen = [file for file in files if not wearers or file.wearer in wearers]
    try:
        asked = {parse_day(day) for day in days}
    except WeekTimeError as error:
        raise CorpusError(str(error)) from error
    present = sorted({file.day for file in chosen})
    absent = sorted(asked - set(present))
    if absent:
        raise CorpusError(f"no recordings on {_day_names(absent)}; there are {_day_names(present)}")
    return [file for file in chosen if not asked or file.day in asked]


def _day_names(days: list[int]) -> str:
    return ", ".join(f"DAY{day}" for day in days)


def _misplaced(path: Path, why: str) -> Problem:
    return Problem("misplaced", _short(path), f"{why}; not read")


def _short(path: Path) -> str:
    """The path below the corpus folder, as far as its folders are known."""
    names = [index for index, part in enumerate(path.parts) if part in FOLDERS.values()]
    return "/".join(path.parts[names[-1] if names else -1 :])


def _first(problems: list[Problem]) -> str:
    return f" ({problems[0]})" if problems else ""

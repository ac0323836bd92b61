"""What is odd about a corpus, file by file, before any work is paid for.

Nothing here changes or stores anything. Findings are counts; what a person may want to mend is named with its place.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ray_tasks.corpus.fuse import window_start
from ray_tasks.corpus.layout import Kind, SourceFile, discover
from ray_tasks.corpus.problems import Problem
from ray_tasks.corpus.srt_reader import SettledCue, judge_srt, parse_srt
from ray_tasks.corpus.sync import read_sync
from ray_tasks.corpus.week_time import SECOND_MS, parse_day
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Observation

Progress = Callable[[int, int, SourceFile], None]
"""Called before each file with the number of files done, the number of all files, and the file."""


@dataclass
class FileReport:
    """One file. `counts` hold what was found (see `inspect_corpus`); times in ms."""

    file: str
    wearer: str
    day: int
    hour: int
    kind: Kind
    bytes: int
    encoding: str = ""
    rows: int = 0
    longest_ms: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    speakers: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """A file that is there but holds nothing, as against one that is missing."""
        return bool(self.counts["empty_file"])

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return {
            **{name: getattr(self, name) for name in ("file", "wearer", "day", "hour", "kind", "bytes", "encoding")},
            "rows": self.rows,
            "longest_ms": self.longest_ms,
            "counts": dict(sorted(self.counts.items())),
            "speakers": dict(self.speakers.most_common()),
            "problems": [problem.to_json() for problem in self.problems],
        }


@dataclass
class CorpusReport:
    """A corpus: its files, what is odd about their names and places, and the gaps in each wearer's days.

    `missing_days` are days without any file between a wearer's first and last; `missing_hours` are hours without one
    between the first and the last of a day, as (wearer, day, hour). `same_content` groups files with equal bytes.
    """

    root: str
    files: list[FileReport]
    problems: list[Problem]
    missing_days: list[tuple[str, int]]
    missing_hours: list[tuple[str, int, int]]
    same_content: list[list[str]]

    def totals(self, kind: Kind | None = None) -> Counter[str]:
        """The sum of all files' counts, of one kind where given, with `files` and `rows`."""
        total: Counter[str] = Counter()
        for report in self.files:
            if kind in (None, report.kind):
                total.update({"files": 1, "rows": report.rows})
                total.update(report.counts)
        return total

    def all_problems(self) -> list[Problem]:
        """Problems of places and names, then those of each file."""
        return [*self.problems, *(problem for report in self.files for problem in report.problems)]

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary: totals by kind, gaps, problems, and every file."""
        kinds: list[Kind] = sorted({report.kind for report in self.files})
        return {
            "root": self.root,
            "totals": {kind: dict(sorted(self.totals(kind).items())) for kind in kinds},
            "missing_days": [list(place) for place in self.missing_days],
            "missing_hours": [list(place) for place in self.missing_hours],
            "same_content": self.same_content,
            "problems": [problem.to_json() for problem in self.problems],
            "files": [report.to_json() for report in self.files],
        }


def inspect_corpus(
    directory: Path | str,
    wearers: Iterable[str] | None = None,
    days: Iterable[object] | None = None,
    progress: Progress | None = None,
) -> CorpusReport:
    """The report on a corpus folder, or on these wearers and days of it; raises CorpusError like `discover`.

    Counts of a file, all of rows (cues, or rows of Sync): ``overlap`` (starts before an earlier one has ended),
    ``crosses_window`` (goes on beyond :00 or :30), ``zero_length``, ``zero_in_seconds`` (would vanish in
    whole seconds), ``reversed``, ``one_language_en`` / ``_zh`` / ``_und`` (cues without a translation), ``past_hour``,
    ``starts_past_hour``, ``stray``, ``unsorted``, ``no_speaker``, ``several_speakers``, ``recogniser_loop``,
    ``filtered_...`` and ``failed_...`` by reason, ``empty_file``.
    """
    chosen_days = list(days or ())
    layout = discover(directory, wearers, chosen_days)
    spoken = {file.shard for file in layout.files if file.kind == "transcript"}
    reports: list[FileReport] = []
    contents: dict[str, list[str]] = {}
    for number, file in enumerate(layout.files):
        if progress:
            progress(number, len(layout.files), file)
        try:
            data = file.path.read_bytes()
        except OSError as error:
            report = _report(file, 0)
            report.counts["failed_unreadable_file"] += 1
            report.problems.append(Problem("unreadable_file", file.label, f"cannot be read: {error.strerror}"))
        else:
            report = inspect_file(data, file, speech_superseded=file.shard in spoken)
            if not report.empty:
                contents.setdefault(hashlib.sha256(data).hexdigest(), []).append(file.label)
        reports.append(report)
    same = [labels for labels in contents.values() if len(labels) > 1]
    missing_days, missing_hours = find_gaps((report.wearer, report.day, report.hour) for report in reports)
    if chosen_days:
        asked = {parse_day(day) for day in chosen_days}
        missing_days = [(wearer, day) for wearer, day in missing_days if day in asked]
    return CorpusReport(str(layout.root), reports, list(layout.problems), missing_days, missing_hours, same)


def inspect_file(data: bytes, file: SourceFile, *, speech_superseded: bool = False) -> FileReport:
    """The report on one file's bytes; the spoken rows of Sync are left out where their hour has a transcript."""
    report = _report(file, len(data))
    if file.kind == "sync":
        sync = read_sync(data, file, speech_superseded=speech_superseded)
        _note_ledger(sync.ledger, report)
        report.problems.extend(sync.problems)
        report.rows = sync.ledger.taken
        _note_spans([(row.start_ms, row.end_ms) for row in sync.observations if row.modality == "visual"], report)
        _note_speakers(sync.observations, report)
        report.counts["clips"] = len(sync.clips)
        return report
    parsed = parse_srt(data, file)
    read = judge_srt(parsed, file)
    _note_ledger(read.ledger, report)
    report.problems.extend(read.problems)
    report.encoding = parsed.decoded.encoding
    report.rows = parsed.found.found
    _note_spans([(settled.span.start_ms, settled.span.end_ms) for settled in parsed.settled], report)
    _note_speakers(read.observations, report)
    _note_languages(parsed.settled, report)
    return report


def find_gaps(hours: Iterable[tuple[str, int, int]]) -> tuple[list[tuple[str, int]], list[tuple[str, int, int]]]:
    """Days missing between a wearer's first and last, and hours missing between the first and last of a day."""
    found: dict[str, dict[int, set[int]]] = {}
    for wearer, day, hour in hours:
        found.setdefault(wearer, {}).setdefault(day, set()).add(hour)
    missing_days: list[tuple[str, int]] = []
    missing_hours: list[tuple[str, int, int]] = []
    for wearer, days in sorted(found.items()):
        missing_days += [(wearer, day) for day in range(min(days), max(days)) if day not in days]
        for day, present in sorted(days.items()):
            missing_hours += [(wearer, day, hour) for hour in range(min(present), max(present)) if hour not in present]
    return missing_days, missing_hours


def _report(file: SourceFile, size: int) -> FileReport:
    return FileReport(file.label, file.wearer, file.day, file.hour, file.kind, size)


def _note_ledger(ledger: Ledger, report: FileReport) -> None:
    report.counts.update(ledger.notes)
    report.counts.update({f"filtered_{reason}": count for reason, count in ledger.filtered.items()})
    report.counts.update({f"failed_{reason}": count for reason, count in ledger.failed.items()})


def _note_spans(spans: Sequence[tuple[int, int]], report: FileReport) -> None:
    overlap = unsorted = crossing = vanishing = longest = 0
    latest_end = last_start = -1
    for start, end in spans:
        overlap += start < latest_end
        unsorted += start < last_start
        crossing += window_start(start) != window_start(max(start, end - 1))
        vanishing += start // SECOND_MS == end // SECOND_MS
        longest = max(longest, end - start)
        latest_end, last_start = max(latest_end, end), start
    report.longest_ms = longest
    found = {"overlap": overlap, "unsorted": unsorted, "crosses_window": crossing, "zero_in_seconds": vanishing}
    report.counts.update({name: count for name, count in found.items() if count})


def _note_speakers(observations: Sequence[Observation], report: FileReport) -> None:
    report.speakers.update(row.speaker for row in observations if row.speaker)


def _note_languages(cues: Sequence[SettledCue], report: FileReport) -> None:
    """Counts the cues that say something in one language only, by language."""
    for settled in cues:
        languages = {said.lang for said in settled.dialogue.utterances}
        if len(languages) == 1 and "bilingual" not in settled.dialogue.notes:
            report.counts[f"one_language_{languages.pop()}"] += 1

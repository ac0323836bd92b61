"""The doctor's report in words: lines for a terminal, without colours, for whoever prints them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from ray_tasks.corpus.doctor import CorpusReport
from ray_tasks.corpus.layout import Kind
from ray_tasks.corpus.problems import Problem

_KINDS: Final[dict[Kind, tuple[str, str]]] = {
    "transcript": ("Transcripts", "cues"),
    "dense": ("Dense captions", "cues"),
    "sync": ("Sync", "rows"),
}
_WORDS: Final = {
    "overlap": "start before an earlier one has ended",
    "crosses_window": "go on beyond :00 or :30",
    "zero_in_seconds": "would vanish in whole seconds",
    "zero_length": "have no length",
    "reversed": "end before they start",
    "implausible_end": "last longer than ten minutes",
    "unsorted": "are out of order",
    "one_language_zh": "are in Chinese only",
    "one_language_en": "are in English only",
    "one_language_und": "hold no letters (numbers, marks)",
    "past_hour": "end after their file's hour",
    "starts_past_hour": "start after their file's hour",
    "stray": "start more than an hour after it",
    "several_speakers": "have several speakers",
    "no_speaker": "name nobody",
    "recogniser_loop": "stand for a recogniser's loop",
    "markup": "hold subtitle tags",
    "assumed_end": "have no end of their own",
    "repeated_line": "say the same twice",
    "no_video_time": "clips name no video with a time",
    "stray_text": "places with text outside any cue",
    "empty_file": "files are empty",
    "file_encoding": "files are not UTF-8",
}
_PROBLEMS_SHOWN = 5


def render_report(report: CorpusReport, problems_shown: int = _PROBLEMS_SHOWN) -> list[str]:
    """The report as lines: what there is, what is odd, what is missing, and some problems of each kind with places."""
    lines = [f"Corpus {report.root}"]
    for kind, (title, unit) in _KINDS.items():
        totals = report.totals(kind)
        if totals["files"]:
            lines += ["", f"{title}: {totals['files']:,} files, {totals['rows']:,} {unit}"]
            lines += _oddities(totals)
    lines += ["", "Wearers", *_wearers(report)]
    lines += ["", "Gaps (hours without a file between the first and the last of a day)", *_gaps(report)]
    if report.same_content:
        lines += ["", "Files with the same content", *("  " + " = ".join(labels) for labels in report.same_content)]
    problems = report.all_problems()
    lines += ["", f"Places to look at: {len(problems)}" if problems else "Nothing that needs mending."]
    lines += _problems(problems, problems_shown)
    return lines


def _oddities(totals: Counter[str]) -> list[str]:
    """One line for each count, the share of rows beside it; skipped and failed rows come last."""
    rows = max(totals["rows"], 1)
    known = [(totals[name], words) for name, words in _WORDS.items() if totals[name]]
    lost = [
        (count, f"left out: {name.partition('_')[2].replace('_', ' ')}" + (" (failed)" if name[:6] == "failed" else ""))
        for name, count in sorted(totals.items())
        if name.startswith(("filtered_", "failed_"))
    ]
    return [f"  {count:>9,}  {100 * count / rows:5.1f}%  {words}" for count, words in [*known, *lost]]


def _wearers(report: CorpusReport) -> list[str]:
    lines = []
    for wearer in sorted({file.wearer for file in report.files}):
        files = [file for file in report.files if file.wearer == wearer]
        speakers: Counter[str] = Counter()
        for file in files:
            speakers.update(file.speakers)
        days = sorted({file.day for file in files})
        hours = len({(file.day, file.hour) for file in files})
        rare = sum(count < 5 for count in speakers.values())
        lines.append(
            f"  {wearer}: {len(days)} days (DAY{days[0]} to DAY{days[-1]}), {hours} hours, {len(files)} files, "
            f"{sum(file.rows for file in files):,} rows, {len(speakers)} speaker labels ({rare} used under five times)"
        )
    return lines


def _gaps(report: CorpusReport) -> list[str]:
    lines = [f"  {wearer}: no file at all on DAY{day}" for wearer, day in report.missing_days]
    by_wearer: dict[str, dict[int, list[str]]] = {}
    for wearer, day, hour in report.missing_hours:
        by_wearer.setdefault(wearer, {}).setdefault(day, []).append(f"{hour:02d}")
    for wearer, days in by_wearer.items():
        lines.append(f"  {wearer}: " + "; ".join(f"DAY{day} {' '.join(hours)}" for day, hours in days.items()))
    return lines or ["  none"]


def _problems(problems: Iterable[Problem], shown: int) -> list[str]:
    by_kind: dict[str, list[Problem]] = {}
    for problem in problems:
        by_kind.setdefault(problem.kind, []).append(problem)
    lines: list[str] = []
    for kind, found in sorted(by_kind.items()):
        lines += [f"  {problem}" for problem in found[:shown]]
        if len(found) > shown:
            lines.append(f"  ... and {len(found) - shown} more of kind {kind}")
    return lines

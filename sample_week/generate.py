"""Writes the sample week: a corpus in the released EgoLife layout, and its questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ray_tasks.errors import UsageError
from sample_week.filler import fill_day, load_filler
from sample_week.layout import corpus_files
from sample_week.questions import Evidence, load_questions, question_files
from sample_week.staging import stage_day
from sample_week.story import Row, StoryError, Week, load_week


class SampleWeekError(UsageError):
    """The sample week cannot be written to a folder; the message names it and says what to do."""


@dataclass(frozen=True, slots=True)
class SampleWeek:
    """Where the sample week lies: the corpus folder, a questions file for each wearer, and each named beat's row."""

    corpus: Path
    questions: Mapping[str, Path]
    evidence: Evidence


def write_sample_week(folder: Path) -> SampleWeek:
    """Write the sample week into `folder`, which is made if need be; files that are there already are left as they are.

    The same bytes come out on every platform and in every run. Raises SampleWeekError where the folder holds files of
    something else, so that a demonstration never mixes with real recordings.
    """
    week = load_week()
    rows = week_rows(week)
    evidence = {(row.wearer, row.beat): row for row in rows if row.beat}
    files = corpus_files(week, rows) | question_files(week, load_questions(week), evidence)
    _refuse_strangers(folder, files)
    for name, content in files.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    questions = {wearer: folder / "questions" / f"{wearer}.json" for wearer in week.wearers.values()}
    return SampleWeek(folder, questions, evidence)


def week_rows(week: Week) -> list[Row]:
    """Every row of both wearers: scenes and what lies between them, in order of wearer and time."""
    filler = load_filler()
    rows: list[Row] = []
    for day in week.days:
        staged = stage_day(week, day)
        rows.extend(staged.rows)
        rows.extend(fill_day(week, day, staged.busy, filler))
    named = [(row.wearer, row.beat) for row in rows if row.beat]
    if len(named) != len(set(named)):
        raise StoryError("a named beat has two rows in one recording")
    return sorted(rows)


def _refuse_strangers(folder: Path, files: Mapping[str, bytes]) -> None:
    for part in ("EgoLifeCap", "questions"):
        for path in sorted((folder / part).rglob("*")):
            if path.is_file() and path.relative_to(folder).as_posix() not in files:
                remedy = f"choose an empty folder, or remove {folder / part}"
                raise SampleWeekError(f"{path} is no part of the sample week: {remedy}")

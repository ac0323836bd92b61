"""Reading EgoMem, in the form LifeDialBench releases it and in the form that is already the wearer's own.

A file is a list of histories, one for each wearer: ``history_name``, ``chat_time`` and ``chat_history`` (not needed,
may be absent) and ``qa``, whose entries have ``question``, ``options`` ("A. in the shed"), ``golden_option``,
``question_time``, ``question_type``, ``evidence_date`` and ``timescale``. Elements without a history (a leading
``_comment``) are passed over and counted.

Released questions speak of the wearer in the third person and by calendar date; both are turned round by rules here,
and what could not be is flagged. The protocol is online: a question sees what was recorded before its time. Where that
is a date alone, it is asked at 23:59 of the day before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ray_tasks.corpus.week_time import MINUTE_MS, WeekTimeError, week_ms
from ray_tasks.evaluation.calendar_days import Calendar, as_days, dates_in
from ray_tasks.evaluation.dated_moments import Moment, UndatedError, read_moments
from ray_tasks.evaluation.egolifeqa import choice_flags
from ray_tasks.evaluation.lettered_options import read_key_or_text, read_options
from ray_tasks.evaluation.question_files import (
    Entries,
    QuestionFile,
    QuestionFileError,
    UnusableEntryError,
    collect_questions,
    find_wearer_file,
    load_json,
)
from ray_tasks.evaluation.questions import UNKNOWN_CATEGORY, BenchmarkQuestion, option_text
from ray_tasks.evaluation.wearer_voice import WearerVoice
from ray_tasks.retrieval.types import Question

BENCHMARK: Final = "egomem"
CATEGORIES: Final = ("SingleEvent", "MultiEvent", "EventDetail", "TimeQuery")
_ALIASES: Final = {
    **{name.casefold(): name for name in CATEGORIES},
    **dict.fromkeys(("single", "sgl", "singleevents", "singlehop"), "SingleEvent"),
    **dict.fromkeys(("multi", "multiple", "mul", "multipleevent", "multipleevents", "multievents"), "MultiEvent"),
    **dict.fromkeys(("detail", "det", "details", "eventdetails"), "EventDetail"),
    **dict.fromkeys(("time", "timequeries", "timequestion"), "TimeQuery"),
}
_FOLDERS: Final = ("", "EgoMem", "egomem", "data")
_FILES: Final = ("egomem.json", "EgoMem.json", "questions.json")


@dataclass(frozen=True)
class _Reader:
    """What is needed to read one wearer's entries."""

    wearer: str
    voice: WearerVoice
    calendar: Calendar | None


def read_egomem(path: Path, wearer: str) -> QuestionFile:
    """One wearer's questions, from a file with all histories or a folder that holds it (or ``{wearer}.json``).

    DAY1 is the earliest date of any ``chat_time`` in the file, since all its wearers share their days; files that write
    DAYn need none. Raises QuestionFileError where nothing can be asked.
    """
    found = _find(path, wearer)
    histories, passed = _histories(found)
    try:
        calendar = _calendar(histories)
    except RecursionError as error:
        raise QuestionFileError(f"{found}: nested too deeply to be a list of histories") from error
    reader = _Reader(wearer, WearerVoice(wearer), calendar)
    entries = [
        {**entry, "ID": number} if isinstance(entry, dict) else entry
        for number, entry in enumerate(_qa_of(found, histories, wearer), start=1)
    ]
    file = collect_questions(found, [Entries(entries, lambda entry: _parse(entry, reader))], [found])
    if passed:
        file.ledger.notes["elements_without_a_history"] = passed
    return file


def _find(path: Path, wearer: str) -> Path:
    if not path.is_dir():
        return path
    for candidate in (path / folder / name for folder in _FOLDERS for name in _FILES):
        if candidate.is_file():
            return candidate
    files = sorted(path.glob("*.json"))
    return files[0] if len(files) == 1 else find_wearer_file(path, wearer, _FOLDERS)


def _histories(path: Path) -> tuple[list[Mapping[str, Any]], int]:
    """The histories of a file, and how many of its elements are none."""
    content = load_json(path)
    elements = [content] if isinstance(content, dict) else content
    if not isinstance(elements, list):
        raise QuestionFileError(f"{path}: expected a list of histories, found {type(content).__name__}")
    histories: list[Mapping[str, Any]] = [
        element for element in elements if isinstance(element, dict) and "history_name" in element
    ]
    if not histories:
        raise QuestionFileError(f"{path}: no element has a history_name; is this a file of EgoMem?")
    return histories, len(elements) - len(histories)


def _qa_of(path: Path, histories: Sequence[Mapping[str, Any]], wearer: str) -> list[Any]:
    """The entries of the wearer's history, which bears the id or the name that is its last part."""
    wanted = {wearer.casefold(), wearer.rpartition("_")[2].casefold()}
    matching = [one for one in histories if str(one["history_name"]).strip().casefold() in wanted] or [
        one for one in histories if wanted & set(re.split(r"[\W_]+", str(one["history_name"]).casefold()))
    ]
    names = ", ".join(str(one["history_name"]) for one in histories)
    if len(matching) != 1:
        problem = "no history" if not matching else f"{len(matching)} histories"
        raise QuestionFileError(f"{path}: {problem} of {wearer}; the file has {names}")
    entries = matching[0].get("qa")
    if not isinstance(entries, list):
        raise QuestionFileError(f"{path}: the history of {wearer} has no list under qa")
    return entries


def _calendar(histories: Sequence[Mapping[str, Any]]) -> Calendar | None:
    """The day on which recording began, by the times of the chats or, where these are not there, of the evidence."""
    dates = [when for one in histories for when in dates_in(one.get("chat_time"))]
    if not dates:
        entries = [entry for one in histories if isinstance(one.get("qa"), list) for entry in one["qa"]]
        dated = [entry.get("evidence_date") for entry in entries if isinstance(entry, dict)]
        dates = [when for value in dated for when in dates_in(value)]
    return Calendar(min(dates)) if dates else None


def _parse(entry: object, reader: _Reader) -> BenchmarkQuestion:
    if not isinstance(entry, dict):
        raise UnusableEntryError("not an object", f"{type(entry).__name__} instead")
    raw_text = option_text(entry.get("question"))
    if not raw_text:
        raise UnusableEntryError("no question text", f"entry {entry['ID']}")
    at_ms = _asked_at(entry, reader.calendar)
    flags: list[str] = []
    raw_options = read_options(entry.get("options"))
    if len(raw_options) < 2:
        raise UnusableEntryError("fewer than two choices", f"entry {entry['ID']}")
    flags += choice_flags(raw_options)
    answer = read_key_or_text((entry.get("golden_option"), entry.get("answer")), raw_options)
    if answer is None:
        flags.append("no_key")
    text = _convert(raw_text, "", reader, flags)
    choices = tuple((label, _convert(option, raw_text, reader, flags)) for label, option in raw_options.items())
    spans = _targets(entry, reader.calendar, at_ms, flags)
    raw_category = option_text(entry.get("question_type"))
    category = _ALIASES.get(re.sub(r"[\W_]+", "", raw_category.casefold()), UNKNOWN_CATEGORY)
    if category == UNKNOWN_CATEGORY:
        flags.append("unknown_category")
    number = entry["ID"]
    return BenchmarkQuestion(
        question=Question(str(number), reader.wearer, at_ms, text, choices),
        answer=answer,
        targets=tuple(start for start, _ in spans),
        category=category,
        raw_category=raw_category,
        flags=tuple(dict.fromkeys(flags)),
        original_id=number,
        target_ends=tuple(end for _, end in spans),
    )


def _asked_at(entry: Mapping[str, Any], calendar: Calendar | None) -> int:
    """When a question is asked (week time, ms); a date alone means the end of the day before (EgoMem is online)."""
    try:
        moment = read_moments(entry.get("question_time"), calendar)[0]
    except (UndatedError, WeekTimeError, IndexError) as error:
        raise UnusableEntryError("bad question_time", f"entry {entry['ID']}, {error}") from error
    at_ms = moment.span[0] if moment.span else week_ms(moment.day) - MINUTE_MS
    if at_ms < 0:
        raise UnusableEntryError("asked before DAY1", f"entry {entry['ID']}, {entry.get('question_time')!r}")
    return at_ms


def _convert(text: str, context: str, reader: _Reader, flags: list[str]) -> str:
    """A text in the wearer's voice, with days for dates; `flags` gets what was changed and what could not be."""
    voiced = reader.voice.turn(text, context)
    dated = as_days(voiced.text, reader.calendar)
    happened = {
        "to_first_person": voiced.changed,
        "pronoun_left": voiced.unresolved,
        "date_to_day": dated.converted,
        "date_left": dated.left,
    }
    flags += [flag for flag, true in happened.items() if true]
    return dated.text


def _targets(
    entry: Mapping[str, Any], calendar: Calendar | None, at_ms: int, flags: list[str]
) -> list[tuple[int, int]]:
    """The intervals of the evidence; a day without a clock time is no target, since any item of it would be a hit."""
    value = entry.get("evidence_date")
    moments: list[Moment] = []
    if value not in (None, "", [], {}):
        try:
            moments = read_moments(value, calendar)
        except (UndatedError, WeekTimeError):
            flags.append("bad_target")
    spans = [moment.span for moment in moments if moment.span]
    if len(moments) == 1 and not spans:
        spans = _on_day(moments[0].day, entry.get("timescale"))
    if any(moment.span is None for moment in moments) and not spans:
        flags.append("target_is_a_day")
    if not spans:
        flags.append("no_target")
    if any(start > at_ms for start, _ in spans):
        flags.append("target_after_question")
    return spans


def _on_day(day: int, timescale: object) -> list[tuple[int, int]]:
    """Clock times that stand in ``timescale`` instead of the evidence itself, on the evidence's day."""
    if not isinstance(timescale, str):
        return []
    try:
        return [moment.span for moment in read_moments(f"DAY{day} {timescale}", None) if moment.span]
    except (UndatedError, WeekTimeError):
        return []

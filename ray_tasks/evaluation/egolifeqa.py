"""Reading EgoLifeQA's question files: one JSON list per wearer.

An entry has ``ID``, ``query_time`` and ``target_time`` (``{"date", "time"}`` or ``{"date", "time_list"}``), ``type``,
``question``, ``choice_a`` to ``choice_d`` and ``answer``. A file that is no such list is an error; an entry that cannot
be asked is counted and skipped, and costs no other entry.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ray_tasks.corpus.week_time import (
    ParsedTime,
    TargetTimes,
    WeekTimeError,
    parse_clock,
    parse_day,
    parse_point,
    parse_target_times,
    week_ms,
)
from ray_tasks.evaluation.question_files import (
    Entries,
    QuestionFile,
    QuestionFileError,
    SkippedQuestion,
    UnusableEntryError,
    collect_questions,
    find_wearer_file,
    load_entries,
)
from ray_tasks.evaluation.questions import (
    UNKNOWN_CATEGORY,
    BenchmarkQuestion,
    normalise_category,
    normalise_text,
    option_text,
    whole_text,
)
from ray_tasks.retrieval.types import Question

__all__ = ["BENCHMARK", "QuestionFile", "QuestionFileError", "SkippedQuestion", "parse_entry", "read_egolifeqa"]

BENCHMARK: Final = "egolifeqa"
_SPLIT = "manual-2.9K"
FOLDERS: Final = ("", _SPLIT, f"Ego-QA-4.4K/{_SPLIT}", f"Ego-R1-Data/Ego-QA-4.4K/{_SPLIT}")
"""Where a wearer's file lies below what a user may take for the release's folder."""
_CHOICE_KEY = re.compile(r"choice_([a-z])", re.IGNORECASE)


def read_egolifeqa(path: Path, wearer: str) -> QuestionFile:
    """All questions of one wearer; `path` is the wearer's file, or a folder of the release that holds it.

    Raises QuestionFileError where nothing can be asked.
    """
    found = find_wearer_file(path, wearer, FOLDERS)
    entries = Entries(load_entries(found), lambda entry: parse_entry(entry, wearer))
    return collect_questions(found, [entries], [found])


def parse_entry(entry: object, wearer: str) -> BenchmarkQuestion:
    """One entry of a file; raises a ValueError that says why it cannot be asked."""
    if not isinstance(entry, dict):
        raise UnusableEntryError("not an object", f"{type(entry).__name__} instead")
    flags: list[str] = []
    original_id = _read_id(entry)
    text = option_text(entry.get("question"))
    if not text:
        raise UnusableEntryError("no question text", f"ID {original_id}")
    at = _read_query_time(entry.get("query_time"), original_id)
    choices = _read_choices(entry, original_id, flags)
    answer = read_key(entry.get("answer"), [label for label, _ in choices])
    if answer is None:
        flags.append("no_key")
    targets = _read_targets(entry.get("target_time"))
    flags += target_flags(targets, at.ms)
    if at.clamped or targets.clamped:
        flags.append("frame_clamped")
    raw_category = option_text(entry.get("type"))
    category = normalise_category(raw_category)
    if category == UNKNOWN_CATEGORY:
        flags.append("unknown_category")
    question = Question(str(original_id), wearer, at.ms, text, choices)
    return BenchmarkQuestion(question, answer, targets.points, category, raw_category, tuple(flags), original_id)


def _read_id(entry: Mapping[str, Any]) -> int | str:
    value = entry.get("ID")
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip():
        return whole_text(value.strip())
    raise UnusableEntryError("no ID", f"{value!r} is neither a number nor a text")


def _read_query_time(value: object, original_id: int | str) -> ParsedTime:
    """The moment of asking, ``{"date": "DAY1", "time": "11350000"}`` or ``"DAY1 11350000"``."""
    try:
        if isinstance(value, dict):
            clock = parse_clock(value.get("time"))
            return ParsedTime(week_ms(parse_day(value.get("date")), clock.ms), clock.clamped)
        return parse_point(value)
    except WeekTimeError as error:
        raise UnusableEntryError("bad query_time", f"ID {original_id}, {error}") from error


def _read_choices(entry: Mapping[str, Any], original_id: int | str, flags: list[str]) -> tuple[tuple[str, str], ...]:
    """(label, text) of every ``choice_x`` in order of its letter; what is odd about them is added to `flags`."""
    values = {
        match.group(1).upper(): value for key, value in entry.items() if (match := _CHOICE_KEY.fullmatch(str(key)))
    }
    if len(values) < 2:
        raise UnusableEntryError("fewer than two choices", f"ID {original_id} has {len(values)}")
    flags += choice_flags(values)
    return tuple((label, option_text(values[label])) for label in sorted(values))


def choice_flags(values: Mapping[str, object]) -> list[str]:
    """What is odd about options as a file has them, by label."""
    expected = [chr(ord("A") + position) for position in range(max(4, len(values)))]
    texts = [normalise_text(option_text(value)) for value in values.values()]
    known = [text for text in texts if text]
    oddities = {
        "missing_choice": sorted(values) != expected,
        "numeric_choice": any(not isinstance(value, str) and value is not None for value in values.values()),
        "empty_choice": len(known) < len(texts),
        "duplicate_choice": len(set(known)) < len(known),
    }
    return [flag for flag, present in oddities.items() if present]


def read_key(value: object, labels: Sequence[str]) -> str | None:
    """The key as one of the labels, whatever its case, width or brackets; None where it is not offered."""
    letter = unicodedata.normalize("NFKC", option_text(value)).strip(" .:()[]").upper()
    return letter if letter in labels else None


def _read_targets(value: object) -> TargetTimes:
    try:
        return parse_target_times(value)
    except TypeError:  # a time_list that is no list
        return TargetTimes(problems=(f"not a target time: {value!r}",))


def target_flags(targets: TargetTimes, at_ms: int) -> list[str]:
    """What is odd about the targets; a target after the question stays in the metrics and can never be hit."""
    oddities = {
        "bad_target": bool(targets.problems),
        "no_target": not targets.points,
        "target_after_question": any(point > at_ms for point in targets.points),
    }
    return [flag for flag, present in oddities.items() if present]

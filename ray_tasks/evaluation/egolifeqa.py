"""Reading EgoLifeQA's question files: one JSON list per wearer.

An entry has ``ID``, ``query_time`` and ``target_time`` (``{"date", "time"}`` or ``{"date", "time_list"}``), ``type``,
``question``, ``choice_a`` to ``choice_d`` and ``answer``. A file that is no such list is an error; an entry that cannot
be asked is counted and skipped, and costs no other entry.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
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
from ray_tasks.errors import UsageError
from ray_tasks.evaluation.questions import (
    UNKNOWN_CATEGORY,
    BenchmarkQuestion,
    normalise_category,
    normalise_text,
    option_text,
    whole_text,
)
from ray_tasks.ledger import Ledger
from ray_tasks.retrieval.types import Question
from ray_tasks.strict_json import read_int

BENCHMARK: Final = "egolifeqa"
_CHOICE_KEY = re.compile(r"choice_([a-z])", re.IGNORECASE)


class QuestionFileError(UsageError):
    """A file that holds no questions in this form; the message names it and says what was expected."""


class _UnusableEntryError(ValueError):
    """An entry that cannot be asked; `reason` is what the ledger counts, the message adds the detail."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class SkippedQuestion:
    """An entry that cannot be asked: its position in the list (from 0), its ID where it has one, and why."""

    index: int
    question_id: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """The questions of a file, in its order. The ledger's `notes` count the flags of questions that were kept."""

    path: Path
    questions: tuple[BenchmarkQuestion, ...]
    ledger: Ledger
    skipped: tuple[SkippedQuestion, ...]


def read_egolifeqa(path: Path, wearer: str) -> QuestionFile:
    """All questions of one wearer's file. Raises QuestionFileError where the file cannot be used at all."""
    entries = _load_entries(path)
    ledger = Ledger(taken=len(entries))
    questions: list[BenchmarkQuestion] = []
    skipped: list[SkippedQuestion] = []
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        try:
            question = _parse_shallow(entry, wearer)
            if question.question.question_id in seen:
                raise _UnusableEntryError("duplicate ID", repr(question.original_id))
        except _UnusableEntryError as error:
            ledger.failed[error.reason] += 1
            raw_id = entry.get("ID") if isinstance(entry, dict) else None
            skipped.append(SkippedQuestion(index, None if raw_id is None else whole_text(str(raw_id)), str(error)))
            continue
        seen.add(question.question.question_id)
        questions.append(question)
        ledger.done += 1
        ledger.notes.update(question.flags)
    if not questions:
        raise QuestionFileError(
            f"{path}: none of its {len(entries)} entries can be asked; entry {skipped[0].index}: {skipped[0].reason}"
            if skipped
            else f"{path}: holds no questions (an empty list)"
        )
    ledger.check(str(path))
    return QuestionFile(path, tuple(questions), ledger, tuple(skipped))


def _parse_shallow(entry: object, wearer: str) -> BenchmarkQuestion:
    try:
        return parse_entry(entry, wearer)
    except RecursionError as error:
        raise _UnusableEntryError("nested too deeply") from error


def parse_entry(entry: object, wearer: str) -> BenchmarkQuestion:
    """One entry of a file; raises a ValueError that says why it cannot be asked."""
    if not isinstance(entry, dict):
        raise _UnusableEntryError("not an object", f"{type(entry).__name__} instead")
    flags: list[str] = []
    original_id = _read_id(entry)
    text = option_text(entry.get("question"))
    if not text:
        raise _UnusableEntryError("no question text", f"ID {original_id}")
    at = _read_query_time(entry.get("query_time"), original_id)
    choices = _read_choices(entry, original_id, flags)
    answer = _read_key(entry.get("answer"), [label for label, _ in choices])
    if answer is None:
        flags.append("no_key")
    targets = _read_targets(entry.get("target_time"))
    flags += _target_flags(targets, at.ms)
    if at.clamped or targets.clamped:
        flags.append("frame_clamped")
    raw_category = option_text(entry.get("type"))
    category = normalise_category(raw_category)
    if category == UNKNOWN_CATEGORY:
        flags.append("unknown_category")
    question = Question(str(original_id), wearer, at.ms, text, choices)
    return BenchmarkQuestion(question, answer, targets.points, category, raw_category, tuple(flags), original_id)


def _load_entries(path: Path) -> list[Any]:
    try:
        entries = json.loads(path.read_bytes().decode("utf-8-sig"), parse_int=read_int)
    except OSError as error:
        raise QuestionFileError(f"{path}: cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise QuestionFileError(f"{path}: not UTF-8 at byte {error.start}; save the file as UTF-8") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise QuestionFileError(f"{path}: not JSON ({error.msg}, {where}); is the file complete?") from error
    except RecursionError as error:
        raise QuestionFileError(f"{path}: nested too deeply to be a list of questions") from error
    if not isinstance(entries, list):
        raise QuestionFileError(f"{path}: expected a list of questions, found {type(entries).__name__}")
    return entries


def _read_id(entry: Mapping[str, Any]) -> int | str:
    value = entry.get("ID")
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip():
        return whole_text(value.strip())
    raise _UnusableEntryError("no ID", f"{value!r} is neither a number nor a text")


def _read_query_time(value: object, original_id: int | str) -> ParsedTime:
    """The moment of asking, ``{"date": "DAY1", "time": "11350000"}`` or ``"DAY1 11350000"``."""
    try:
        if isinstance(value, dict):
            clock = parse_clock(value.get("time"))
            return ParsedTime(week_ms(parse_day(value.get("date")), clock.ms), clock.clamped)
        return parse_point(value)
    except WeekTimeError as error:
        raise _UnusableEntryError("bad query_time", f"ID {original_id}, {error}") from error


def _read_choices(entry: Mapping[str, Any], original_id: int | str, flags: list[str]) -> tuple[tuple[str, str], ...]:
    """(label, text) of every ``choice_x`` in order of its letter; what is odd about them is added to `flags`."""
    values = {
        match.group(1).upper(): value for key, value in entry.items() if (match := _CHOICE_KEY.fullmatch(str(key)))
    }
    if len(values) < 2:
        raise _UnusableEntryError("fewer than two choices", f"ID {original_id} has {len(values)}")
    choices = tuple((label, option_text(values[label])) for label in sorted(values))
    expected = [chr(ord("A") + position) for position in range(max(4, len(choices)))]
    if [label for label, _ in choices] != expected:
        flags.append("missing_choice")
    if any(not isinstance(value, str) and value is not None for value in values.values()):
        flags.append("numeric_choice")
    texts = [normalise_text(text) for _, text in choices]
    if not all(texts):
        flags.append("empty_choice")
    if len({text for text in texts if text}) < len([text for text in texts if text]):
        flags.append("duplicate_choice")
    return choices


def _read_key(value: object, labels: list[str]) -> str | None:
    """The key as one of the labels, whatever its case, width or brackets; None where it is not offered."""
    letter = unicodedata.normalize("NFKC", option_text(value)).strip(" .:()[]").upper()
    return letter if letter in labels else None


def _read_targets(value: object) -> TargetTimes:
    try:
        return parse_target_times(value)
    except TypeError:  # a time_list that is no list
        return TargetTimes(problems=(f"not a target time: {value!r}",))


def _target_flags(targets: TargetTimes, at_ms: int) -> list[str]:
    """What is odd about the targets; a target after the question stays in the metrics and can never be hit."""
    oddities = {
        "bad_target": bool(targets.problems),
        "no_target": not targets.points,
        "target_after_question": any(point > at_ms for point in targets.points),
    }
    return [flag for flag, present in oddities.items() if present]

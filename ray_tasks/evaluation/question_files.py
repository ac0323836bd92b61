"""What the readers of all benchmarks share: finding a wearer's file, loading it, and keeping count of every entry.

A file that holds no questions in the form expected is an error; an entry that cannot be asked is counted and skipped,
and costs no other entry.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ray_tasks.errors import UsageError
from ray_tasks.evaluation.questions import BenchmarkQuestion, whole_text
from ray_tasks.ledger import Ledger
from ray_tasks.provenance import file_digest
from ray_tasks.strict_json import read_int

_NAMED_IN_ERRORS: Final = 6


class QuestionFileError(UsageError):
    """A file that holds no questions in this form; the message names it and says what was expected."""


class UnusableEntryError(ValueError):
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
    """The questions of a file, in its order. The ledger's `notes` count the flags of questions that were kept.

    path: what was asked for, a file or a folder. sources: the files that were read.
    """

    path: Path
    questions: tuple[BenchmarkQuestion, ...]
    ledger: Ledger
    skipped: tuple[SkippedQuestion, ...]
    sources: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Entries:
    """Raw entries with what makes a question of each (and raises UnusableEntryError where it cannot)."""

    raw: Sequence[object]
    parse: Callable[[object], BenchmarkQuestion]


def sources_digest(file: QuestionFile) -> str:
    """The sha256 of the files that were read, wherever they lie: that of the content for one, of the digests for more.

    Raises UsageError for a file that cannot be read.
    """
    digests = [file_digest(source) for source in file.sources]
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


def find_wearer_file(path: Path, wearer: str, folders: Sequence[str] = ("",)) -> Path:
    """The file itself, or ``{wearer}.json`` (in any case) in a folder or in one of its `folders`.

    Raises QuestionFileError that names the files which are there.
    """
    if not path.is_dir():
        return path
    seen: list[str] = []
    for folder in folders:
        inside = path / folder
        names = sorted(inside.glob("*.json")) if inside.is_dir() else []
        for name in names:
            if name.stem.casefold() == wearer.casefold():
                return name
        seen += [str(name.relative_to(path)) for name in names]
    looked = ", ".join(str(Path(folder) / f"{wearer}.json") for folder in folders)
    there = ", ".join(seen[:_NAMED_IN_ERRORS]) or "no question files"
    raise QuestionFileError(f"{path}: no questions of {wearer} (looked for {looked}; there: {there})")


def load_json(path: Path) -> Any:
    """The content of a JSON file; raises QuestionFileError with the place of a fault."""
    try:
        return json.loads(path.read_bytes().decode("utf-8-sig"), parse_int=read_int)
    except OSError as error:
        raise QuestionFileError(f"{path}: cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise QuestionFileError(f"{path}: not UTF-8 at byte {error.start}; save the file as UTF-8") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise QuestionFileError(f"{path}: not JSON ({error.msg}, {where}); is the file complete?") from error
    except RecursionError as error:
        raise QuestionFileError(f"{path}: nested too deeply to be a list of questions") from error


def load_entries(path: Path) -> list[Any]:
    """The entries of a file that is a JSON list; raises QuestionFileError."""
    entries = load_json(path)
    if not isinstance(entries, list):
        raise QuestionFileError(f"{path}: expected a list of questions, found {type(entries).__name__}")
    return entries


def collect_questions(
    path: Path,
    groups: Iterable[Entries],
    sources: Sequence[Path],
    *,
    number_repeats: bool = False,
) -> QuestionFile:
    """All entries as questions, counted.

    An id that was there before is skipped, or with `number_repeats` made unique ("12#2") and flagged `repeated_id`.
    Raises QuestionFileError where not one entry can be asked.
    """
    ledger = Ledger()
    questions: list[BenchmarkQuestion] = []
    skipped: list[SkippedQuestion] = []
    seen: set[str] = set()
    for group in groups:
        for entry in group.raw:
            ledger.taken += 1
            try:
                question = _unique(_parse_shallow(entry, group.parse), seen, number_repeats)
            except UnusableEntryError as error:
                ledger.failed[error.reason] += 1
                skipped.append(SkippedQuestion(ledger.taken - 1, _raw_id(entry), str(error)))
                continue
            seen.add(question.question.question_id)
            questions.append(question)
            ledger.done += 1
            ledger.notes.update(question.flags)
    if not questions:
        raise QuestionFileError(
            f"{path}: none of its {ledger.taken} entries can be asked; entry {skipped[0].index}: {skipped[0].reason}"
            if skipped
            else f"{path}: holds no questions (an empty list)"
        )
    ledger.check(str(path))
    return QuestionFile(path, tuple(questions), ledger, tuple(skipped), tuple(sources))


def _parse_shallow(entry: object, parse: Callable[[object], BenchmarkQuestion]) -> BenchmarkQuestion:
    try:
        return parse(entry)
    except RecursionError as error:
        raise UnusableEntryError("nested too deeply") from error


def _unique(question: BenchmarkQuestion, seen: set[str], number_repeats: bool) -> BenchmarkQuestion:
    question_id = question.question.question_id
    if question_id not in seen:
        return question
    if not number_repeats:
        raise UnusableEntryError("duplicate ID", repr(question.original_id))
    copy = 2
    while f"{question_id}#{copy}" in seen:
        copy += 1
    renamed = replace(question.question, question_id=f"{question_id}#{copy}")
    return replace(question, question=renamed, original_id=None, flags=(*question.flags, "repeated_id"))


def _raw_id(entry: object) -> str | None:
    raw = entry.get("ID", entry.get("id")) if isinstance(entry, dict) else None
    return None if raw is None else whole_text(str(raw))

"""Reading Ego-R1-Bench: EgoLifeQA's form in two splits, ``manual-benchmark/{wearer}.json`` and ``gemini-benchmark/``.

The splits number their questions apart, so an id may stand for two questions. Here every id begins with its split
("manual-12"); one that repeats within a split is made unique and flagged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from ray_tasks.evaluation.egolifeqa import parse_entry
from ray_tasks.evaluation.question_files import (
    Entries,
    QuestionFile,
    QuestionFileError,
    collect_questions,
    find_wearer_file,
    load_entries,
)
from ray_tasks.evaluation.questions import BenchmarkQuestion

BENCHMARK: Final = "egor1"
SPLITS: Final = ("manual", "gemini")
PLACES: Final = ("", "Ego-R1-Bench", "Ego-R1-Data/Ego-R1-Bench", "benchmark")
"""Where the splits' folders lie below what a user may take for the release's folder."""


def read_egor1(path: Path, wearer: str) -> QuestionFile:
    """One wearer's questions of both splits, or of one where `path` is that split's folder or file.

    A file outside a split's folder keeps its ids. The flag `id_in_both_splits` marks questions whose number the other
    split uses too. Raises QuestionFileError where nothing can be asked.
    """
    found = dict(_find(path, wearer))
    groups = [Entries(load_entries(file), _parser(split, wearer)) for split, file in found.items()]
    file = collect_questions(path, groups, list(found.values()), number_repeats=True)
    return _with_shared_numbers_flagged(file)


def _find(path: Path, wearer: str) -> Iterator[tuple[str, Path]]:
    """(split, file) of the splits that hold the wearer; the split is "" where the path does not tell it."""
    if not path.is_dir() or _split_of(path):
        found = find_wearer_file(path, wearer)
        yield _split_of(found.parent), found
        return
    folders = {
        split: folder
        for split in SPLITS
        for place in reversed(PLACES)
        for folder in (path / place / split, path / place / f"{split}-benchmark")
        if folder.is_dir()
    }
    if not folders:
        yield "", find_wearer_file(path, wearer)
        return
    missing = []
    for split, folder in folders.items():
        try:
            yield split, find_wearer_file(folder, wearer)
        except QuestionFileError as error:
            missing.append(error)
    if len(missing) == len(folders):
        raise missing[0]


def _split_of(folder: Path) -> str:
    name = folder.name.removesuffix("-benchmark")
    return name if name in SPLITS else ""


def _parser(split: str, wearer: str) -> Callable[[object], BenchmarkQuestion]:
    def parse(entry: object) -> BenchmarkQuestion:
        read = parse_entry(entry, wearer)
        if not split:
            return read
        renamed = replace(read.question, question_id=f"{split}-{read.question.question_id}")
        return replace(read, question=renamed, original_id=None)

    return parse


def _with_shared_numbers_flagged(file: QuestionFile) -> QuestionFile:
    def number(entry: BenchmarkQuestion) -> str:
        return entry.question.question_id.partition("-")[2].partition("#")[0]

    def split(entry: BenchmarkQuestion) -> str:
        return entry.question.question_id.partition("-")[0]

    if len(file.sources) < 2:
        return file
    used = Counter(number for number, _ in {(number(entry), split(entry)) for entry in file.questions})
    questions = tuple(
        replace(entry, flags=(*entry.flags, "id_in_both_splits")) if used[number(entry)] > 1 else entry
        for entry in file.questions
    )
    shared = sum("id_in_both_splits" in entry.flags for entry in questions)
    if shared:
        file.ledger.notes["id_in_both_splits"] = shared
    return replace(file, questions=questions)

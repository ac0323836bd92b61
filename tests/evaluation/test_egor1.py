"""Reading Ego-R1-Bench: two splits that number their questions apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ray_tasks.evaluation.egor1 import read_egor1
from ray_tasks.evaluation.question_files import QuestionFile, QuestionFileError


def entry(number: int, **changes: Any) -> dict[str, Any]:
    """An entry of Mara's file."""
    return {
        "ID": number,
        "query_time": {"date": "DAY2", "time": "12000000"},
        "type": "EventRecall",
        "question": f"Where did I leave trowel {number}?",
        "choice_a": "in the shed",
        "choice_b": "on the bench",
        "choice_c": "in the crate",
        "choice_d": "at the gate",
        "answer": "C",
        "target_time": {"date": "DAY1", "time": "11244408"},
        **changes,
    }


def release(folder: Path, **splits: list[Any]) -> Path:
    """A folder with one file of Mara's for each split."""
    for split, entries in splits.items():
        place = folder / f"{split}-benchmark"
        place.mkdir(parents=True)
        (place / "B1_MARA.json").write_text(json.dumps(entries))
    return folder


def ids(file: QuestionFile) -> list[str]:
    return [question.question.question_id for question in file.questions]


def test_both_splits_are_read_and_their_ids_told_apart(tmp_path: Path) -> None:
    file = read_egor1(release(tmp_path, manual=[entry(1), entry(2)], gemini=[entry(2), entry(3)]), "B1_MARA")
    assert ids(file) == ["manual-1", "manual-2", "gemini-2", "gemini-3"]
    assert [question.original_id for question in file.questions] == [None] * 4
    assert file.ledger.to_json()["notes"] == {"id_in_both_splits": 2}
    assert [source.parent.name for source in file.sources] == ["manual-benchmark", "gemini-benchmark"]


def test_one_split_is_read_by_its_folder_or_its_file(tmp_path: Path) -> None:
    release(tmp_path, manual=[entry(1)], gemini=[entry(1)])
    for path in (tmp_path / "gemini-benchmark", tmp_path / "gemini-benchmark" / "B1_MARA.json"):
        file = read_egor1(path, "B1_MARA")
        assert ids(file) == ["gemini-1"]
        assert file.questions[0].flags == ()


def test_a_file_outside_a_split_keeps_its_ids(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([entry(7)]))
    file = read_egor1(path, "B1_MARA")
    assert ids(file) == ["7"]
    assert file.questions[0].original_id == 7


def test_an_id_that_repeats_within_a_split_is_made_unique_and_reported(tmp_path: Path) -> None:
    file = read_egor1(release(tmp_path, gemini=[entry(1), entry(1, answer="A"), entry(1, answer="B")]), "B1_MARA")
    assert ids(file) == ["gemini-1", "gemini-1#2", "gemini-1#3"]
    assert [question.answer for question in file.questions] == ["C", "A", "B"]
    assert file.ledger.to_json() == {"in": 3, "done": 3, "filtered": {}, "failed": {}, "notes": {"repeated_id": 2}}


def test_an_entry_that_cannot_be_asked_costs_no_other_of_either_split(tmp_path: Path) -> None:
    file = read_egor1(release(tmp_path, manual=[entry(1, question=""), 5], gemini=[entry(1)]), "B1_MARA")
    assert ids(file) == ["gemini-1"]
    assert file.ledger.to_json()["failed"] == {"no question text": 1, "not an object": 1}


def test_a_wearer_may_be_in_one_split_only(tmp_path: Path) -> None:
    release(tmp_path, manual=[entry(1)], gemini=[entry(1)])
    (tmp_path / "gemini-benchmark" / "B1_MARA.json").rename(tmp_path / "gemini-benchmark" / "B2_TOBI.json")
    assert ids(read_egor1(tmp_path, "B1_MARA")) == ["manual-1"]
    assert ids(read_egor1(tmp_path, "B2_TOBI")) == ["gemini-1"]
    with pytest.raises(QuestionFileError, match="no questions of B3_INES"):
        read_egor1(tmp_path, "B3_INES")

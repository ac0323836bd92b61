"""Reading question files: what is odd is flagged, what cannot be asked is counted, nothing is lost in silence."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, week_ms
from ray_tasks.evaluation.egolifeqa import QuestionFile, QuestionFileError, read_egolifeqa
from ray_tasks.evaluation.time_aware import is_time_aware


def entry(**changes: Any) -> dict[str, Any]:
    """A complete entry of Mara's file; a change to ... removes the field."""
    base: dict[str, Any] = {
        "ID": 1,
        "query_time": {"date": "DAY2", "time": "12000000"},
        "type": "EntityLog",
        "need_audio": False,
        "question": "Where did I leave the trowel?",
        "choice_a": "in the shed",
        "choice_b": "on the bench",
        "choice_c": "in the green crate",
        "choice_d": "at the gate",
        "answer": "C",
        "target_time": {"date": "DAY1", "time": "11244408"},
    }
    return {key: value for key, value in (base | changes).items() if value is not ...}


def read(tmp_path: Path, *entries: object) -> QuestionFile:
    """The question file that holds these entries."""
    path = tmp_path / "B1_MARA.json"
    path.write_text(json.dumps(list(entries), ensure_ascii=False), encoding="utf-8")
    return read_egolifeqa(path, "B1_MARA")


def test_a_plain_entry_is_read_whole(tmp_path: Path) -> None:
    file = read(tmp_path, entry())
    (question,) = file.questions
    assert question.question.question_id == "1"
    assert question.original_id == 1
    assert question.question.wearer == "B1_MARA"
    assert question.question.at_ms == week_ms(2, 12 * HOUR_MS)
    assert question.question.text == "Where did I leave the trowel?"
    assert question.question.choices[2] == ("C", "in the green crate")
    assert question.labels == ("A", "B", "C", "D")
    assert question.answer == "C"
    assert question.targets == (11 * HOUR_MS + 24 * MINUTE_MS + 44 * SECOND_MS + 400,)
    assert question.category == question.raw_category == "EntityLog"
    assert question.flags == ()
    assert file.ledger.to_json() == {"in": 1, "done": 1, "filtered": {}, "failed": {}, "notes": {}}


def test_options_that_are_no_strings_are_shown_as_text(tmp_path: Path) -> None:
    file = read(tmp_path, entry(choice_a=2, choice_b=None, choice_c="4", choice_d=3.5, answer="a"))
    (question,) = file.questions
    assert question.question.choices == (("A", "2"), ("B", ""), ("C", "4"), ("D", "3.5"))
    assert question.answer == "A"
    assert set(question.flags) == {"numeric_choice", "empty_choice"}


def test_equal_options_are_flagged_and_kept(tmp_path: Path) -> None:
    (question,) = read(tmp_path, entry(choice_b="In the shed. ")).questions
    assert question.flags == ("duplicate_choice",)
    assert len(question.question.choices) == 4


@pytest.mark.parametrize(
    ("target", "points", "flags"),
    [
        (
            {"date": "DAY1", "time": "12305507DAY3_18201112"},
            (12 * HOUR_MS + 30 * MINUTE_MS + 55_350, week_ms(3, 18 * HOUR_MS + 20 * MINUTE_MS + 11_600)),
            ("target_after_question",),
        ),
        (
            {"date": "DAY2", "time_list": ["9300000", "10150000"]},
            (DAY_MS + 9 * HOUR_MS + 30 * MINUTE_MS, DAY_MS + 10 * HOUR_MS + 15 * MINUTE_MS),
            (),
        ),
        (None, (), ("no_target",)),
        ({}, (), ("no_target",)),
        ([{"date": "DAY1", "time": "11000000"}], (11 * HOUR_MS,), ()),
        ({"date": "DAY2", "time": 9300000}, (DAY_MS + 9 * HOUR_MS + 30 * MINUTE_MS,), ()),
        ({"date": "Day1", "time": "11000092"}, (11 * HOUR_MS + 950,), ("frame_clamped",)),
        ({"date": "DAY1", "time": "29000000"}, (), ("bad_target", "no_target")),
        ({"date": "DAY1", "time_list": ["11000000", "soon"]}, (11 * HOUR_MS,), ("bad_target",)),
        ({"date": "DAY1", "time_list": 7}, (), ("bad_target", "no_target")),
        ({"date": "someday", "time": "11000000"}, (), ("bad_target", "no_target")),
        ("yesterday", (), ("bad_target", "no_target")),
        (12, (), ("bad_target", "no_target")),
    ],
)
def test_target_times_of_every_shape(
    tmp_path: Path, target: object, points: tuple[int, ...], flags: tuple[str, ...]
) -> None:
    (question,) = read(tmp_path, entry(target_time=target)).questions
    assert question.targets == points
    assert question.flags == flags


def test_a_missing_target_costs_nothing_else(tmp_path: Path) -> None:
    (question,) = read(tmp_path, entry(target_time=...)).questions
    assert (question.targets, question.flags) == ((), ("no_target",))


@pytest.mark.parametrize(
    ("query_time", "at_ms"),
    [
        ({"date": "day2", "time": 9300000}, DAY_MS + 9 * HOUR_MS + 30 * MINUTE_MS),
        ({"date": "Day 2", "time": "093000"}, DAY_MS + 9 * HOUR_MS + 30 * MINUTE_MS),
        ({"date": 2, "time": "09300000"}, DAY_MS + 9 * HOUR_MS + 30 * MINUTE_MS),
        ("DAY2 09300000", DAY_MS + 9 * HOUR_MS + 30 * MINUTE_MS),
        ({"date": "DAY10", "time": "00000000"}, 9 * DAY_MS),
    ],
)
def test_the_time_of_asking_in_every_shape(tmp_path: Path, query_time: object, at_ms: int) -> None:
    assert read(tmp_path, entry(query_time=query_time)).questions[0].question.at_ms == at_ms


def test_a_clamped_time_of_asking_is_flagged(tmp_path: Path) -> None:
    (question,) = read(tmp_path, entry(query_time={"date": "DAY2", "time": "12000050"})).questions
    assert (question.question.at_ms, question.flags) == (week_ms(2, 12 * HOUR_MS) + 950, ("frame_clamped",))


@pytest.mark.parametrize("key", ["c", " C ", "(c)", "C.", "Ｃ"])
def test_the_key_is_read_in_any_dress(tmp_path: Path, key: str) -> None:
    assert read(tmp_path, entry(answer=key)).questions[0].answer == "C"


@pytest.mark.parametrize("key", ["E", "", None, 3, "in the shed", ...])
def test_a_key_that_is_not_offered_is_none_and_flagged(tmp_path: Path, key: object) -> None:
    (question,) = read(tmp_path, entry(answer=key)).questions
    assert (question.answer, question.flags) == (None, ("no_key",))


def test_unknown_categories_stay_and_are_counted(tmp_path: Path) -> None:
    kinds = ["EntityLog", "Entity Log", "实体日志", "entitylog ", "EntltyLog"]
    file = read(tmp_path, *(entry(ID=number, type=kind) for number, kind in enumerate(kinds)))
    assert [question.category for question in file.questions] == ["EntityLog"] * 4 + ["Unknown"]
    assert file.questions[4].raw_category == "EntltyLog"
    assert file.ledger.notes == Counter({"unknown_category": 1})
    assert file.ledger.done == 5


def test_more_or_fewer_options_than_four_are_offered_as_they_are(tmp_path: Path) -> None:
    file = read(tmp_path, entry(ID=1, choice_e="on the roof", answer="E"), entry(ID=2, choice_d=...))
    assert (file.questions[0].labels, file.questions[0].answer) == (("A", "B", "C", "D", "E"), "E")
    assert (file.questions[1].labels, file.questions[1].flags) == (("A", "B", "C"), ("missing_choice",))


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("Where?", "not an object"),
        (None, "not an object"),
        ([], "not an object"),
        (entry(ID=...), "no ID"),
        (entry(ID=None), "no ID"),
        (entry(ID=" "), "no ID"),
        (entry(ID=True), "no ID"),
        (entry(ID=[1]), "no ID"),
        (entry(ID=7), "duplicate ID"),
        (entry(ID="7"), "duplicate ID"),
        (entry(question=...), "no question text"),
        (entry(question=None), "no question text"),
        (entry(question="  "), "no question text"),
        (entry(query_time=...), "bad query_time"),
        (entry(query_time=None), "bad query_time"),
        (entry(query_time={"date": "DAY1"}), "bad query_time"),
        (entry(query_time={"date": "Monday", "time": "11000000"}), "bad query_time"),
        (entry(query_time={"date": "DAY0", "time": "11000000"}), "bad query_time"),
        (entry(query_time={"date": "DAY1", "time": "25000000"}), "bad query_time"),
        (entry(query_time={"date": "DAY1", "time": "11000000DAY2_11000000"}), "bad query_time"),
        (entry(query_time=[1, 2]), "bad query_time"),
        (entry(choice_a=..., choice_b=..., choice_c=...), "fewer than two choices"),
    ],
)
def test_an_entry_that_cannot_be_asked_is_counted_and_costs_no_other(tmp_path: Path, bad: object, reason: str) -> None:
    file = read(tmp_path, entry(ID=7), bad, entry(ID=8))
    assert [question.question.question_id for question in file.questions] == ["7", "8"]
    assert file.ledger.failed == Counter({reason: 1})
    assert (file.ledger.taken, file.ledger.done, file.ledger.missing) == (3, 2, 0)
    (skipped,) = file.skipped
    assert skipped.index == 1
    assert skipped.reason.startswith(reason)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not JSON"),
        (b'[{"ID": 1, "question": "Whe', "not JSON"),
        (b"where,when\n1,2\n", "not JSON"),
        (b'{"ID": 1}', "expected a list of questions, found dict"),
        (b'"hello"', "expected a list of questions, found str"),
        (b"[]", "holds no questions"),
        (b"[1, 2]", "none of its 2 entries can be asked; entry 0: not an object"),
        (b"[" * 100_000, "nested too deeply"),
        (b'[{"ID": "\xff"}]', "not UTF-8 at byte 9"),
    ],
)
def test_a_file_without_questions_is_a_clear_error(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "B1_MARA.json"
    path.write_bytes(content)
    with pytest.raises(QuestionFileError) as raised:
        read_egolifeqa(path, "B1_MARA")
    assert message in str(raised.value)
    assert str(path) in str(raised.value)


def test_a_missing_file_and_a_folder_without_the_wearer_are_clear_errors(tmp_path: Path) -> None:
    with pytest.raises(QuestionFileError, match="cannot be read"):
        read_egolifeqa(tmp_path / "absent.json", "B1_MARA")
    with pytest.raises(QuestionFileError, match="no question files"):
        read_egolifeqa(tmp_path, "B1_MARA")
    (tmp_path / "manual-2.9K").mkdir()
    (tmp_path / "manual-2.9K" / "B2_TOBI.json").write_text("[]")
    with pytest.raises(QuestionFileError, match=r"no questions of B1_MARA .*there: manual-2.9K/B2_TOBI.json"):
        read_egolifeqa(tmp_path, "B1_MARA")


@pytest.mark.parametrize("folder", ["", "manual-2.9K", "Ego-QA-4.4K/manual-2.9K"])
def test_a_folder_of_the_release_holds_each_wearers_file(tmp_path: Path, folder: str) -> None:
    place = tmp_path / folder
    place.mkdir(parents=True, exist_ok=True)
    (place / "b1_mara.json").write_text(json.dumps([entry()]))
    (place / "B2_TOBI.json").write_text(json.dumps([entry(ID=2)]))
    file = read_egolifeqa(tmp_path, "B1_MARA")
    assert [question.question.question_id for question in file.questions] == ["1"]
    assert file.sources == (place / "b1_mara.json",)


def test_a_byte_order_mark_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "B1_MARA.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps([entry()]).encode())
    assert len(read_egolifeqa(path, "B1_MARA").questions) == 1


@pytest.mark.real
def test_the_real_questions_are_all_read(shared_data: Path) -> None:
    file = read_egolifeqa(shared_data / "egolifeqa" / "A1_JAKE.json", "A1_JAKE")
    entries = json.loads((shared_data / "egolifeqa" / "A1_JAKE.json").read_text(encoding="utf-8"))
    questions = {question.original_id: question for question in file.questions}
    glued = [questions[item["ID"]] for item in entries if "DAY" in str(item["target_time"].get("time", ""))]
    listed = [questions[item["ID"]] for item in entries if "time_list" in item["target_time"]]

    assert (len(file.questions), file.ledger.failed, file.skipped) == (252, Counter(), ())
    assert file.ledger.notes == Counter({"frame_clamped": 13, "duplicate_choice": 4})
    assert Counter(len(question.targets) for question in glued) == Counter({2: 6, 3: 2})
    assert len(listed) == 28
    assert all(len(question.targets) >= 2 for question in listed)
    assert Counter(len(question.targets) for question in file.questions) == Counter({1: 216, 2: 29, 3: 5, 6: 1, 7: 1})
    assert all(max(question.targets) <= question.question.at_ms for question in file.questions)
    assert Counter(question.category for question in file.questions) == Counter(
        {"EntityLog": 63, "EventRecall": 63, "RelationMap": 63, "TaskMaster": 32, "HabitInsight": 31}
    )
    assert Counter(question.answer for question in file.questions) == Counter({"D": 67, "B": 66, "C": 62, "A": 57})
    assert sum(is_time_aware(question.question.text) for question in file.questions) == 177


@pytest.mark.parametrize("field", ["ID", "query_time", "target_time", "type", "question", "choice_a", "answer"])
@pytest.mark.parametrize("value", ["9" * 5000, "[" * 800 + "]" * 800, '"\\ud83d"', "NaN", "1e999", '"a\\u0000b"'])
def test_a_strange_value_costs_no_other_question_and_can_be_stored(tmp_path: Path, field: str, value: str) -> None:
    good = {
        "ID": "1",
        "query_time": {"date": "DAY1", "time": "11350000"},
        "target_time": {"date": "DAY1", "time": "11000000"},
        "type": "EventRecall",
        "question": "Where is the rope?",
        **{f"choice_{letter}": f"place {letter}" for letter in "abcd"},
        "answer": "A",
    }
    strange = ", ".join(f'"{name}": {value if name == field else json.dumps(good[name])}' for name in good)
    path = tmp_path / "questions.json"
    path.write_text(f"[{{{strange}}}, {json.dumps({**good, 'ID': '2'})}]", encoding="utf-8")
    read = read_egolifeqa(path, "B1_MARA")
    assert "2" in {entry.question.question_id for entry in read.questions}
    for text in (repr(read.skipped), *(json.dumps(repr(entry), ensure_ascii=False) for entry in read.questions)):
        assert text.encode()
    for entry in read.questions:
        assert f"{entry.question.question_id}{entry.question.text}{entry.raw_category}".encode()

"""Reading EgoMem in both of its forms: the online protocol, the wearer's own words, and what could not be turned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.corpus.week_time import format_week_time
from ray_tasks.evaluation.answers import score_answer
from ray_tasks.evaluation.egomem import read_egomem
from ray_tasks.evaluation.question_files import QuestionFile, QuestionFileError
from ray_tasks.retrieval.types import Answer, Evidence


def released(**changes: Any) -> dict[str, Any]:
    """An entry of Mara's as it is released; a change to ... removes the field."""
    base: dict[str, Any] = {
        "question": "What did Mara do with the rope on 2031-05-02?",
        "options": ["A. She hung it up", "B. She cut it", "C. She lent it to Tobi", "D. She lost it"],
        "golden_option": "B",
        "answer": "She cut it",
        "question_time": "2031-05-03",
        "question_type": "Single Event",
        "evidence_date": {"date": "2031-05-02", "start_time": 10000000, "end_time": 10050000},
        "timescale": "day",
    }
    return {key: value for key, value in (base | changes).items() if value is not ...}


def normalised(**changes: Any) -> dict[str, Any]:
    """The same in the wearer's own words."""
    return released(
        question="What did I do with the rope on DAY2?",
        options=["A. I hung it up", "B. I cut it", "C. I lent it to Tobi", "D. I lost it"],
        question_time={"date": "DAY2", "time": 23590000},
        evidence_date={"date": "DAY2", "start_time": 10000000, "end_time": 10050000},
        **changes,
    )


def read(tmp_path: Path, *entries: object, **history: Any) -> QuestionFile:
    """Mara's questions in a file with a comment and another wearer."""
    mara = {"history_name": "B1_MARA", "chat_time": ["2031-05-02 09:00"], "chat_history": [], "qa": list(entries)}
    tobi = {"history_name": "B2_TOBI", "chat_time": ["2031-05-01 09:00"], "qa": [released(question="Who?")]}
    path = tmp_path / "egomem.json"
    path.write_text(json.dumps([{"_comment": "invented"}, mara | history, tobi], ensure_ascii=False))
    return read_egomem(path, "B1_MARA")


def test_the_released_form_becomes_the_wearers_own(tmp_path: Path) -> None:
    file = read(tmp_path, released(), released(question="Where did Mara go?"))
    first, second = file.questions
    assert first.question.text == "What did I do with the rope on DAY2?"
    assert first.question.choices[0] == ("A", "I hung it up")
    assert first.answer == "B"
    assert first.category == "SingleEvent"
    assert format_week_time(first.question.at_ms) == "DAY2 23590000"
    assert [tuple(map(format_week_time, span)) for span in first.target_spans] == [("DAY2 10000000", "DAY2 10050000")]
    assert (first.original_id, second.original_id) == (1, 2)
    assert set(first.flags) == {"to_first_person", "date_to_day", "pronoun_left"}
    assert file.ledger.to_json()["notes"]["elements_without_a_history"] == 1


def test_the_normalised_form_is_left_as_it_is(tmp_path: Path) -> None:
    (question,) = read(tmp_path, normalised()).questions
    assert question.question.text == "What did I do with the rope on DAY2?"
    assert [text for _, text in question.question.choices] == [
        *("I hung it up", "I cut it", "I lent it to Tobi", "I lost it")
    ]
    assert format_week_time(question.question.at_ms) == "DAY2 23590000"
    assert question.flags == ()


def test_a_question_with_a_clock_time_is_asked_then(tmp_path: Path) -> None:
    (question,) = read(tmp_path, released(question_time="2031-05-03 10:15")).questions
    assert format_week_time(question.question.at_ms) == "DAY3 10150000"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"question_time": "2031-05-01"}, "asked before DAY1"),
        ({"question_time": "some day"}, "bad question_time"),
        ({"question_time": []}, "bad question_time"),
        ({"question_time": ...}, "bad question_time"),
        ({"question": " "}, "no question text"),
        ({"options": "A. yes"}, "fewer than two choices"),
        ({"options": ["A. yes"]}, "fewer than two choices"),
    ],
)
def test_an_entry_that_cannot_be_asked_is_counted(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    file = read(tmp_path, released(**changes), released(), "what")
    assert file.ledger.to_json()["failed"] == {reason: 1, "not an object": 1}
    assert [question.question.question_id for question in file.questions] == ["2"]


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"golden_option": "C. She lent it to Tobi"}, "C"),
        ({"golden_option": " (d) "}, "D"),
        ({"golden_option": "she hung it up."}, "A"),
        ({"golden_option": None}, "B"),
        ({"golden_option": "E", "answer": ""}, None),
    ],
)
def test_the_key_is_a_letter_or_the_text_of_an_option(tmp_path: Path, changes: dict[str, Any], key: str | None) -> None:
    (question,) = read(tmp_path, released(**changes)).questions
    assert question.answer == key
    assert ("no_key" in question.flags) == (key is None)


def test_options_without_letters_or_as_a_dictionary_are_labelled_in_order(tmp_path: Path) -> None:
    plain, mixed, named = read(
        tmp_path,
        released(options=["red", "blue", "green", "black"], answer="blue", golden_option=...),
        released(options=["A. Milne", "a rope", "B. Potter", "a saw"]),
        released(options={"A": "red", "B": 2, "C": None, "D": "red"}),
    ).questions
    assert plain.question.choices == (("A", "red"), ("B", "blue"), ("C", "green"), ("D", "black"))
    assert plain.answer == "B"
    assert mixed.question.choices[0] == ("A", "A. Milne")
    assert named.question.choices[1:3] == (("B", "2"), ("C", ""))
    assert {"empty_choice", "duplicate_choice"} <= set(named.flags)


def test_evidence_of_a_whole_day_is_no_target_unless_the_timescale_has_its_time(tmp_path: Path) -> None:
    day, timed, absent, bad = read(
        tmp_path,
        released(evidence_date="2031-05-02"),
        released(evidence_date="2031-05-02", timescale="10:00-10:05"),
        released(evidence_date=...),
        released(evidence_date="one day"),
    ).questions
    assert day.targets == () and {"target_is_a_day", "no_target"} <= set(day.flags)
    assert [tuple(map(format_week_time, span)) for span in timed.target_spans] == [("DAY2 10000000", "DAY2 10050000")]
    assert "no_target" in absent.flags and "bad_target" not in absent.flags
    assert {"bad_target", "no_target"} <= set(bad.flags)


def test_evidence_within_the_interval_is_a_hit_and_its_start_alone_is_hit_first(tmp_path: Path) -> None:
    (question,) = read(tmp_path, normalised()).questions
    start, end = question.target_spans[0]
    within = Evidence("e", "caption", start + 60_000, start + 90_000, "I cut it.", 1.0)
    answer = Answer("1", "B", (within,))
    scored = score_answer(question, answer, benchmark="egomem", method="test", seconds=0.1)
    assert (scored.hit, scored.near_hit, scored.hit_first) == (True, True, False)
    after = Evidence("e", "caption", end + 60_000, end + 90_000, "I go in.", 1.0)
    scored = score_answer(question, Answer("1", "B", (after,)), benchmark="egomem", method="test", seconds=0.1)
    assert (scored.hit, scored.near_hit) == (False, True)


@pytest.mark.parametrize("name", ["B1_MARA", "Mara", "MARA", "history of Mara (B1)"])
def test_a_history_is_found_by_id_or_name(tmp_path: Path, name: str) -> None:
    assert len(read(tmp_path, released(), history_name=name).questions) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1, 2]", "no element has a history_name"),
        ("7", "expected a list of histories, found int"),
        ('[{"history_name": "B3_INES", "qa": []}]', "no history of B1_MARA; the file has B3_INES"),
        ('[{"history_name": "B1_MARA"}]', "has no list under qa"),
        ('[{"history_name": "B1_MARA", "qa": []}]', "holds no questions"),
        ('[{"history_name": "Mara", "qa": []}, {"history_name": "mara", "qa": []}]', "2 histories of B1_MARA"),
    ],
)
def test_a_file_that_is_no_egomem_is_a_clear_error(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "egomem.json"
    path.write_text(content)
    with pytest.raises(QuestionFileError) as raised:
        read_egomem(path, "B1_MARA")
    assert message in str(raised.value)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=12)
    | st.sampled_from(["2031-05-02", "DAY2", "DAY2 25000000", "10:00-", 23590000, "A. red", "Mara's", "５月2日"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["date", "time", "A", "x"]), inner),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.sampled_from(sorted(released())), JSON), min_size=1, max_size=3), JSON)
def test_whatever_the_fields_hold_every_entry_is_counted(
    tmp_path_factory: pytest.TempPathFactory, changes: list[dict[str, Any]], chat_time: Any
) -> None:
    entries = [released(**change) for change in changes]
    file = read(tmp_path_factory.getbasetemp(), *entries, released(), chat_time=chat_time)
    assert file.ledger.taken == len(file.questions) + len(file.skipped) == len(entries) + 1
    for question in file.questions:
        assert question.question.at_ms >= 0
        assert all(start <= end for start, end in question.target_spans)


def test_a_folder_holds_the_file(tmp_path: Path) -> None:
    read(tmp_path, released())
    assert len(read_egomem(tmp_path, "B1_MARA").questions) == 1

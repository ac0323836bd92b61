"""Every question is well formed, and its answer lies in what its wearer had recorded when it was asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from ray_tasks.corpus.week_time import day_of, parse_point, parse_target_times, parse_week_time, week_ms
from sample_week import SAMPLE_QUESTIONS, SampleQuestion, SampleWeek
from sample_week.questions import ScriptQuestion, load_questions, released
from sample_week.story import StoryError, load_week

WINDOW_MS = 30_000
SCRIPT = load_questions(load_week())


def by_name(question: ScriptQuestion) -> str:
    return f"{question.wearer}-{question.number}"


def asked_at(item: dict[str, Any]) -> int:
    return parse_point(item["query_time"]["time"], default_day=item["query_time"]["date"]).ms


def test_twenty_questions_a_wearer_and_eight_of_each_type(questions: dict[str, list[dict[str, Any]]]) -> None:
    assert {wearer: len(items) for wearer, items in questions.items()} == {"B1_MARA": 20, "B2_TOBI": 20}
    kinds = Counter(item["type"] for items in questions.values() for item in items)
    assert kinds == dict.fromkeys(("EntityLog", "EventRecall", "HabitInsight", "RelationMap", "TaskMaster"), 8)
    letters = Counter(item["answer"] for items in questions.values() for item in items)
    assert set(letters) == set("ABCD")
    assert max(letters.values()) <= 13


def test_the_schema_is_the_benchmarks(questions: dict[str, list[dict[str, Any]]]) -> None:
    letters = [f"choice_{letter}" for letter in "abcd"]
    keys = ["ID", "query_time", "type", "need_audio", "question", *letters, "answer", "target_time"]
    for items in questions.values():
        assert [item["ID"] for item in items] == list(range(1, 21))
        for item in items:
            assert list(item) == keys
            assert isinstance(item["need_audio"], bool)
            assert len({str(item[f"choice_{letter}"]) for letter in "abcd"}) == 4
        assert [asked_at(item) for item in items] == sorted(asked_at(item) for item in items)


def test_questions_are_asked_on_all_days_so_that_later_events_are_wrong_answers(
    questions: dict[str, list[dict[str, Any]]],
) -> None:
    for items in questions.values():
        days = Counter(day_of(asked_at(item)) for item in items)
        assert min(days[1], days[2], days[3]) >= 3


def test_every_target_lies_in_a_window_with_a_row_of_that_wearer_before_the_question(
    questions: dict[str, list[dict[str, Any]]], spoken: list[Any], dense: list[Any], sync: list[Any]
) -> None:
    starts: dict[str, list[int]] = {wearer: [] for wearer in questions}
    for cue in spoken + dense:
        starts[cue.wearer].append(cue.week_ms())
    for row in sync:
        starts[row.wearer].append(row.start_ms)
    for wearer, items in questions.items():
        for item in items:
            targets = parse_target_times(item["target_time"])
            assert not targets.problems
            assert targets.points or item["target_time"] is None
            earlier = {ms // WINDOW_MS for ms in starts[wearer] if ms < asked_at(item)}
            assert all(point < asked_at(item) for point in targets.points), item["question"]
            assert {point // WINDOW_MS for point in targets.points} <= earlier, item["question"]


@pytest.mark.parametrize("question", SCRIPT, ids=by_name)
def test_the_marked_beats_hold_the_key_before_the_question(question: ScriptQuestion, sample: SampleWeek) -> None:
    rows = [sample.evidence[question.wearer, beat] for beat in question.evidence]
    assert all(week_ms(row.day, row.end_ms) <= question.at_ms for row in rows)
    assert any(question.key.casefold() in row.words.english.casefold() for row in rows)


@pytest.mark.parametrize("question", SCRIPT, ids=by_name)
def test_the_evidence_stands_in_the_released_files(
    question: ScriptQuestion, sample: SampleWeek, spoken: list[Any], dense: list[Any], sync: list[Any]
) -> None:
    texts = {(row.wearer, row.start_ms // 1000, row.text) for row in sync}
    texts |= {(cue.wearer, cue.week_ms() // 1000, cue.lines[-1]) for cue in spoken + dense}
    for beat in question.evidence:
        row = sample.evidence[question.wearer, beat]
        labels = {f"{row.speaker}{colon}" for colon in (": ", "：")} if row.speaker else {""}
        second = week_ms(row.day, row.start_ms) // 1000
        assert {(row.wearer, second, label + row.words.english) for label in labels} & texts


def test_a_question_whose_evidence_is_still_to_come_is_refused(sample: SampleWeek) -> None:
    on_time = next(question for question in SCRIPT if question.evidence == ("key-fern",))
    early = replace(on_time, at_ms=week_ms(2))
    with pytest.raises(StoryError, match="has not recorded 'key-fern' by then"):
        released(early, sample.evidence)


@pytest.mark.parametrize("question", SAMPLE_QUESTIONS, ids=lambda question: question.evidence)
def test_the_three_questions_for_a_first_look_have_their_evidence(question: SampleQuestion, sample: SampleWeek) -> None:
    row = sample.evidence[question.wearer, question.evidence]
    assert week_ms(row.day, row.end_ms) <= parse_week_time(question.at)
    assert not question.choices or question.answer in question.choices

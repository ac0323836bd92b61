"""Questions that are asked twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ray_tasks.evaluation.answers import ScoredAnswer
from ray_tasks.evaluation.duplicates import DuplicateReport, group_same_questions, report_duplicates
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.retrieval.types import Answer

MakeQuestion = Callable[..., BenchmarkQuestion]

FIRST = ("the fern", "nothing", "the basil", "the tomatoes")  # key C
SECOND = ("the basil", "the fern", "the tomatoes", "nothing")  # key A


@pytest.fixture
def report(make_answer: Callable[..., Answer], score: Callable[..., ScoredAnswer]) -> Callable[..., DuplicateReport]:
    def run(questions: list[BenchmarkQuestion], *choices: str | None) -> DuplicateReport:
        answers = [
            score(question, make_answer(question.question.question_id, choice))
            for question, choice in zip(questions, choices, strict=True)
        ]
        return report_duplicates(questions, {answer.question_id: answer for answer in answers})

    return run


def test_shuffled_options_make_a_pair_and_both_are_scored(
    make_question: MakeQuestion, report: Callable[..., DuplicateReport]
) -> None:
    pair = [make_question("1", options=FIRST, key="C"), make_question("2", options=SECOND, key="A")]
    other = make_question("3", text="What do I water last?")
    result = report([*pair, other], "C", "A", "B")
    (group,) = result.groups
    assert (group.question_ids, group.shuffled, group.keys_agree) == (("1", "2"), True, True)
    assert (group.predicted, group.consistent) == (("the basil", "the basil"), True)
    assert (result.unique, result.accuracy, result.inconsistent) == (2, 50.0, ())


def test_the_same_letter_twice_is_inconsistent_where_options_are_shuffled(
    make_question: MakeQuestion, report: Callable[..., DuplicateReport]
) -> None:
    pair = [make_question("1", options=FIRST, key="C"), make_question("2", options=SECOND, key="A")]
    result = report(pair, "C", "C")
    assert [group.question_ids for group in result.inconsistent] == [("1", "2")]
    assert result.groups[0].predicted == ("the basil", "the tomatoes")
    assert (result.unique, result.accuracy) == (1, 50.0)


def test_answering_only_one_of_a_pair_is_inconsistent(
    make_question: MakeQuestion, report: Callable[..., DuplicateReport]
) -> None:
    pair = [make_question("1"), make_question("2")]
    assert len(report(pair, "A", None).inconsistent) == 1
    assert report(pair, None, None).inconsistent == ()


def test_case_and_punctuation_make_no_other_question(make_question: MakeQuestion) -> None:
    pair = [make_question("1"), make_question("2", text="what do i water first")]
    assert [len(group) for group in group_same_questions(pair)] == [2]


def test_other_options_or_another_text_make_another_question(make_question: MakeQuestion) -> None:
    questions = [
        make_question("1"),
        make_question("2", options=("the basil", "the tomatoes", "the fern", "the moss")),
        make_question("3", text="What do I water last?"),
    ]
    assert [len(group) for group in group_same_questions(questions)] == [1, 1, 1]


def test_another_key_at_another_time_is_another_question(make_question: MakeQuestion) -> None:
    questions = [make_question("1", key="A", at_ms=1_000_000), make_question("2", key="B", at_ms=2_000_000)]
    assert [len(group) for group in group_same_questions(questions)] == [1, 1]


def test_another_key_at_the_same_time_is_a_contradiction_of_the_file(
    make_question: MakeQuestion, report: Callable[..., DuplicateReport]
) -> None:
    (group,) = report([make_question("1", key="A"), make_question("2", key="B")], "A", "A").groups
    assert (group.keys_agree, group.shuffled) == (False, False)


def test_questions_without_keys_have_no_accuracy(
    make_question: MakeQuestion, report: Callable[..., DuplicateReport]
) -> None:
    assert report([make_question("1", key=None)], "A").accuracy is None

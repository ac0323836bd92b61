"""Scoring one answer, and answers as Parquet rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ray_tasks.evaluation.answers import ANSWER_SCHEMA, ScoredAnswer, from_table, to_table
from ray_tasks.evaluation.metrics import CausalityError
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.retrieval.types import Answer

MakeQuestion = Callable[..., BenchmarkQuestion]
MakeAnswer = Callable[..., Answer]
Score = Callable[..., ScoredAnswer]


def test_a_right_answer_with_its_evidence(make_question: MakeQuestion, make_answer: MakeAnswer, score: Score) -> None:
    question = make_question(targets=(100_000, 505_000), text="What do I usually water first?")
    scored = score(question, make_answer(spans=((490_000, 520_000), (510_000, 550_000)), tokens_in=7, rounds=2), 0.25)
    assert (scored.predicted, scored.correct, scored.key, scored.status) == ("A", True, "A", "answered")
    assert (scored.hit, scored.hit_first, scored.near_hit) == (True, False, True)
    assert scored.evidence_minutes == 1.0
    assert scored.evidence_ids == ("action:490000", "action:510000")
    assert (scored.evidence[0].start_ms, scored.evidence[0].end_ms) == (490_000, 520_000)
    assert (scored.tokens_in, scored.rounds, scored.seconds, scored.time_aware) == (7, 2, 0.25, True)
    assert scored.error is None


def test_a_wrong_letter_is_wrong(make_question: MakeQuestion, make_answer: MakeAnswer, score: Score) -> None:
    assert score(make_question(key="B"), make_answer(choice="A")).correct is False


def test_a_question_without_key_is_neither_right_nor_wrong(
    make_question: MakeQuestion, make_answer: MakeAnswer, score: Score
) -> None:
    assert score(make_question(key=None), make_answer()).correct is None


def test_a_question_without_target_has_no_hits(
    make_question: MakeQuestion, make_answer: MakeAnswer, score: Score
) -> None:
    scored = score(make_question(targets=()), make_answer(spans=((0, 10),)))
    assert (scored.hit, scored.hit_first, scored.near_hit) == (None, None, None)


@pytest.mark.parametrize("status", ["error", "declined", "unparsed"])
def test_a_letter_that_is_no_answer_is_never_scored(
    make_question: MakeQuestion, make_answer: MakeAnswer, score: Score, status: str
) -> None:
    scored = score(make_question(key="A"), make_answer(choice="A", status=status, text="rate limit"))
    assert (scored.predicted, scored.correct, scored.status) == (None, False, status)
    assert "letter_discarded" in scored.notes
    assert scored.error == ("rate limit" if status == "error" else None)


def test_no_letter_and_a_letter_not_offered_are_unparsed(
    make_question: MakeQuestion, make_answer: MakeAnswer, score: Score
) -> None:
    assert score(make_question(), make_answer(choice=None)).status == "unparsed"
    scored = score(make_question(), make_answer(choice="E"))
    assert (scored.predicted, scored.correct, scored.status, scored.notes) == (
        None,
        False,
        "unparsed",
        ("not_offered",),
    )


def test_the_keys_text_under_another_letter_is_wrong_and_noted(
    make_question: MakeQuestion, make_answer: MakeAnswer, score: Score
) -> None:
    question = make_question(options=("ivy", "moss", "Ivy", "fern"), key="C")
    scored = score(question, make_answer(choice="A"))
    assert (scored.correct, scored.notes) == (False, ("same_text_as_key",))


def test_future_evidence_stops_the_scoring(make_question: MakeQuestion, make_answer: MakeAnswer, score: Score) -> None:
    with pytest.raises(CausalityError):
        score(make_question(at_ms=1_000), make_answer(spans=((0, 1_001),)))


def test_rows_survive_parquet(
    tmp_path: Path, make_question: MakeQuestion, make_answer: MakeAnswer, score: Score
) -> None:
    answers = [
        score(make_question("1"), make_answer("1", spans=((0, 10), (5, 500_000)), notes=("weak",))),
        score(make_question("2", key=None, targets=()), make_answer("2", None, status="error", text="broken")),
    ]
    table = to_table(answers)
    assert table.schema.equals(ANSWER_SCHEMA)
    pq.write_table(table, tmp_path / "answers.parquet", compression="zstd")
    assert from_table(pq.read_table(tmp_path / "answers.parquet")) == answers


def test_no_answers_are_a_table_too(tmp_path: Path) -> None:
    assert to_table([]).schema.equals(ANSWER_SCHEMA)
    assert from_table(to_table([])) == []


def test_a_shard_of_only_nulls_and_one_with_values_fit_together(
    make_question: MakeQuestion, make_answer: MakeAnswer, score: Score, tmp_path: Path
) -> None:
    empty = score(make_question("1", key=None, targets=()), make_answer("1", None, status="declined"))
    full = score(make_question("2"), make_answer("2", spans=((0, 500_000),)))
    for name, answer in (("a", empty), ("b", full)):
        pq.write_table(to_table([answer]), tmp_path / f"{name}.parquet")
    assert from_table(pq.read_table(tmp_path)) == [empty, full]

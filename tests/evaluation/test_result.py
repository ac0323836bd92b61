"""The document of ``evaluate --json``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from ray_tasks.evaluation.answers import ScoredAnswer
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.evaluation.result import build_result
from ray_tasks.evaluation.runner import Evaluation
from ray_tasks.ledger import Ledger
from ray_tasks.retrieval.types import Answer


@pytest.fixture
def evaluation(
    make_question: Callable[..., BenchmarkQuestion],
    make_answer: Callable[..., Answer],
    score: Callable[..., ScoredAnswer],
) -> Evaluation:
    questions = [
        make_question("1", original_id=1, text="Who watered the ivy?", category="EntityLog"),
        make_question("2", original_id="2", text="What do I usually water?", targets=(0, 500_000)),
        make_question("3", targets=(), key="B", flags=("no_target",)),
        make_question("4", targets=(900_000,)),
    ]
    answers = [
        make_answer("1", "A", ((480_000, 510_000),), tokens_in=10, tokens_out=2),
        make_answer("2", "B", ((499_000, 529_000),)),
        make_answer("3", "B", (), notes=("weak",)),
        make_answer("4", None, ((600_000, 660_000),), status="declined"),
    ]
    scored = [score(question, answer, 0.5) for question, answer in zip(questions, answers, strict=True)]
    return Evaluation("egolifeqa", "B1_MARA", "egocite", tuple(questions), tuple(scored), 2.0, 32)


def test_the_fixed_keys_have_the_right_values(evaluation: Evaluation) -> None:
    result = build_result(evaluation, {"engine": "rules"})
    assert result["n"] == 4
    assert result["accuracy"] == 50.0
    assert result["hit"] == pytest.approx(200 / 3)
    assert result["hit_first"] == pytest.approx(100 / 3)
    assert result["near_hit"] == 100.0
    assert result["evidence_minutes"] == 0.5
    assert result["unanswered"] == 1
    assert result["latency_ms"] == {"p50": 500.0, "p95": 500.0}
    assert result["tokens"] == 12
    assert result["config"] == {"engine": "rules"}
    assert list(result["by_category"]) == ["EntityLog", "HabitInsight"]
    assert set(result["by_time_aware"]) == {"yes", "no"}
    assert (result["by_time_aware"]["yes"]["n"], result["by_time_aware"]["no"]["n"]) == (3, 1)
    for group in [*result["by_category"].values(), *result["by_time_aware"].values()]:
        assert set(group) == {
            *("n", "accuracy", "hit", "hit_first", "near_hit", "evidence_minutes", "grounded_accuracy", "grounded")
        }


def test_answers_keep_the_files_ids_and_show_their_evidence(evaluation: Evaluation) -> None:
    answers: list[dict[str, Any]] = build_result(evaluation, {})["answers"]
    assert [answer["id"] for answer in answers] == [1, "2", "3", "4"]
    assert [answer["predicted"] for answer in answers] == ["A", "B", "B", None]
    assert [answer["correct"] for answer in answers] == [True, False, True, False]
    assert [answer["hit"] for answer in answers] == [True, True, None, False]
    assert [answer["near_hit"] for answer in answers] == [True, True, None, True]
    assert answers[0]["evidence"] == [[480_000, 510_000, "action", "I water the basil."]]


def test_what_was_odd_stands_beside_the_figures(evaluation: Evaluation) -> None:
    ledger = Ledger(taken=5, done=4, failed=Counter({"bad query_time": 1}))
    result = build_result(evaluation, {}, ledger)
    assert result["no_target"] == 1
    assert result["flags"] == {"no_target": 1}
    assert result["statuses"] == {"answered": 3, "declined": 1}
    assert result["notes"] == {"weak": 1}
    assert result["questions_file"]["failed"] == {"bad query_time": 1}
    low, high = result["confidence"]["accuracy"]["low"], result["confidence"]["accuracy"]["high"]
    assert low <= result["accuracy"] <= high
    assert result["duplicates"]["unique"] == 3
    (group,) = result["duplicates"]["groups"]  # the same question at the same moment, with two keys
    assert (group["ids"], group["keys_agree"], group["consistent"]) == (["3", "4"], False, False)
    assert result["duplicates"]["inconsistent"] == [["3", "4"]]


def test_the_document_is_plain_json(evaluation: Evaluation) -> None:
    result = build_result(evaluation, {"lambda": 0.99})
    assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_an_empty_evaluation_is_a_document_too() -> None:
    result = build_result(Evaluation("egolifeqa", "", "egocite", (), (), 0.0, 32), {})
    assert (result["n"], result["accuracy"], result["hit"], result["answers"]) == (0, None, None, [])
    assert json.dumps(result, allow_nan=False)

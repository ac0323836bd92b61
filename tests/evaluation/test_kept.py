"""Answers in the store: nothing lost, nothing twice, and errors asked for again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ray_tasks.evaluation.answers import ScoredAnswer
from ray_tasks.evaluation.kept import KeptAnswers
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.retrieval.types import Answer
from ray_tasks.storage.store import LocalStore

Make = Callable[[str], ScoredAnswer]


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


@pytest.fixture
def scored(
    make_question: Callable[..., BenchmarkQuestion],
    make_answer: Callable[..., Answer],
    score: Callable[..., ScoredAnswer],
) -> Make:
    return lambda number: score(make_question(number), make_answer(number, spans=((490_000, 510_000),)), 0.1)


def test_parts_come_back_as_they_went_in(store: LocalStore, scored: Make) -> None:
    kept = KeptAnswers(store, "evaluations/one")
    kept.add([scored("1"), scored("2")])
    kept.add([scored("3")])
    assert KeptAnswers(store, "evaluations/one").load() == {number: scored(number) for number in "123"}
    assert KeptAnswers(store, "evaluations/on").load() == {}


def test_an_answer_with_an_error_is_not_taken(store: LocalStore, scored: Make) -> None:
    kept = KeptAnswers(store, "evaluations/one")
    kept.add([scored("1"), replace(scored("2"), status="error", error="out of memory")])
    assert list(kept.load()) == ["1"]


def test_the_table_replaces_the_parts(store: LocalStore, scored: Make) -> None:
    kept = KeptAnswers(store, "evaluations/one")
    kept.add([scored("2")])
    kept.add([scored("1")])
    kept.finish([scored("1"), scored("2")])
    assert list(store.list_keys("evaluations")) == ["evaluations/one/answers.parquet"]
    assert list(kept.load()) == ["1", "2"]
    kept.add([scored("3")])
    assert set(kept.load()) == {"1", "2", "3"}
    kept.forget()
    assert list(store.list_keys("evaluations")) == []


@pytest.mark.parametrize("damage", [b"", b"PAR1", b"{}"])
def test_a_part_that_a_power_cut_has_damaged_counts_as_not_there(
    store: LocalStore, scored: Make, damage: bytes
) -> None:
    kept = KeptAnswers(store, "evaluations/one")
    kept.add([scored("1")])
    store.write("evaluations/one/parts/damaged.parquet", damage)
    assert list(kept.load()) == ["1"]

"""Real Ray: actors that answer, questions that fail, questions that kill their worker, evaluations that are void."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ray_tasks.evaluation.answers import ScoredAnswer
from ray_tasks.evaluation.kept import KeptAnswers
from ray_tasks.scheduling.asking import Pool, ask_orders
from ray_tasks.scheduling.asking_actor import Order
from ray_tasks.scheduling.session import Cluster, ray_session
from ray_tasks.storage.store import LocalStore
from tests.scheduling.asking_material import MODEL, ScriptedSource, make_order

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with ray_session(2) as started:
        yield started


def ask(
    orders: Sequence[Order], root: Path, cluster: Cluster
) -> tuple[list[dict[str, ScoredAnswer]], list[str | None]]:
    """The answers and the fault of each order; fails where a question was answered twice."""
    answers: list[dict[str, ScoredAnswer]] = [{} for _ in orders]
    faults: list[str | None] = [None] * len(orders)
    for asked in ask_orders(orders, ScriptedSource(str(root)), cluster):
        for answer in asked.answers:
            assert answer.question_id not in answers[asked.order]
            answers[asked.order][answer.question_id] = answer
        faults[asked.order] = asked.fault or faults[asked.order]
    return answers, faults


def times_asked(root: Path, wearer: str) -> Counter[str]:
    """How often each question was put to the method."""
    return Counter(key.split("/")[2] for key in LocalStore(root).list_keys(f"asked/{wearer}"))


@pytest.mark.parametrize("model", [None, MODEL], ids=["rules", "model"])
def test_every_question_is_answered_once_and_stored(cluster: Cluster, tmp_path: Path, model: object) -> None:
    chosen = MODEL if model else None
    orders = [make_order(f"W{number}", 70, model=chosen) for number in range(3)]
    answers, faults = ask(orders, tmp_path, cluster)
    assert faults == [None] * 3
    for order, found in zip(orders, answers, strict=True):
        assert set(found) == {str(number) for number in range(70)}
        assert {number for number, answer in found.items() if answer.error} == {"7"}
        stored = KeptAnswers(LocalStore(tmp_path), order.prefix).load()
        assert stored == {number: answer for number, answer in found.items() if number != "7"}


@pytest.mark.parametrize("model", [None, MODEL], ids=["rules", "model"])
def test_a_question_that_kills_its_worker_costs_no_other(cluster: Cluster, tmp_path: Path, model: object) -> None:
    chosen = MODEL if model else None
    orders = [make_order("DEADLY", 40, model=chosen), make_order("W", 40, model=chosen)]
    answers, faults = ask(orders, tmp_path, cluster)
    assert faults == [None, None] and [len(found) for found in answers] == [40, 40]
    wrong = {number: answer.error or "" for number, answer in answers[0].items() if answer.error}
    assert set(wrong) == {"5", "7"} and "worker died" in wrong["5"]
    assert {number for number, answer in answers[1].items() if answer.error} == {"7"}


def test_a_void_evaluation_costs_no_other(cluster: Cluster, tmp_path: Path) -> None:
    orders = [make_order("FUTURE", 70), make_order("DAMAGED", 70), make_order("W", 70)]
    answers, faults = ask(orders, tmp_path, cluster)
    assert "ends later" in (faults[0] or "") and "lacks a file" in (faults[1] or "") and faults[2] is None
    assert len(answers[2]) == 70


def test_actors_are_no_more_than_have_something_to_do() -> None:
    cluster = Cluster(8, 8, 0.0, 1, joined=False)
    assert Pool.of([make_order("W", 40)], cluster, 32) == Pool(2, 1, 2)
    assert Pool.of([make_order("W", 4000)], cluster, 32) == Pool(8, 1, 2)
    busy = MODEL.model_copy(update={"concurrency": 64})
    assert Pool.of([make_order("W", 4000, model=busy)], cluster, 32) == Pool(4, 16, 2)
    assert Pool.of([make_order("W", 4000, model=MODEL)], cluster, 32) == Pool(1, 8, 2)

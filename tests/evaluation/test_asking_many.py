"""Many questions under way at once: how many, what one that fails costs, and that every answer is stored at once."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import UnreachableError
from ray_tasks.evaluation.answers import ScoredAnswer
from ray_tasks.evaluation.asking_many import ManyAsker, Turns
from ray_tasks.evaluation.metrics import CausalityError
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.evaluation.runner import evaluate_many
from ray_tasks.retrieval.types import Answer, Evidence, Question
from ray_tasks.storage.store import StoreError

MakeQuestion = Callable[..., BenchmarkQuestion]
MEMORY: Any = object()


class WaitingMethod:
    """Waits `rounds` turns of the event loop for each answer; raises what `raising` has for a question's id."""

    name = "waiting"

    def __init__(self, raising: dict[str, Exception] | None = None, **answer: Any) -> None:
        self.raising, self.more = raising or {}, answer
        self.under_way = self.most = 0
        self.asked: list[str] = []

    def answer(self, question: Question, memory: object) -> Answer:
        raise AssertionError("asked one by one")

    def answer_many(self, questions: list[Question], memory: object) -> list[Answer]:
        raise AssertionError("asked in a batch")

    async def answer_async(self, question: Question, memory: object, counts: CallCounts) -> Answer:
        self.asked.append(question.question_id)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        for _ in range(5):
            await asyncio.sleep(0)
        self.under_way -= 1
        if question.question_id in self.raising:
            raise self.raising[question.question_id]
        counts.add(CallCounts(calls=1, answered=1, attempts=1, tokens_in=10))
        return Answer(question.question_id, "A", **({"evidence": ()} | self.more))


class Shelf:
    """Where answers are stored; what is called `after` is called when something has been."""

    def __init__(self) -> None:
        self.stored: list[str] = []

    def __call__(self, answers: Sequence[ScoredAnswer]) -> None:
        self.stored += [answer.question_id for answer in answers]


def run(questions: list[BenchmarkQuestion], method: Any, keep: Any, in_flight: int = 4, **more: Any) -> Any:
    clock = itertools.count()
    return asyncio.run(
        evaluate_many(
            questions, MEMORY, method, keep=keep, in_flight=in_flight, clock=lambda: float(next(clock)), **more
        )
    )


def test_as_many_are_under_way_as_allowed_and_all_are_stored(make_question: MakeQuestion) -> None:
    questions = [make_question(str(number)) for number in range(50)]
    method, shelf = WaitingMethod(), Shelf()
    evaluation = run(questions, method, shelf, in_flight=20)
    assert method.most == 20
    assert [answer.question_id for answer in evaluation.answers] == [str(number) for number in range(50)]
    assert sorted(shelf.stored) == sorted(answer.question_id for answer in evaluation.answers)
    assert (evaluation.calls.calls, evaluation.calls.tokens_in, evaluation.kept) == (50, 500, 0)


def test_a_question_that_fails_costs_no_other(make_question: MakeQuestion) -> None:
    questions = [make_question(str(number)) for number in range(20)]
    method, shelf = WaitingMethod({"7": RuntimeError("a bad prompt")}), Shelf()
    evaluation = run(questions, method, shelf)
    wrong = [answer for answer in evaluation.answers if answer.error]
    assert [(answer.question_id, answer.error) for answer in wrong] == [("7", "RuntimeError: a bad prompt")]
    assert len(shelf.stored) == 20


def test_kept_answers_are_not_asked_for_again(make_question: MakeQuestion) -> None:
    questions = [make_question(str(number)) for number in range(6)]
    first = run(questions, WaitingMethod(), Shelf())
    method, shelf = WaitingMethod(), Shelf()
    again = run(questions, method, shelf, kept={a.question_id: a for a in first.answers if a.question_id in "024"})
    assert sorted(method.asked) == ["1", "3", "5"] == sorted(shelf.stored)
    assert (again.kept, [a.question_id for a in again.answers]) == (3, list("012345"))


def test_nobody_is_asked_any_more_once_no_endpoint_answers(make_question: MakeQuestion) -> None:
    questions = [make_question(str(number)) for number in range(100)]
    method = WaitingMethod({str(number): UnreachableError("nobody there") for number in range(100)})
    evaluation = run(questions, method, Shelf(), in_flight=4)
    assert len(method.asked) < 10
    assert all(answer.status == "error" for answer in evaluation.answers)
    assert sum("not asked" in (answer.error or "") for answer in evaluation.answers) > 90


def test_evidence_from_the_future_ends_it_and_keeps_what_was_answered(make_question: MakeQuestion) -> None:
    later = Evidence("a", "action", 2_000_000, 2_000_001, "later", 1.0)
    shelf = Shelf()
    with pytest.raises(CausalityError):
        run([make_question("1")], WaitingMethod(evidence=(later,)), shelf)
    assert shelf.stored == []


def test_an_answer_that_cannot_be_stored_is_told(make_question: MakeQuestion) -> None:
    def full(_: Sequence[ScoredAnswer]) -> None:
        raise StoreError("the disk is full")

    with pytest.raises(StoreError, match="the disk is full"):
        run([make_question("1")], WaitingMethod(), full)


def test_an_answer_is_stored_while_another_question_of_its_batch_still_waits(make_question: MakeQuestion) -> None:
    shelf = Shelf()

    class Slow(WaitingMethod):
        async def answer_async(self, question: Question, memory: object, counts: CallCounts) -> Answer:
            while question.question_id == "slow" and not shelf.stored:
                await asyncio.sleep(0.01)
            return await super().answer_async(question, memory, counts)

    async def ask() -> None:
        asker = ManyAsker(Slow(), "egolifeqa", shelf, Turns(2), lambda: 0.0)
        await asyncio.wait_for(asker.ask([make_question("slow"), make_question("quick")], MEMORY), 60)

    asyncio.run(ask())
    assert shelf.stored == ["quick", "slow"]

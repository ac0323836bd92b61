"""Asking a method: nothing lost, nothing guessed, nothing from the future."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, ClassVar

import pytest

from ray_tasks.errors import UsageError
from ray_tasks.evaluation.answers import ScoredAnswer
from ray_tasks.evaluation.metrics import CausalityError, EvidenceError
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.evaluation.runner import Evaluation, evaluate_questions
from ray_tasks.retrieval.types import Answer, Evidence, Question

MakeQuestion = Callable[..., BenchmarkQuestion]
MEMORY: Any = object()


class FakeMethod:
    """Answers with `choice`; fails for the ids in `failing`. Counts how it was asked."""

    name = "fake"

    def __init__(self, choice: str | None = "A", failing: frozenset[str] = frozenset(), **answer: Any) -> None:
        self.choice, self.failing, self.more = choice, failing, answer
        self.batches: list[int] = []
        self.alone: list[str] = []

    def reply(self, question: Question) -> Answer:
        if question.question_id in self.failing:
            raise RuntimeError("the engine is down")
        return Answer(question.question_id, self.choice, **({"evidence": ()} | self.more))

    def answer(self, question: Question, memory: object) -> Answer:
        self.alone.append(question.question_id)
        return self.reply(question)

    def answer_many(self, questions: list[Question], memory: object) -> list[Answer]:
        self.batches.append(len(questions))
        return [self.reply(question) for question in questions]


def ticking(step: float = 1.0) -> Callable[[], float]:
    """A clock that moves on by `step` seconds with every look at it."""
    ticks = count()
    return lambda: next(ticks) * step


def run(questions: list[BenchmarkQuestion], method: Any, **more: Any) -> Evaluation:
    return evaluate_questions(questions, MEMORY, method, clock=ticking(), **more)


def test_questions_are_asked_in_batches_and_kept_in_order(make_question: MakeQuestion) -> None:
    questions = [make_question(str(number)) for number in range(70)]
    method = FakeMethod()
    seen: list[ScoredAnswer] = []
    evaluation = run(questions, method, on_batch=lambda batch: seen.extend(batch.answers))
    assert (method.batches, method.alone) == ([32, 32, 6], [])
    assert [answer.question_id for answer in evaluation.answers] == [str(number) for number in range(70)]
    assert tuple(seen) == evaluation.answers
    assert (evaluation.overall.accuracy.percent, evaluation.unanswered, evaluation.failed_batches) == (100.0, 0, 0)
    assert (evaluation.wearer, evaluation.method, evaluation.benchmark) == ("B1_MARA", "fake", "egolifeqa")


def test_one_failing_question_costs_no_other(make_question: MakeQuestion) -> None:
    questions = [make_question(str(number)) for number in range(10)]
    method = FakeMethod(failing=frozenset({"3"}))
    evaluation = run(questions, method, batch_size=5)
    failed = evaluation.answers[3]
    assert (failed.predicted, failed.correct, failed.status) == (None, False, "error")
    assert failed.error == "RuntimeError: the engine is down"
    assert (evaluation.overall.n, evaluation.overall.accuracy.percent, evaluation.unanswered) == (10, 90.0, 1)
    assert (method.alone, evaluation.failed_batches) == (["0", "1", "2", "3", "4"], 1)


def test_an_engine_that_always_fails_scores_nothing_even_if_every_key_is_a(make_question: MakeQuestion) -> None:
    questions = [make_question(str(number), key="A") for number in range(8)]
    for method in (
        FakeMethod(failing=frozenset(str(number) for number in range(8))),
        FakeMethod(choice="A", status="error", text="rate limit"),
    ):
        evaluation = run(questions, method)
        assert evaluation.overall.accuracy.percent == 0.0
        assert [answer.status for answer in evaluation.answers] == ["error"] * 8
        assert (evaluation.overall.n, evaluation.unanswered) == (8, 8)


def test_answers_are_joined_by_id_and_never_by_position(make_question: MakeQuestion) -> None:
    questions = [make_question("1", key="A"), make_question("2", key="B")]

    class Backwards(FakeMethod):
        def answer_many(self, questions: list[Question], memory: object) -> list[Answer]:
            return [Answer("2", "B", ()), Answer("1", "A", ())]

    assert run(questions, Backwards()).overall.accuracy.percent == 100.0


@pytest.mark.parametrize("ids", [["1"], ["1", "1"], ["1", "2", "3"], ["1", "9"], []])
def test_a_batch_with_missing_or_foreign_answers_is_asked_again(make_question: MakeQuestion, ids: list[str]) -> None:
    class Wrong(FakeMethod):
        def answer_many(self, questions: list[Question], memory: object) -> list[Answer]:
            return [Answer(question_id, "D", ()) for question_id in ids]

    method = Wrong()
    evaluation = run([make_question("1"), make_question("2")], method)
    assert method.alone == ["1", "2"]
    assert evaluation.overall.accuracy.percent == 100.0


def test_a_batch_that_is_no_list_of_answers_is_asked_again(make_question: MakeQuestion) -> None:
    class Nothing(FakeMethod):
        def answer_many(self, questions: list[Question], memory: object) -> list[Answer]:
            return None  # type: ignore[return-value]

    assert run([make_question("1")], Nothing()).overall.accuracy.percent == 100.0


def test_an_answer_to_another_question_is_an_error(make_question: MakeQuestion) -> None:
    class Confused(FakeMethod):
        def reply(self, question: Question) -> Answer:
            return Answer("99", "A", ())

    (answer,) = run([make_question("1")], Confused()).answers
    assert (answer.status, answer.error) == ("error", "the method answered question 99 instead")


def test_future_evidence_ends_the_evaluation(make_question: MakeQuestion) -> None:
    item = Evidence("late", "action", 0, 1_001, "I find the key.", 1.0)
    with pytest.raises(CausalityError, match="question 1"):
        run([make_question("1", at_ms=1_000)], FakeMethod(evidence=(item,)))


def test_more_than_fifteen_items_end_the_evaluation(make_question: MakeQuestion) -> None:
    items = tuple(Evidence(str(number), "action", 0, 1, "", 1.0) for number in range(16))
    with pytest.raises(EvidenceError, match="16 evidence items"):
        run([make_question("1")], FakeMethod(evidence=items))


def test_a_method_that_this_memory_is_not_made_for_ends_the_evaluation(make_question: MakeQuestion) -> None:
    class Elsewhere(FakeMethod):
        def reply(self, question: Question) -> Answer:
            raise UsageError("the memory holds no records")

    with pytest.raises(UsageError, match="no records"):
        run([make_question("1"), make_question("2")], Elsewhere())


@pytest.mark.parametrize("way", ["answer", "answer_many"])
def test_a_rule_that_the_method_itself_finds_broken_is_not_swallowed(make_question: MakeQuestion, way: str) -> None:
    class Honest(FakeMethod):
        def reply(self, question: Question) -> Answer:
            raise CausalityError("something later was seen")

        def answer_many(self, questions: list[Question], memory: object) -> list[Answer]:
            if way == "answer":
                raise RuntimeError("no batches")
            return super().answer_many(questions, memory)

    with pytest.raises(CausalityError, match="something later"):
        run([make_question("1")], Honest())


def test_a_batch_shares_its_time_and_a_question_alone_has_its_own(make_question: MakeQuestion) -> None:
    questions = [make_question(str(number)) for number in range(4)]
    together = evaluate_questions(questions, MEMORY, FakeMethod(), clock=ticking(8.0))
    alone = evaluate_questions(questions, MEMORY, FakeMethod(), clock=ticking(8.0), batch_size=1)
    assert [answer.seconds for answer in together.answers] == [2.0] * 4
    assert [answer.seconds for answer in alone.answers] == [8.0] * 4
    assert together.seconds == 24.0


def test_repeated_ids_and_mixed_wearers_are_refused(make_question: MakeQuestion) -> None:
    with pytest.raises(ValueError, match="more than once: 1"):
        run([make_question("1"), make_question("1")], FakeMethod())
    with pytest.raises(ValueError, match="B1_MARA, B2_TOBI"):
        run([make_question("1"), make_question("2", wearer="B2_TOBI")], FakeMethod())
    with pytest.raises(ValueError, match="batch_size"):
        run([make_question("1")], FakeMethod(), batch_size=0)


def test_no_questions_are_an_empty_evaluation() -> None:
    evaluation = run([], FakeMethod())
    assert (evaluation.overall.n, evaluation.overall.accuracy.percent, evaluation.answers) == (0, None, ())


@pytest.mark.parametrize("fails", [False, True])
def test_a_method_is_prepared_for_many_batches_at_once_and_may_fail_at_it(
    make_question: MakeQuestion, fails: bool
) -> None:
    class Prepared(FakeMethod):
        told: ClassVar[list[list[str]]] = []

        def prepare(self, questions: Sequence[Question]) -> None:
            self.told.append([question.question_id for question in questions])
            if fails:
                raise RuntimeError("a text that cannot be embedded")

    Prepared.told.clear()
    questions = [make_question(str(number), at_ms=1_000_000 + number) for number in range(40)]
    evaluation = run(questions, Prepared(), batch_size=2)
    assert Prepared.told == [[str(number) for number in range(32)], [str(number) for number in range(32, 40)]]
    assert not any(answer.error for answer in evaluation.answers)

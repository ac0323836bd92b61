"""Examples of an invented memory."""

from __future__ import annotations

from ray_tasks.corpus.week_time import parse_week_time
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.retrieval.answer_features import FEATURES
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.weights import UNTRAINED
from ray_tasks.tuning.answer_examples import answer_examples, target_groups
from tests.retrieval.small_memory import Clip, a_week, ask, clock, embed, make_memory

AT = clock(3, 20, 0)


def entry(name: str, text: str, key: str | None, *targets: str) -> BenchmarkQuestion:
    question = ask(text, AT, "Mara", "Tobi", "Nuri", name=name)
    return BenchmarkQuestion(question, key, tuple(map(parse_week_time, targets)), "EventRecall", "EventRecall")


QUESTIONS = [
    entry("1", "Who repaired the lantern?", "A", clock(1, 10, 20)),
    entry("2", "Who opened the jar of honey?", "C", clock(3, 19, 10)),
    entry("3", "Who held the jar?", None, clock(3, 19, 10, 20)),
    entry("4", "Who opened the jar of  honey", "C", clock(1, 10, 20)),
    entry("5", "Who handed me the kite?", "B"),
]


def test_questions_of_one_target_or_one_text_are_one_group() -> None:
    groups = target_groups(QUESTIONS)
    assert groups[0] == groups[1] == groups[2] == groups[3]
    assert groups[4] != groups[0]


def test_examples_hold_every_feature_and_only_questions_with_a_key() -> None:
    memory, stranger = make_memory(a_week()), make_memory([Clip(clock(1, 9, 0), ("I row the boat",), ())])
    choices, searches = answer_examples(QUESTIONS, memory, embed, RetrievalSettings(), UNTRAINED, strangers=[stranger])
    assert [example.key for example in choices] == [0, 2, 2, 1]
    assert all(example.kind == "person" and set(example.features) == set(FEATURES["person"]) for example in choices)
    sorts = [search.sort for search in searches]
    assert sorts.count("asked as it is") == sorts.count("asked somebody else") == 5
    assert sorts.count("asked before its target") == 4
    assert all(search.found == (search.sort == "asked as it is") for search in searches)

"""Query variants."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.corpus.week_time import parse_week_time
from ray_tasks.retrieval.queries import asked_part, core_of, first_person, make_variants

AT = parse_week_time("DAY5 16300000")


@pytest.mark.parametrize(
    ("question", "core"),
    [
        ("When was the last time I used the egg timer?", "I used the egg timer"),
        ("Who helped Mara mend the net yesterday?", "helped Mara mend the net"),
        ("What were we doing the last time Tobi played the flute?", "Tobi played the flute"),
        ("The last time I opened the shed, who was there?", "I opened the shed"),
        ("What juice does Mara love?", "juice Mara love"),
        ("Now I am drying cups, when did I last wash the pan?", "I wash the pan"),
        ("Where was the blue marker in Nuri's hand before?", "the blue marker in Nuri's hand"),
        ("How many boxes of nails do we need?", "boxes of nails we need"),
        ("What are we planning to do in the barn?", "we planning to do in the barn"),
        ("Why did Tobi close the gate this morning?", "Tobi close the gate"),
        ("During the picnic, who slept?", "During the picnic, slept"),
        ("Mend the net", "Mend the net"),
    ],
)
def test_core_of_a_question(question: str, core: str) -> None:
    assert core_of(question, AT) == core


def test_what_is_told_before_a_question_is_not_asked() -> None:
    assert asked_part("I dry cups. Who washed them?") == "Who washed them?"
    assert asked_part("On the first day, when I was ill, who cooked?") == "who cooked?"
    assert asked_part("Who cooked when I was ill?") == "Who cooked when I was ill?"


def test_choices_that_are_times_or_empty_give_no_queries() -> None:
    variants = make_variants("When did we sing?", ("Yesterday morning", "", "At the harbour"), AT)
    assert variants.choices == ("", "", "At the harbour")
    assert variants.with_choice == ("", "", "When did we sing? At the harbour")


def test_me_is_the_first_person() -> None:
    assert first_person("Me, Tobi") == "I, Tobi"
    assert first_person("Some meat") == "Some meat"


@given(st.text(max_size=80), st.lists(st.text(max_size=20), max_size=5))
def test_any_text_gives_variants_of_the_same_number_as_choices(question: str, choices: list[str]) -> None:
    variants = make_variants(question, tuple(choices), AT)
    assert len(variants.with_choice) == len(variants.choices) == len(choices)

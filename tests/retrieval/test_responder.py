"""Answers made of evidence."""

from __future__ import annotations

from functools import lru_cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.agents import Reply
from ray_tasks.retrieval.answer_weights import UNTRAINED
from ray_tasks.retrieval.responder import RuleResponder
from ray_tasks.retrieval.types import Evidence, Question
from tests.retrieval.small_memory import CLIP_MS, Clip, ask, clock, embed, make_memory

CLIPS = [
    Clip(clock(1, 10, 0), ("Mara opens the jar of honey", "I hold the lid tightly"), ("Nuri: The lid is stuck.",)),
    Clip(clock(1, 10, 1), ("Tobi sweeps the terrace",), ("Tobi: Put the passport into the blue drawer.",)),
    Clip(clock(1, 15, 0), ("I buy three lemons and five onions at the market",), ()),
    Clip(clock(2, 10, 0), ("I peel the onions", "We sing a song"), ("Ines: Shall we dance on the roof?",)),
]
LATER = clock(2, 12, 0)


def evidence(*scores: float) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(str(i), "caption", clip.start_ms, clip.start_ms + CLIP_MS, "", score)
        for i, (clip, score) in enumerate(zip(CLIPS, scores, strict=False))
    )


@pytest.fixture(scope="module")
def memory() -> WearerMemory:
    return make_memory(CLIPS)


def reply(memory: WearerMemory, question: Question, items: tuple[Evidence, ...] | None = None) -> Reply:
    (answer,) = RuleResponder(embed).respond([question], [evidence(4, 3, 2, 1) if items is None else items], memory)
    return answer


@pytest.mark.parametrize(
    ("question", "choices", "label"),
    [
        ("Who opened the jar of honey?", ("Tobi", "Nuri", "Mara", "Me"), "C"),
        ("Who will hold the lid?", ("Tobi", "Nuri", "Mara", "Me"), "D"),
        ("Who said that the lid is stuck?", ("Tobi", "Nuri", "Mara"), "B"),
        ("Who asked to dance on the roof?", ("Tobi", "Nuri", "Me", "Mara"), "C"),
        ("Where is the passport?", ("On the roof", "In the blue drawer", "At the market"), "B"),
        ("How many lemons did I buy?", ("two", "5", "3", "seven"), "C"),
        ("How many onions did I buy at the market?", ("two", "7", "4", "five"), "D"),
        ("When did Mara open the jar?", ("This morning", "Yesterday morning", "Last night"), "B"),
    ],
)
def test_evidence_decides_by_kind_of_choice(
    memory: WearerMemory, question: str, choices: tuple[str, ...], label: str
) -> None:
    answer = reply(memory, ask(question, LATER, *choices))
    assert answer.choice == label
    assert answer.status == "answered"


def test_a_question_for_who_is_missing_turns_the_order_round(memory: WearerMemory) -> None:
    assert reply(memory, ask("Who opened the jar of honey?", LATER, "Mara", "Tobi")).choice == "A"
    assert reply(memory, ask("Who didn't open the jar of honey?", LATER, "Mara", "Tobi")).choice == "B"


def test_several_people_count_their_mean(memory: WearerMemory) -> None:
    choices = ("Tobi and Nuri", "Mara and me", "Tobi and me")
    assert reply(memory, ask("Who held the jar and its lid?", LATER, *choices)).choice == "B"


def test_names_written_without_a_separator_are_several_people(memory: WearerMemory) -> None:
    assert reply(memory, ask("Who held the jar and its lid?", LATER, "Tobi Nuri", "Mara Me", "Zoe Max")).choice == "B"


def test_where_no_window_holds_evidence_the_nearest_one_is_chosen(memory: WearerMemory) -> None:
    choices = ("Today at noon", "Yesterday in the evening", "Two hours ago")
    only_first = evidence(4)
    assert reply(memory, ask("When did Mara open the jar?", clock(2, 21, 0), *choices), only_first).choice == "B"


def test_the_order_of_choices_does_not_matter_even_where_all_are_alike(memory: WearerMemory) -> None:
    texts = ["Zebras", "Okapis", "Llamas"]
    for question in ("Who is it?", "Where is it?", "How many?"):
        chosen = set()
        for order in (texts, texts[::-1], texts[1:] + texts[:1]):
            asked = ask(question, LATER, *order)
            chosen.add(dict(asked.choices)[str(reply(memory, asked).choice)])
        assert len(chosen) == 1


def test_yes_and_no(memory: WearerMemory) -> None:
    assert reply(memory, ask("Did Tobi sweep the terrace?", LATER, "Yes", "No")).choice == "A"
    assert reply(memory, ask("Did the ship arrive at midnight?", LATER, "Yes", "No")).choice == "B"


def test_probabilities_cover_the_choices_in_their_order_and_sum_to_one(memory: WearerMemory) -> None:
    answer = reply(memory, ask("Where is the passport?", LATER, "On the roof", "In the blue drawer", ""))
    assert [label for label, _ in answer.probabilities] == ["A", "B", "C"]
    assert sum(chance for _, chance in answer.probabilities) == pytest.approx(1)
    assert min(answer.probabilities, key=lambda pair: pair[1])[0] == "C"


@pytest.mark.parametrize(
    "choices",
    [("", "", ""), ("same", "same"), ("only one",), ("4", "4.0", ""), ("7", "8"), ("?", "!"), ("Yes",), ("点", "半")],
)
@pytest.mark.parametrize("question", ["Who was it?", "How many?", "When was it?", "?"])
def test_odd_choices_still_give_exactly_one_of_the_labels(
    memory: WearerMemory, question: str, choices: tuple[str, ...]
) -> None:
    answer = reply(memory, ask(question, LATER, *choices))
    assert answer.choice in list("ABC"[: len(choices)])
    assert len(answer.probabilities) == len(choices)


def test_duplicates_share_their_chance(memory: WearerMemory) -> None:
    answer = reply(
        memory, ask("Where is the passport?", LATER, "In the blue drawer", "On the roof", "In the blue drawer")
    )
    chances = dict(answer.probabilities)
    assert chances["A"] == chances["C"] > chances["B"]
    assert answer.choice == "A"


def test_without_choices_the_best_sentences_answer(memory: WearerMemory) -> None:
    answer = reply(memory, ask("Where is the passport?", LATER))
    assert answer.choice is None
    assert answer.status == "answered"
    assert answer.text.startswith("Tobi: Put the passport into the blue drawer.; ")
    when = reply(memory, ask("When did Tobi sweep the terrace?", LATER))
    assert when.text.startswith("DAY1 10:01:00 Tobi sweeps the terrace; ")


def test_without_evidence_the_answer_is_declined(memory: WearerMemory) -> None:
    answer = reply(memory, ask("Where is the passport?", LATER, "Here", "There"), ())
    assert (answer.choice, answer.status) == (None, "declined")


def test_no_questions_give_no_replies(memory: WearerMemory) -> None:
    assert RuleResponder(embed).respond([], [], memory) == []


def test_evidence_of_an_unrecorded_moment_still_gives_one_of_the_labels(memory: WearerMemory) -> None:
    stray = (Evidence("x", "action", 0, 1000, "Something", 1.0),)
    for question, choices in (
        ("Who was it?", ("Mara", "Tobi")),
        ("Was it so?", ("Yes", "No")),
        ("How many?", ("2", "3")),
        ("Where was it?", ("Here", "There")),
        ("When was it?", ("Last night", "This morning")),
    ):
        assert reply(memory, ask(question, LATER, *choices), stray).choice in ("A", "B")


CHOICES = st.lists(
    st.sampled_from(["Mara", "Tobi and me", "Nuri, Zoe", "In the blue drawer", "", "3", "five", "在屋顶上"]),
    min_size=1,
    max_size=6,
)
QUESTIONS = (
    "Who usually sweeps the terrace?",
    "Who never opened the jar?",
    "Where is the passport?",
    "How many lemons did I buy?",
    "How many times did I peel onions?",
    "谁打开了罐子?",
)


@settings(max_examples=60, deadline=None)
@given(CHOICES, st.sampled_from(QUESTIONS), st.randoms())
def test_the_order_of_choices_changes_nothing_but_letters(choices: list[str], text: str, random: Random) -> None:
    memory = _memory()
    order = list(range(len(choices)))
    random.shuffle(order)
    before, after = (
        reply(memory, ask(text, LATER, *shown)) for shown in (choices, [choices[place] for place in order])
    )
    assert [chance for _, chance in after.probabilities] == [before.probabilities[place][1] for place in order]
    texts = dict(ask(text, LATER, *choices).choices)
    shuffled = dict(ask(text, LATER, *(choices[place] for place in order)).choices)
    assert texts[str(before.choice)] == shuffled[str(after.choice)]
    assert before.found == after.found


@lru_cache(maxsize=1)
def _memory() -> WearerMemory:
    return make_memory(CLIPS)


def test_a_habit_is_answered_by_all_days_and_not_by_the_best_moment() -> None:
    tea = [Clip(clock(day, 16, 0), ("Mara pours tea",), ()) for day in (1, 2, 3)]
    once = [Clip(clock(1, 18, 0), ("Tobi pours tea",), ())]
    other = [Clip(clock(day, 12, minute), ("I fold a towel",), ()) for day in (1, 2, 3) for minute in range(20)]
    memory = make_memory([*tea, *once, *other])
    items = tuple(
        Evidence(clip.at, "caption", clip.start_ms, clip.start_ms + CLIP_MS, "", 1.0) for clip in (*tea[:1], *once)
    )
    asked = ask("Who usually pours tea?", clock(3, 20, 0), "Tobi", "Mara")
    with_it, without = (
        RuleResponder(embed, UNTRAINED, aggregate=aggregate).respond([asked], [items], memory)[0]
        for aggregate in (True, False)
    )
    assert with_it.choice == "B"
    assert dict(with_it.probabilities)["B"] > dict(without.probabilities)["B"]


def test_how_often_is_counted_over_the_whole_memory() -> None:
    tea = [Clip(clock(day, 16, 0), ("Mara pours tea",), ()) for day in (1, 2, 3)]
    other = [Clip(clock(day, 12, minute), ("I fold a towel",), ()) for day in (1, 2, 3) for minute in range(20)]
    memory = make_memory([*tea, *other])
    items = (Evidence("x", "caption", tea[0].start_ms, tea[0].start_ms + CLIP_MS, "", 1.0),)
    (times,) = RuleResponder(embed).respond(
        [ask("How many times did Mara pour tea?", clock(3, 20, 0), "1", "two times", "3 times", "5")], [items], memory
    )
    assert times.choice == "C"
    (open_one,) = RuleResponder(embed).respond([ask("How often did Mara pour tea?", clock(3, 20, 0))], [items], memory)
    assert open_one.text.startswith("Counted 3 times (DAY1: 1, DAY2: 1, DAY3: 1); Mara pours tea")

"""Kinds of choices, people among them, and negation."""

from __future__ import annotations

import pytest

from ray_tasks.retrieval.choice_kinds import is_negated, kind_of, mentions, people_in
from tests.retrieval.small_memory import ask, clock

AT = clock(5, 16, 30)


@pytest.mark.parametrize(
    ("question", "choices", "kind"),
    [
        ("Who opened the jar?", ("Mara", "Tobi", "Me", "Nuri"), "person"),
        ("Whose boots are these?", ("Mara's", "Mine", "Tobi's", "Nuri's"), "person"),
        ("Which two people sang?", ("Mara and me", "Tobi, Nuri", "Mara, Nuri", "Me, Tobi"), "person"),
        ("Which of us sang?", ("Mara", "Me"), "person"),
        ("Who said what?", ("We sang all night long together", "We never came back again"), "other"),
        ("When did we sing?", ("Yesterday morning", "Last night", "This morning", "About two hours ago"), "time"),
        ("When did we sing?", ("Yesterday morning", "Last night", "This morning", "We didn't."), "time"),
        ("When did we sing?", ("Yesterday morning", "Last night", "Never", "We didn't."), "other"),
        ("How many boxes are left?", ("2", "3", "1", "4"), "count"),
        ("How many times did we sing?", ("4 times", "2 times", "once or 1 time", "3 times"), "count"),
        ("How long does it take?", ("30 minutes", "50 minutes"), "count"),
        ("Is the door open?", ("Yes", "No"), "yes_no"),
        ("Where is the tape?", ("In the shed", "On the roof", "", "Under the bed"), "other"),
        ("Where is the tape?", (), "other"),
        ("Where is the tape?", ("", "", ""), "other"),
    ],
)
def test_kind_of_choices(question: str, choices: tuple[str, ...], kind: str) -> None:
    assert kind_of(ask(question, AT, *choices)) == kind


@pytest.mark.parametrize(
    ("choice", "people"),
    [
        ("Mara", ("Mara",)),
        ("Mara's and me", ("Mara", "I")),
        ("Mine", ("I",)),
        ("Tobi,Nuri", ("Tobi", "Nuri")),
        ("Tobi, Nuri, and Mara", ("Tobi", "Nuri", "Mara")),
        ("Tobi & Tobi", ("Tobi",)),
        ("", ()),
    ],
)
def test_people_of_a_choice(choice: str, people: tuple[str, ...]) -> None:
    assert people_in(choice) == people


@pytest.mark.parametrize(
    ("person", "text", "view", "expected"),
    [
        ("Mara", "I hand Mara the spoon", "action", True),
        ("Mara", "A marathon begins", "action", False),
        ("I", "Tobi hands me the spoon", "action", True),
        ("I", "It is raining", "action", False),
        ("I", "Mara tells me: I am tired", "utterance", True),
        ("I", "Mara says: I am tired", "utterance", False),
        ("I", "Ines: Who is tired?", "utterance", True),
        ("Tobi", "Mara says: Tobi is tired", "utterance", True),
        ("O'Neil (Jr.)", "I see O'Neil (Jr.) wave", "action", True),
    ],
)
def test_mentions_of_a_person(person: str, text: str, view: str, expected: bool) -> None:
    assert mentions(person, text, view, "Ines") is expected


@pytest.mark.parametrize(
    ("question", "negated"),
    [
        ("Who didn't come?", True),
        ("Who is missing at dinner?", True),
        ("Who never sang?", True),
        ("Which of us did not eat?", True),
        ("Who came?", False),
        ("Who tied the knot?", False),
    ],
)
def test_negation(question: str, negated: bool) -> None:
    assert is_negated(ask(question, AT, "Mara", "Tobi")) is negated

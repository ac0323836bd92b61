"""Answers read from records, one way for each intent, and when the respond step has to decide."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ray_tasks.corpus.week_time import parse_week_time
from ray_tasks.extraction.records.types import Record
from ray_tasks.retrieval.imprint.decompose import Cues, decompose
from ray_tasks.retrieval.imprint.fields import Matcher, all_written, contains, names_all, people_of
from ray_tasks.retrieval.imprint.resolve import Evidenced, Resolved, resolve, told_by
from ray_tasks.retrieval.imprint.settings import ImprintSettings
from ray_tasks.retrieval.types import Question
from tests.retrieval.small_memory import ask, clock, embed, record

NOW = clock(3, 12, 0)


def at(day: int, hour: int, person: str, action: str, thing: str = "", **more: str) -> Record:
    """A record of a full hour."""
    return record(parse_week_time(clock(day, hour, 0)), person, action, thing, **more)


def read(
    question: Question, *records: Record, cues: Cues | None = None, theta: float = 0.6, share: float = 0.5
) -> Resolved | None:
    """What is read from records that are all shown, the first of them first."""
    company = [frozenset(people_of(one)) for one in records]
    found = Evidenced(records[:3], company, records, company, "Ines")
    settings = ImprintSettings(theta=theta, share=share)
    return resolve(question, cues or decompose(question, "Ines"), found, Matcher(embed).matches, settings)


def letter(question: Question, *records: Record, **told: float) -> str | None:
    """The label of what is read."""
    resolved = read(question, *records, **told)  # type: ignore[arg-type]
    return None if resolved is None else question.choices[resolved.best][0]


def test_when_is_the_option_whose_time_holds_the_first_record() -> None:
    question = ask("When did I last water the fern?", NOW, "Yesterday afternoon", "This morning", "Last night")
    assert letter(question, at(3, 9, "Ines", "water", "fern"), at(2, 15, "Ines", "water", "fern")) == "B"
    assert letter(question, at(2, 15, "Ines", "water", "fern")) == "A"
    assert letter(question, at(1, 10, "Ines", "water", "fern")) is None, "no option holds it"


def test_when_without_options_is_told_in_words() -> None:
    resolved = read(ask("When did I last water the fern?", NOW), at(2, 18, "Ines", "water", "fern"))
    assert resolved is not None
    assert resolved.text.startswith("yesterday evening")


def test_who_is_the_one_who_acts_unless_the_question_names_them() -> None:
    question = ask("Who repaired the lantern?", NOW, "Tobi", "Mara", "Me")
    assert letter(question, at(2, 9, "Mara", "repair", "lantern")) == "B"
    assert letter(question, at(2, 9, "Ines", "repair", "lantern")) == "C"
    assert letter(question, at(2, 9, "Nuri", "repair", "lantern")) is None
    given = ask("Who did Mara hand the lantern to?", NOW, "Tobi", "Mara", "Me")
    assert letter(given, at(2, 9, "Mara", "hand", "lantern", attributes="to Tobi")) == "A"


def test_where_is_the_location_of_the_first_member_that_has_one() -> None:
    question = ask("Where did I put the passport?", NOW, "In the blue drawer", "On the roof", "In the car")
    told = at(2, 9, "Ines", "put", "passport", location="drawer")
    assert letter(question, told) == "A"
    assert letter(question, at(3, 9, "Ines", "put", "passport"), told) == "A"
    assert letter(question, at(3, 9, "Ines", "put", "passport")) is None


def test_what_is_a_field_that_says_more_than_the_question() -> None:
    question = ask("What did I slice with the knife?", NOW, "Pineapple", "Bread", "The knife")
    assert letter(question, at(2, 9, "Ines", "slice", "ripe pineapple", tool="knife")) == "A"
    assert letter(question, at(2, 9, "Ines", "slice", "cheese", tool="knife")) is None


def test_a_match_below_theta_is_left_to_the_respond_step() -> None:
    question = ask("What did I slice?", NOW, "A sweet pineapple of the garden", "Bread")
    fruit = at(2, 9, "Ines", "slice", "pineapple garden fruit")
    assert letter(question, fruit, theta=1.0) is None
    assert letter(question, fruit, theta=0.3) == "A"


def test_options_that_are_told_alike_are_left_to_the_respond_step() -> None:
    question = ask("What did I buy?", NOW, "Bread group and cheese", "Bread group and milk")
    assert letter(question, at(2, 9, "Ines", "buy", "bread group")) is None


def test_company_is_who_was_there_most_often() -> None:
    question = ask("Who was with me when I sliced the pineapple?", NOW, "Tobi", "Mara", "Nuri, Tobi")
    records = [
        at(1, 9, "Ines", "slice", "pineapple", attributes="with Tobi"),
        at(2, 9, "Ines", "slice", "pineapple", attributes="with Tobi"),
        at(2, 10, "Ines", "slice", "pineapple", attributes="with Mara"),
    ]
    resolved = read(question, *records)
    assert resolved is not None
    assert question.choices[resolved.best][1] == "Tobi"
    assert resolved.basis in all_written(records, [frozenset(people_of(one)) for one in records])
    assert letter(question, *records, share=0.9) is None


def test_a_habit_is_the_majority() -> None:
    question = ask("Who usually waters the fern?", NOW, "Mara", "Tobi", "Me")
    records = [at(day, 9, person, "water", "fern") for day, person in ((1, "Mara"), (2, "Mara"), (2, "Tobi"))]
    assert letter(question, *records) == "A"
    assert letter(question, *records, share=0.7) is None
    drinks = ask("What do I usually drink in the kitchen?", NOW, "Tea", "Coffee")
    cups = [at(day, 9, "Ines", "drink", thing) for day, thing in ((1, "coffee"), (2, "hot coffee"), (3, "tea"))]
    assert letter(drinks, *cups) == "B"


@pytest.mark.parametrize(
    "text", ["Who did not water the fern?", "How many ferns did I water?", "Why did I water the fern?"]
)
def test_what_no_field_can_tell_is_left_to_the_respond_step(text: str) -> None:
    assert letter(ask(text, NOW, "Mara", "Tobi"), at(2, 9, "Mara", "water", "fern")) is None


def tells(question: Question, number: int, records: Sequence[Record]) -> str:
    """The field that tells an option."""
    return told_by(question, number, records, Matcher(embed).matches, "Ines", 0.6)


def test_an_option_is_told_by_a_field_that_is_not_the_questions_own() -> None:
    question = ask("What happened at the market?", NOW, "Hand out coins", "Buy fish", "At the market")
    coins = at(2, 9, "Ines", "give", "coins", location="market")
    assert tells(question, 0, [coins]) == "object: coins"
    assert tells(question, 1, [coins]) == ""
    assert tells(question, 2, [coins]) == ""
    when = ask("When was that?", NOW, "This morning", "Yesterday morning", "Two days ago")
    assert tells(when, 1, [coins]) == "time: DAY2 09:00:00"
    assert tells(when, 0, [coins]) == ""


def test_lemmas_of_one_text_inside_the_other_match() -> None:
    assert contains("Distribute coins", "coin")
    assert contains("drawer", "in the blue drawers")
    assert not contains("blue kite", "blue drawer")
    assert not contains("", "drawer")
    assert names_all("Mara and me", ["Ines", "Mara"], "Ines") == 1.0
    assert names_all("Mara, Tobi", ["Ines", "Mara"], "Ines") == 0.5
    assert names_all("", ["Ines"], "Ines") == 0.0

"""What questions ask of time."""

from __future__ import annotations

from datetime import date

import pytest

from ray_tasks.corpus.week_time import HOUR_MS, parse_week_time, week_ms
from ray_tasks.retrieval.time_query import Anchor, choice_windows, parse_time_query

AT = parse_week_time("DAY5 16300000")


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("When was the last time I watered the fern?", "latest"),
        ("Where did I last see the kite?", "latest"),
        ("Who used the drill most recently?", "latest"),
        ("Who was the last to leave?", "latest"),
        ("Who slept on the sofa last night?", "any"),
        ("What did we cook in the last two days?", "any"),
        ("When did we first talk about the boat?", "earliest"),
        ("Who originally owned the bicycle?", "earliest"),
        ("What did Tobi do on the first day?", "any"),
        ("Who lives on the first floor?", "any"),
        ("Who usually feeds the cat?", "habit"),
        ("How many times did Nuri sing?", "habit"),
        ("What does Mara like to drink?", "habit"),
        ("Who speaks the most at dinner?", "habit"),
        ("Who just handed me the spoon?", "recent"),
        ("What did Tobi say just now?", "recent"),
        ("What are we going to cook tomorrow?", "plan"),
        ("What should I buy?", "plan"),
        ("What does Mara plan to sew?", "plan"),
        ("Where is the tape?", "any"),
    ],
)
def test_intent_of_a_question(question: str, intent: str) -> None:
    assert parse_time_query(question, AT).intent == intent


@pytest.mark.parametrize(
    ("question", "anchor"),
    [
        ("What did I do after the last time I cut the bread?", Anchor("after", "I cut the bread")),
        ("Who held the rope before Tobi tied it?", Anchor("before", "Tobi tied it")),
        ("What were we doing the last time Mara laughed?", Anchor("during", "Mara laughed")),
        ("While I was mending the net, who came in?", Anchor("during", "I was mending the net")),
        ("What has Nuri drunk since we left the harbour?", Anchor("after", "we left the harbour")),
        ("Who cleaned the table after lunch?", None),
        ("When was the net mended?", None),
        ("Where was the tape before?", None),
    ],
)
def test_anchor_of_a_question(question: str, anchor: Anchor | None) -> None:
    assert parse_time_query(question, AT).anchor == anchor


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("When was the last time we danced?", True),
        ("At what time did Mara leave?", True),
        ("Who cooked when we danced?", False),
    ],
)
def test_questions_for_a_time_are_known(question: str, asks: bool) -> None:
    assert parse_time_query(question, AT).asks_when is asks


def test_windows_of_a_plan_are_kept_only_where_they_are_over() -> None:
    assert parse_time_query("What are we planning to do this afternoon?", AT).windows == ()
    (window,) = parse_time_query("What did we plan to cook yesterday?", AT).windows
    assert window.start_ms == week_ms(4)


def test_a_part_of_the_day_in_a_plan_is_the_coming_one_and_places_nothing() -> None:
    at = parse_week_time("DAY5 10000000")
    assert parse_time_query("What are we going to cook in the evening?", at).windows == ()
    (window,) = parse_time_query("What did we cook in the evening?", at).windows
    assert window.start_ms == week_ms(4, 17 * HOUR_MS)


def test_a_habit_at_a_part_of_the_day_is_one_of_every_day() -> None:
    windows = parse_time_query("Who usually waters the fern in the morning?", AT).windows
    assert [window.start_ms for window in windows] == [week_ms(day) for day in (1, 2, 3, 4, 5)]
    (window,) = parse_time_query("Who usually waters the fern this morning?", AT).windows
    assert window.start_ms == week_ms(5)
    (window,) = parse_time_query("Who spoke the most during breakfast?", AT).windows
    assert window.start_ms == week_ms(5, 6 * HOUR_MS)


def test_the_last_time_at_a_meal_may_be_on_any_day() -> None:
    windows = parse_time_query("Who sat beside me the last time we had dinner in the yard?", AT).windows
    assert [window.start_ms for window in windows] == [week_ms(day, round(16.5 * HOUR_MS)) for day in (1, 2, 3, 4, 5)]


def test_weekdays_need_the_date_of_the_first_day() -> None:
    wednesday = date(2024, 5, 1)
    assert parse_time_query("What did we cook on Friday?", AT).windows == ()
    (window,) = parse_time_query("What did we cook on Friday?", AT, wednesday).windows
    assert window.start_ms == week_ms(3)
    assert choice_windows("Thursday evening", AT) == ()
    assert len(choice_windows("Thursday evening", AT, wednesday)) == 1


def test_a_text_may_say_itself_which_weekday_it_is() -> None:
    (window,) = parse_time_query("Today is Sunday. What did we cook on Friday?", AT).windows
    assert window.start_ms == week_ms(3)


@pytest.mark.parametrize(
    "text", ["About four hours ago", "Yesterday morning", "The day before yesterday at noon.", "This morning"]
)
def test_a_choice_that_is_a_time_has_a_window(text: str) -> None:
    assert len(choice_windows(text, AT)) == 1


@pytest.mark.parametrize(
    "text",
    ["", "4", "In the kitchen", "We left the harbour this morning with the neighbours", "3 boxes", "It never happened"],
)
def test_a_choice_that_is_no_time_has_none(text: str) -> None:
    assert choice_windows(text, AT) == ()


def test_a_bare_part_of_the_day_as_choice_is_that_part_of_every_day() -> None:
    assert len(choice_windows("Morning", AT)) == 5
    assert len(choice_windows("Evening", AT)) == 4

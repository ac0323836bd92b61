"""Pieces, and the phrases that they form."""

from __future__ import annotations

from ray_tasks.retrieval.spoken_time.days import Today
from ray_tasks.retrieval.spoken_time.phrases import Phrase, find_phrases
from ray_tasks.retrieval.spoken_time.pieces import Piece, find_pieces

AT = 400_000_000


def pieces(text: str) -> list[Piece]:
    return find_pieces(text, AT, Today(5))


def phrases(text: str) -> list[Phrase]:
    return find_phrases(text, pieces(text))


def told(text: str) -> list[str]:
    return [text[phrase.start : phrase.end] for phrase in phrases(text)]


def test_a_day_a_part_and_a_clock_time_side_by_side_are_one_phrase() -> None:
    (phrase,) = phrases("who sang on the second day in the afternoon at 3 o'clock?")
    assert len(phrase.members) == 3
    assert told("who sang on the second day in the afternoon at 3 o'clock?") == [
        "on the second day in the afternoon at 3 o'clock"
    ]


def test_two_days_are_two_phrases_unless_they_are_a_range() -> None:
    assert len(phrases("yesterday and on day 2")) == 2
    assert len(phrases("between yesterday and day 2")) == 1
    assert phrases("from day 2 to day 3")[0].to is not None


def test_what_places_a_phrase_concerns_its_finest_piece() -> None:
    (phrase,) = phrases("right before lunch on day 2")
    lunch, day = phrase.members
    assert (lunch.relation, lunch.close, day.relation) == ("before", True, None)


def test_numbers_are_times_only_beside_what_makes_them_so() -> None:
    assert told("at 3?") == ["at 3"]
    assert told("i looked at two of them") == []
    assert told("between 10 and 11 people") == []
    assert told("between 10 and 11") == ["between 10 and 11"]


def test_things_named_after_meals_are_passed_over_and_the_future_is_kept_as_unknown() -> None:
    assert pieces("the dinner table") == []
    (piece,) = pieces("next evening")
    assert not piece.known

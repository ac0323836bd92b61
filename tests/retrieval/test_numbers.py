"""Numbers as people write them."""

from __future__ import annotations

import re

import pytest

from ray_tasks.retrieval.numbers import NUMBER, ORDINAL, counted_in, number_of, numbers_in, ordinal_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3.0),
        ("2.5", 2.5),
        ("seven", 7.0),
        ("twenty five", 25.0),
        ("a", 1.0),
        ("an", 1.0),
        ("half an", 0.5),
        ("half a", 0.5),
        ("5 and a half", 5.5),
        ("a couple of", 2.0),
        ("several", 4.0),
        ("Twelve", 12.0),
    ],
)
def test_amounts_are_read(text: str, value: float) -> None:
    assert number_of(text) == value
    assert re.fullmatch(NUMBER, text.lower())


@pytest.mark.parametrize("text", ["", "many", "one lemon", "2.5.1"])
def test_what_is_no_number_is_an_error_that_quotes_it(text: str) -> None:
    with pytest.raises(ValueError, match="not a number"):
        number_of(text)


@pytest.mark.parametrize(("text", "place"), [("the third day", 3), ("21st", 21), ("tenth", 10)])
def test_places_in_an_order_are_read(text: str, place: int) -> None:
    assert ordinal_of(text) == place
    assert re.search(ORDINAL, text)


def test_a_text_without_a_place_is_an_error() -> None:
    with pytest.raises(ValueError, match="not a place"):
        ordinal_of("some day")


def test_numbers_in_a_text_come_in_order_and_articles_do_not_count() -> None:
    assert numbers_in("A box of 2 and four more, not 3.5") == [2.0, 4.0, 3.5]
    assert numbers_in("someone often weighs a ton") == []


def test_what_is_counted_comes_with_its_number() -> None:
    assert counted_in("I buy three lemons and 5 red onions. Two!") == [
        (3.0, "lemons and"),
        (5.0, "red onions"),
        (2.0, ""),
    ]

"""Options with and without letters, and keys in letters and in words."""

from __future__ import annotations

import pytest

from ray_tasks.evaluation.lettered_options import read_key_or_text, read_options

OPTIONS = {"A": "in the shed", "B": "A. Milne", "C": "", "D": "in the shed"}


@pytest.mark.parametrize(
    ("raw", "options"),
    [
        (["A. red", "B) blue"], {"A": "red", "B": "blue"}),
        (["(a) red", "b： blue"], {"A": "red", "B": "blue"}),
        (["red", "blue"], {"A": "red", "B": "blue"}),
        (["A. Milne", "a rope"], {"A": "A. Milne", "B": "a rope"}),
        (["B. red", "A. blue"], {"A": "B. red", "B": "A. blue"}),
        ({"x": 2, "y": None}, {"A": "2", "B": ""}),
        ([], {}),
        ("A. red", {}),
        (None, {}),
    ],
)
def test_options_are_labelled_in_their_order(raw: object, options: dict[str, str]) -> None:
    assert read_options(raw) == options


@pytest.mark.parametrize(
    ("values", "key"),
    [
        (("B",), "B"),
        ((" (b) ",), "B"),
        (("B. something",), "B"),
        (("A. Milne",), "A"),
        (("E", "a. milne"), "A"),
        ((None, "", "D"), "D"),
        (("in the shed",), None),
        (("", None, 7), None),
    ],
)
def test_a_key_is_a_letter_or_the_text_of_exactly_one_option(values: tuple[object, ...], key: str | None) -> None:
    assert read_key_or_text(values, OPTIONS) == key

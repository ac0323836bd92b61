"""Capital and small letters beyond ASCII."""

from __future__ import annotations

import re

import pytest

from ray_tasks.extraction.letters import LOWER, UPPER, begins_name, has_case


@pytest.mark.parametrize("name", ["Mara", "Łukasz", "Zoë", "Özlem", "Đức", "Ирина", "Ελένη"])
def test_names_of_many_alphabets_are_a_capital_and_small_letters(name: str) -> None:
    assert re.fullmatch(f"[{UPPER}][{LOWER}]+", name)
    assert not re.fullmatch(f"[{UPPER}][{LOWER}]+", name.lower())
    assert has_case(name)


@pytest.mark.parametrize(
    ("word", "begins"),
    [("Mara", True), ("Émile", True), ("美玲", True), ("cup", False), ("3", False), ("", False), ("-", False)],
)
def test_what_may_begin_a_name(word: str, begins: bool) -> None:
    assert begins_name(word) is begins


def test_chinese_has_no_case() -> None:
    assert not has_case("美玲")

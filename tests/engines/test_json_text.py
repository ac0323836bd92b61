"""JSON that a model wrote: what is taken and what is not."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, RootModel

from ray_tasks.engines.json_text import decode, find_model, read_model
from ray_tasks.strict_json import MalformedJsonError
from tests.engines.asking import Greeting

GOOD = '{"word": "hi", "number": 2}'
WANTED = Greeting(word="hi", number=2)


class Nested(BaseModel):
    """A model that holds itself."""

    inner: Nested | None


class Numbers(RootModel[list[int]]):
    """A bare list."""


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_all_that_is_json_is_read(value: object) -> None:
    assert decode(f" {json.dumps(value)}\n") == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        (f"{GOOD} and more", "something follows"),
        (GOOD + GOOD, "something follows"),
        ('{"a": NaN}', "NaN is no number"),
        ('{"a": -Infinity}', "-Infinity is no number"),
        ('{"a": 1e999}', "too large"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "'c' is there twice"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        (f'{{"a": {"9" * 5000}}}', "limit"),
        ('{"a": "\\ud83d"}', "half a character"),
    ],
)
def test_what_readers_of_json_read_differently_is_refused(text: str, said: str) -> None:
    with pytest.raises(MalformedJsonError, match=said):
        decode(text)


def test_a_reply_must_be_of_the_model() -> None:
    assert read_model(f"\n {GOOD} ", Greeting) == WANTED
    with pytest.raises(MalformedJsonError, match=r"Greeting: number: Field required"):
        read_model('{"word": "hi"}', Greeting)
    with pytest.raises(MalformedJsonError, match=r"nested too deeply|recursion|not JSON"):
        read_model('{"inner":' * 600 + "null" + "}" * 600, Nested)


def test_an_error_does_not_repeat_the_text() -> None:
    with pytest.raises(MalformedJsonError) as caught:
        read_model(json.dumps({"word": 1, "number": "secret " * 999}), Greeting)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}```",
        f"Of course! Here it is:\n\n{GOOD}\n\nDo you want more?",
        f"The set {{a, b}} and [1] are none of it: {GOOD}",
        f'First {{"word": "hi"}}, then {GOOD}',
        f"{GOOD}\n\nAgain: {GOOD}",
        f'{{"note": "}}"}} {GOOD}',
        f"[[[{{{{ {GOOD}",
    ],
)
def test_json_is_found_among_prose_and_fences(text: str) -> None:
    assert find_model(text, Greeting) == WANTED


def test_braces_within_strings_do_not_end_an_object() -> None:
    word = 'a "quoted" } and { ``` and \\ too'
    text = f"Here: {json.dumps({'word': word, 'number': 1})} so."
    assert find_model(text, Greeting).word == word


def test_two_different_answers_are_none() -> None:
    with pytest.raises(MalformedJsonError, match="2 different answers"):
        find_model(f'{GOOD} or rather {{"word": "ho", "number": 2}}', Greeting)


def test_parts_of_a_greater_whole_are_not_answers() -> None:
    with pytest.raises(MalformedJsonError):
        find_model(f"[{GOOD}]", Greeting)


def test_a_bare_list_can_be_asked_for() -> None:
    assert find_model("The numbers: [1, 2]", Numbers).root == [1, 2]


@pytest.mark.parametrize(
    "text", ["no JSON at all", "", '{"word": "hi", "number": 2', "{" * 50_000, "[" * 50_000, "{[" * 50_000]
)
def test_texts_without_an_answer_are_refused_soon(text: str) -> None:
    started = time.monotonic()
    with pytest.raises(MalformedJsonError):
        find_model(text, Greeting)
    assert time.monotonic() - started < 30

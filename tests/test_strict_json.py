from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.strict_json import MalformedJsonError, parse_json, read_int

MALFORMED = {
    "empty": b"",
    "truncated": b'{"a": [1, 2',
    "two documents": b"{}{}",
    "null bytes": b"\0\0\0\0",
    "not UTF-8": b'{"a": "\xff"}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "not a number": b'{"a": NaN}',
    "infinite": b'{"a": -Infinity}',
    "too large": b'{"a": 1e999}',
    "too long": b'{"a": ' + b"9" * 5000 + b"}",
    "too deep": b"[" * 100_000,
    "deep and closed": b"[" * 5000 + b"]" * 5000,
    "half a character": b'{"a": "\\ud83d"}',
}


@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED.keys())
def test_whatever_is_wrong_is_one_error(data: bytes) -> None:
    with pytest.raises(MalformedJsonError):
        parse_json(data)


def test_what_is_well_formed_is_read() -> None:
    assert parse_json(b'\xef\xbb\xbf{"a": "\\ud83d\\ude00", "b": [1.5, -3, null]}') == {"a": "😀", "b": [1.5, -3, None]}


@given(st.binary())
def test_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        value = parse_json(data)
    except MalformedJsonError:
        return
    assert json.loads(data.decode("utf-8-sig")) == value


def test_an_endless_number_of_a_users_file_stays_a_text() -> None:
    assert json.loads("[12, " + "1" * 5000 + "]", parse_int=read_int) == [12, "1" * 5000]

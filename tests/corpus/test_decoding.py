"""Encodings: detected, or refused with a place, never turned into other characters."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.corpus.decoding import decode, is_bad

CUE = "1\n00:00:01,000 --> 00:00:02,000\nMara: 水开了\nMara: the water is boiling\n"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (CUE.encode("utf-8"), "utf-8"),
        (CUE.encode("utf-8-sig"), "utf-8"),
        (CUE.encode("gbk"), "gb18030"),
        (codecs.BOM_UTF16_LE + CUE.encode("utf-16-le"), "utf-16-le"),
        (codecs.BOM_UTF16_BE + CUE.encode("utf-16-be"), "utf-16-be"),
        (CUE.encode("utf-16-le"), "utf-16-le"),
        (CUE.encode("utf-16-be"), "utf-16-be"),
        (CUE.encode("utf-32"), "utf-32-le"),
    ],
)
def test_encodings_are_told_apart(data: bytes, encoding: str) -> None:
    decoded = decode(data)
    assert (decoded.text, decoded.encoding, decoded.bad_lines) == (CUE, encoding, {})


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CUE.replace("水开了", "水開了嗎我們去倉庫"), "big5"),
        (CUE.replace("水开了", "お湯が沸いた"), "shift_jis"),
        (CUE.replace("水开了", "お湯が沸いたから"), "euc_jp"),
        (CUE.replace("水开了", "물이 끓는다 지금 와"), "euc_kr"),
        (CUE.replace("水开了", "le café est prêt"), "cp1252"),
        (CUE.replace("水开了", "вода кипит"), "cp1251"),
    ],
)
def test_another_encoding_is_marked_bad_and_not_guessed(text: str, encoding: str) -> None:
    decoded = decode(text.encode(encoding))
    assert is_bad(decoded.text)
    assert 3 in decoded.bad_lines
    assert "Mara: the water is boiling" in decoded.text


def test_a_bad_byte_is_placed_by_line_and_offset() -> None:
    data = CUE.replace("boiling", "boi\x07ling").encode().replace(b"\x07", b"\xff")
    decoded = decode(data)
    assert decoded.encoding == "utf-8"
    assert decoded.bad_lines == {4: data.index(b"\xff")}
    assert "水开了" in decoded.text


def test_lines_of_bad_bytes_are_counted_alike_for_every_line_end() -> None:
    for end in ("\n", "\r\n", "\r", "\r\r\n"):
        data = f"一{end}二{end}三\x07{end}".encode().replace(b"\x07", b"\xfe")
        assert decode(data).bad_lines == {3: data.index(b"\xfe")}


def test_a_cut_last_unit_of_utf_16_is_reported() -> None:
    data = codecs.BOM_UTF16_LE + "水开了\n".encode("utf-16-le") + b"\x41"
    decoded = decode(data)
    assert decoded.text == "水开了\n"
    assert decoded.bad_lines == {2: len(data) - 1}


@given(st.binary(max_size=300))
def test_no_bytes_end_in_a_traceback(data: bytes) -> None:
    decoded = decode(data)
    assert is_bad(decoded.text) <= bool(decoded.bad_lines)


@given(st.text(max_size=200))
def test_every_text_in_utf_8_reads_as_itself(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    if not is_bad(text) and "\x00" not in text and not text.startswith("\ufeff"):
        assert decode(data).text == text

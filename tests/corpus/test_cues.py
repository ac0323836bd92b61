"""The grammar of subtitle files, and the places of what is broken in them."""

from __future__ import annotations

import pytest
import srt
from hypothesis import given, settings
from hypothesis import strategies as st

from ray_tasks.corpus.cues import read_cues

FIRST = "1\n00:00:01,000 --> 00:00:02,000\nMara: one\n\n"
THIRD = "3\n00:00:05,000 --> 00:00:06,000\nMara: three\n"


@pytest.mark.parametrize(
    ("stamp", "ms"),
    [
        ("00:00:03,250", 3_250),
        ("00:00:03.250", 3_250),
        ("00:00:03:250", 3_250),
        ("00.00.03.250", 3_250),
        ("00：00：03，250", 3_250),
        ("0:0:3,25", 3_250),
        ("00:00:03", 3_000),
        ("00:00:03,250999", 3_250),
        ("00:03.250", 3_250),
        ("23:59:59,999", 86_399_999),
    ],
)
def test_stamps_are_read_in_all_usual_spellings(stamp: str, ms: int) -> None:
    (cue,) = read_cues(f"1\n{stamp} --> {stamp}\nMara: two\n").cues
    assert (cue.start_ms, cue.end_ms) == (ms, ms)


@pytest.mark.parametrize(
    "header",
    [
        "00:00:xx,000 --> 00:00:04,000",
        "-00:00:03,000 --> 00:00:04,000",
        "00:61:03,000 --> 00:62:04,000",
        "00:00:75,000 --> 00:00:76,000",
        "24:00:00,000 --> 24:00:01,000",
        "99999999999:00:03,000 --> 00:00:04,000",
        "00:00:03,000 -> 00:00:04,000",
        "00:00:03,000 => 00:00:04,000",
        "00:00:03,000 -->",
        "--> 00:00:04,000",
        "00:00:03,000 00:00:04,000",
        "[00:00:03,000 --> 00:00:04,000]",
    ],
)
def test_an_unreadable_stamp_costs_its_cue_only(header: str) -> None:
    found = read_cues(f"{FIRST}2\n{header}\nMara: two\n\n{THIRD}")
    assert [cue.text for cue in found.cues] == ["Mara: one", "Mara: three"]
    assert [(broken.line, broken.reason) for broken in found.broken] == [(6, "bad_stamp")]
    assert found.found == 3


def test_the_first_and_the_last_cue_may_be_the_broken_one() -> None:
    found = read_cues(
        "1\n00:00:xx,000 --> 00:00:04,000\nMara: one\n\n" + THIRD + "\n4\n00:00:09,000 -> 1\nMara: four\n"
    )
    assert [cue.text for cue in found.cues] == ["Mara: three"]
    assert [broken.line for broken in found.broken] == [2, 10]


def test_a_cue_without_its_stamp_line_is_not_taken_for_its_neighbours_text() -> None:
    found = read_cues(FIRST + "2\nMara: two\n\n" + THIRD)
    assert [cue.text for cue in found.cues] == ["Mara: one", "Mara: three"]
    assert [(broken.line, broken.reason) for broken in found.broken] == [(5, "no_stamp")]


def test_a_number_after_a_blank_line_is_text_where_no_cue_is_missing() -> None:
    found = read_cues(FIRST.replace("one", "how many?\n\n2\nor more") + THIRD.replace("3\n", "2\n", 1))
    assert [cue.text for cue in found.cues] == ["Mara: how many?\n\n2\nor more", "Mara: three"]
    assert not found.broken


def test_an_empty_cue_without_a_blank_line_does_not_swallow_the_next() -> None:
    found = read_cues("1\n00:00:01,000 --> 00:00:02,000\n2\n00:00:03,000 --> 00:00:04,000\nMara: two\n\n" + THIRD)
    assert [(cue.number, cue.text) for cue in found.cues] == [(1, ""), (2, "Mara: two"), (3, "Mara: three")]


@pytest.mark.parametrize("settings_text", ["X1:10 X2:20 Y1:5 Y2:9", "align:start position:10%", "line:0"])
def test_settings_beside_a_stamp_are_not_text(settings_text: str) -> None:
    (cue,) = read_cues(f"1\n00:00:01,000 --> 00:00:02,000 {settings_text}\nMara: one\n").cues
    assert cue.text == "Mara: one"


def test_text_beside_a_stamp_is_text() -> None:
    (cue,) = read_cues("1\n00:00:01,000 --> 00:00:02,000 Mara: one\n").cues
    assert cue.text == "Mara: one"


def test_lines_of_cues_are_those_of_the_file() -> None:
    found = read_cues("\n\n" + FIRST.replace("one", "one\n\nmore") + "\n\n2\n00:00:03,000 --> 00:00:04,000\nTobi: two")
    assert [cue.line for cue in found.cues] == [4, 12]
    assert found.cues[0].last_line >= 7 < found.cues[1].last_line == 13


def test_text_outside_cues_is_told_by_its_line() -> None:
    assert read_cues("WEBVTT\n\n" + FIRST).stray_lines == [1]
    assert read_cues("just some notes\nof mine\n").stray_lines == [1]
    assert read_cues(" \n\n").found == 0


@pytest.mark.parametrize("text", ["9" * 50_000, "\n" * 100_000, "00:" * 20_000, "-" * 50_000 + ">", "1\n" * 20_000])
@pytest.mark.timeout(30)
def test_no_text_stalls_the_grammar(text: str) -> None:
    found = read_cues(FIRST + text + "\n\n" + THIRD)
    assert found.cues[-1].text == "Mara: three"


def test_a_huge_index_is_an_index() -> None:
    found = read_cues(FIRST + "9" * 6_000 + "\n00:00:03,000 --> 00:00:04,000\nMara: two\n\n" + THIRD)
    assert [cue.text for cue in found.cues] == ["Mara: one", "Mara: two", "Mara: three"]


def test_a_long_number_in_a_text_is_kept() -> None:
    number = "1234567890" * 4
    assert read_cues(FIRST.replace("one", number)).cues[0].text == f"Mara: {number}"


lines = st.text(st.characters(codec="utf-8", categories=("L", "P", "Zs")), min_size=1, max_size=20).filter(
    lambda text: bool(text.strip()) and ">" not in text
)
cues = st.lists(
    st.tuples(st.integers(0, 3_599_000), st.integers(0, 5_000), st.lists(lines, min_size=1, max_size=4)), max_size=8
)


@given(cues)
def test_what_the_library_writes_is_read_back(written: list[tuple[int, int, list[str]]]) -> None:
    subtitles = [
        srt.Subtitle(
            number, srt.timedelta(milliseconds=start), srt.timedelta(milliseconds=start + length), "\n".join(text)
        )
        for number, (start, length, text) in enumerate(written, 1)
    ]
    found = read_cues(srt.compose(subtitles, reindex=False, strict=False))
    assert [(cue.start_ms, cue.end_ms) for cue in found.cues] == [
        (start, start + length) for start, length, _ in written
    ]
    for cue, (_, _, text) in zip(found.cues, written, strict=True):
        assert "".join(cue.text.split()) == "".join("".join(text).replace("\u200b", "").split())
    assert not found.broken


@given(
    st.lists(
        st.sampled_from(["1", "2", "", "00:00:01,000 --> 00:00:02,000", "Mara: hello", "-->", "00:00", "\r", "7:"]),
        max_size=30,
    )
)
@settings(max_examples=200)
def test_no_mixture_of_lines_ends_in_a_traceback(content: list[str]) -> None:
    found = read_cues("\n".join(content))
    headers = sum(line == "00:00:01,000 --> 00:00:02,000" for line in content)
    assert found.found >= headers
    assert [cue.number for cue in found.cues] == sorted({cue.number for cue in found.cues})

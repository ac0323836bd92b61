"""Transcripts as they really come: one test for each kind of fault, with the right value."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ray_tasks.corpus.layout import SourceFile
from ray_tasks.corpus.srt_reader import LOOP_CUES, ReadFile, read_srt
from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS, SECOND_MS, week_ms

BASE = week_ms(1, 11 * HOUR_MS)
ReadSpeech = Callable[..., ReadFile]
FILE = SourceFile(Path("Transcript/P1_MARA/DAY1/P1_MARA_DAY1_11000000.srt"), "P1_MARA", 1, 11, "transcript", BASE)
Heard = list[tuple[int, int, str | None, str, str]]


def heard(read: ReadFile, base: int = BASE) -> Heard:
    """Observations as (start and end in ms from the hour, speaker, text, language)."""
    return [(row.start_ms - base, row.end_ms - base, row.speaker, row.text, row.lang) for row in read.observations]


def stamp(ms: int) -> str:
    return f"{ms // HOUR_MS:02d}:{ms // 60_000 % 60:02d}:{ms // SECOND_MS % 60:02d},{ms % SECOND_MS:03d}"


def srt(*cues: tuple[int, int, str]) -> str:
    """A well-formed file of (start ms, end ms, text)."""
    return "\n".join(
        f"{number}\n{stamp(start)} --> {stamp(end)}\n{text}\n" for number, (start, end, text) in enumerate(cues, 1)
    )


def test_a_byte_order_mark_costs_nothing(read_speech: ReadSpeech) -> None:
    read = read_speech(b"\xef\xbb\xbf" + srt((1_000, 2_000, "Mara: kettle on")).encode())
    assert heard(read) == [(1_000, 2_000, "Mara", "kettle on", "en")]
    assert read.ledger.to_json() == {"in": 1, "done": 1, "filtered": {}, "failed": {}, "notes": {}}
    assert read.problems == ()


def test_a_blank_line_inside_a_cue_loses_nothing(read_speech: ReadSpeech) -> None:
    read = read_speech(
        srt((5_000, 8_000, "Mara: the green crate\n\ngoes under the bench"), (9_000, 10_000, "Tobi: fine"))
    )
    assert heard(read) == [
        (5_000, 8_000, "Mara", "the green crate goes under the bench", "en"),
        (9_000, 10_000, "Tobi", "fine", "en"),
    ]


NUMBERS = srt((5_000, 6_000, "Tobi: how many seeds?"), (7_000, 8_000, "40"), (9_000, 10_000, "3\n2\n1"))
NUMBERS_HEARD = [
    (5_000, 6_000, "Tobi", "how many seeds?", "en"),
    (7_000, 8_000, None, "40", "und"),
    (9_000, 10_000, None, "3 2 1", "und"),
]


@pytest.mark.parametrize(
    "content",
    [
        NUMBERS,
        NUMBERS.rstrip(),
        NUMBERS.replace("\n", "\r\n"),
        NUMBERS.replace("\n", "\r"),
        NUMBERS.replace("\n\n", "\n"),
        NUMBERS.replace("\n\n", "\n").replace("\n", "\r\n"),
        NUMBERS.replace("\n\n", "\n \t\n"),
        NUMBERS.replace("\n\n", "\n\n\n\n"),
        "\ufeff" + NUMBERS,
    ],
    ids=[
        "plain",
        "no last line end",
        "CRLF",
        "CR",
        "no blank lines",
        "CRLF, no blank lines",
        "white blank lines",
        "many",
        "BOM",
    ],
)
def test_texts_that_are_numbers_are_no_indices(read_speech: ReadSpeech, content: str) -> None:
    read = read_speech(content)
    assert heard(read) == NUMBERS_HEARD
    assert read.ledger.taken == read.ledger.done == 3


def test_a_reversed_cue_is_a_point_and_a_short_one_keeps_its_milliseconds(read_speech: ReadSpeech) -> None:
    read = read_speech(
        srt((9_900, 9_100, "Mara: one"), (12_100, 12_800, "Mara: two"), (29_000, 41_000, "Mara: three")),
        limit_ms=30_000,
    )
    assert [(start, end) for start, end, *_ in heard(read)] == [(9_900, 9_900), (12_100, 12_800), (29_000, 30_000)]
    assert read.ledger.done == 3
    assert read.ledger.notes == {"reversed": 1, "clamped": 1}
    assert [problem.line for problem in read.problems] == [2, 10]
    assert "P1_MARA_DAY1_11000000.srt:2: ends before it starts" in str(read.problems[0])


def test_cues_past_their_hour_are_kept_where_they_land(read_speech: ReadSpeech) -> None:
    late, stray = 3_598_000, 2 * HOUR_MS + 45 * 60_000 + 33_900
    read = read_speech(srt((late, late + 5_500, "Ines: nearly done"), (stray, stray + 1_100, "Ines: hello")), hour=17)
    first, second = read.observations
    assert (first.start_ms, first.end_ms) == (week_ms(1, 17 * HOUR_MS + late), week_ms(1, 18 * HOUR_MS + 3_500))
    assert second.start_ms == week_ms(1, 19 * HOUR_MS + 45 * 60_000 + 33_900)
    assert read.ledger.done == 2
    assert read.ledger.notes == {"past_hour": 2, "starts_past_hour": 1, "stray": 1}
    assert [problem.kind for problem in read.problems] == ["stray"]


def test_a_cue_past_midnight_lands_on_the_next_day(read_speech: ReadSpeech) -> None:
    read = read_speech(srt((3_599_000, 3_602_000, "Ines: late"), (3_601_000, 3_603_000, "Ines: later")), hour=23)
    assert [(row.day, row.start_ms) for row in read.observations] == [(1, DAY_MS - 1_000), (2, DAY_MS + 1_000)]


def test_languages_go_by_script_and_not_by_place(read_speech: ReadSpeech) -> None:
    read = read_speech(
        srt(
            (1_000, 2_000, "Mara: 水开了\nMara: the water is boiling"),
            (3_000, 4_000, "Tobi: good\n托比: 好"),
            (5_000, 6_000, "Ines: 去仓库"),
        )
    )
    assert [row[2:] for row in heard(read)] == [
        ("Mara", "the water is boiling", "en"),
        ("Tobi", "good", "en"),
        ("Ines", "去仓库", "zh"),
    ]
    assert read.ledger.notes == {"bilingual": 2, "untranslated": 1}


def test_a_huge_cue_keeps_all_its_lines_and_its_span(read_speech: ReadSpeech) -> None:
    speakers = ["Mara", "Tobi", "Ines"] * 6
    lines = [f"{speaker}: line {number}" for number, speaker in enumerate(speakers)]
    read = read_speech(srt((10_000, 85_000, "\n".join(lines))))
    assert [f"{speaker}: {text}" for _, _, speaker, text, _ in heard(read)] == lines
    assert {(start, end) for start, end, *_ in heard(read)} == {(10_000, 85_000)}
    assert read.ledger.taken == read.ledger.done == 1


BILINGUAL = srt((1_000, 2_000, "Mara: 水开了\nMara: the water is boiling"), (3_000, 4_000, "Ines: 去仓库"))


@pytest.mark.parametrize("encoding", ["gbk", "utf-16", "utf-16-le", "utf-8-sig"])
def test_local_encodings_are_read_right(read_speech: ReadSpeech, encoding: str) -> None:
    read = read_speech(BILINGUAL.encode(encoding))
    assert [row[3] for row in heard(read)] == ["the water is boiling", "去仓库"]
    assert read.ledger.failed == {}


def test_a_bad_byte_costs_its_cue_only_and_is_placed(read_speech: ReadSpeech) -> None:
    data = BILINGUAL.encode().replace("水".encode(), "水".encode()[:2])
    read = read_speech(data)
    assert [row[3] for row in heard(read)] == ["去仓库"]
    assert read.ledger.failed == {"bad_bytes": 1}
    (problem,) = read.problems
    assert (problem.kind, problem.line) == ("bad_bytes", 2)
    assert f"byte {data.index('水'.encode()[:2])}" in problem.detail


def test_a_recogniser_loop_is_one_flagged_row(read_speech: ReadSpeech) -> None:
    loop = [(second * 1_000, second * 1_000 + 1_000, "海很蓝。") for second in range(40)]
    read = read_speech(srt(*loop, (40_000, 41_000, "Tobi: found it")))
    assert heard(read) == [(0, 40_000, None, "海很蓝。", "zh"), (40_000, 41_000, "Tobi", "found it", "en")]
    assert read.ledger.filtered == {"recogniser_loop": 39}
    assert read.ledger.done == 2
    assert read.observations[0].source.endswith("#1-40")
    assert "40 identical cues" in read.problems[0].detail


@pytest.mark.parametrize(
    ("count", "pause_ms", "kept"),
    [(3, 0, 3), (LOOP_CUES - 1, 0, LOOP_CUES - 1), (LOOP_CUES, 0, 1), (LOOP_CUES, 31_000, LOOP_CUES)],
)
def test_only_long_unbroken_repetition_is_a_loop(read_speech: ReadSpeech, count: int, pause_ms: int, kept: int) -> None:
    step = 1_000 + pause_ms
    read = read_speech(srt(*((number * step, number * step + 1_000, "Tobi: yes") for number in range(count))))
    assert len(read.observations) == kept
    assert read.ledger.taken == count


def test_a_loop_of_one_speaker_ends_where_another_says_the_same(read_speech: ReadSpeech) -> None:
    cues = [(second * 1_000, second * 1_000 + 900, "Tobi: yes" if second % 2 else "Mara: yes") for second in range(20)]
    assert len(read_speech(srt(*cues)).observations) == 20


def test_captions_of_what_is_seen_may_repeat(read_speech: ReadSpeech) -> None:
    read = read_speech(
        srt(*((second * 1_000, second * 1_000 + 1_000, "I walk.") for second in range(20))), kind="dense"
    )
    assert len(read.observations) == 20
    assert {(row.modality, row.speaker) for row in read.observations} == {("visual", None)}


def test_an_empty_file_is_empty_and_an_empty_cue_is_filtered(read_speech: ReadSpeech) -> None:
    empty = read_speech(b"")
    assert empty.ledger.to_json() == {"in": 0, "done": 0, "filtered": {}, "failed": {}, "notes": {"empty_file": 1}}
    assert [problem.kind for problem in empty.problems] == ["empty_file"]
    read = read_speech(srt((1_000, 2_000, "   "), (3_000, 4_000, "Mara: kettle on")))
    assert read.ledger.filtered == {"empty": 1}
    assert [row[3] for row in heard(read)] == ["kettle on"]


def test_sources_name_the_file_and_the_place_of_the_cue(read_speech: ReadSpeech) -> None:
    read = read_speech(srt((1_000, 2_000, "Mara: one"), (3_000, 4_000, "Mara: two\nTobi: three")))
    assert [row.source for row in read.observations] == [f"P1_MARA_DAY1_11000000.srt#{number}" for number in (1, 2, 2)]


def test_a_file_full_of_faults_names_some_and_counts_the_rest(read_speech: ReadSpeech) -> None:
    read = read_speech(
        srt(*((second * 1_000, second * 1_000 - 500, f"Mara: word {second}") for second in range(1, 51)))
    )
    assert read.ledger.done == 50
    assert read.ledger.notes == {"reversed": 50}
    assert len(read.problems) == 21
    assert "and 30 more" in str(read.problems[-1])


WHOLE = srt(
    (1_000, 2_000, "Mara: 水开了\nMara: the water is boiling"),
    (3_000, 4_000, "40"),
    (5_000, 6_000, "Tobi: <i>fine</i>\n\nInes: good"),
    (7_000, 9_000, "Ines: 去仓库"),
).encode()
damages = st.lists(
    st.tuples(
        st.integers(0, len(WHOLE)),
        st.integers(0, 12),
        st.one_of(st.binary(max_size=6), st.sampled_from([b"\n", b"-->", b"\r\n", b"0", b":"])),
    ),
    min_size=1,
    max_size=4,
)


@given(damages)
@settings(max_examples=300)
def test_whatever_is_damaged_the_books_balance_and_nothing_crashes(cuts: list[tuple[int, int, bytes]]) -> None:
    data = WHOLE
    for place, length, put in cuts:
        data = data[:place] + put + data[place + length :]
    read = read_srt(data, FILE)
    read.ledger.check("the damaged file")
    assert all(row.start_ms <= row.end_ms and row.text.strip() for row in read.observations)
    assert not any("\ud800" <= character <= "\udfff" for row in read.observations for character in row.text)
    assert all(str(problem) for problem in read.problems)

"""Malformed input of every kind, each beside a good neighbour: a counted skip or a named error, nothing else lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ray_tasks.corpus.layout import discover
from ray_tasks.corpus.observe import Observed, observe
from ray_tasks.corpus.problems import CorpusError, Problem
from ray_tasks.ledger import Ledger, merge_ledgers

WriteCorpus = Callable[[Mapping[str, str | bytes]], Path]
Outcome = tuple[Observed, Ledger, list[Problem]]

FILE = "Transcript/P1_MARA/DAY1/P1_MARA_DAY1_11000000.srt"
SYNC = "Sync/P1_MARA_DAY1_11000000.json"
NEIGHBOUR = "Transcript/P1_MARA/DAY1/P1_MARA_DAY1_12000000.srt"
GOOD = "1\n00:00:01,000 --> 00:00:02,000\nTobi: I am the neighbour\n"


@pytest.fixture
def read(write_corpus: WriteCorpus) -> Callable[[Mapping[str, str | bytes]], Outcome]:
    """Reads files beside a good one, checks that it survived and that all adds up, and gives what the others held."""

    def run(files: Mapping[str, str | bytes]) -> Outcome:
        layout = discover(write_corpus({NEIGHBOUR: GOOD, **files}))
        observed = observe(layout.files)
        neighbours = [row for row in observed.observations if "12000000" in row.source]
        assert [row.text for row in neighbours] == ["I am the neighbour"]
        observed.observations = [row for row in observed.observations if row not in neighbours]
        ledger = merge_ledgers(observed.ledgers.values())
        ledger.check("all files")
        ledger.taken, ledger.done = ledger.taken - 1, ledger.done - 1
        return observed, ledger, [*layout.problems, *observed.problems]

    return run


Read = Callable[[Mapping[str, str | bytes]], Outcome]


def cue(number: int, body: str, start: str = "00:00:03,000", end: str = "00:00:04,000") -> str:
    return f"{number}\n{start} --> {end}\n{body}\n\n"


def texts(observed: Observed) -> list[str]:
    return [row.text for row in observed.observations]


def test_byte_order_mark_in_the_middle_of_joined_files(read: Read) -> None:
    observed, ledger, problems = read({FILE: cue(1, "Mara: one") + "\ufeff" + cue(1, "Mara: two")})
    assert texts(observed) == ["one", "two"]
    assert (ledger.done, problems) == (2, [])


def test_mixed_line_ends(read: Read) -> None:
    observed, ledger, _ = read(
        {
            FILE: cue(1, "Mara: one").replace("\n", "\r\n")
            + cue(2, "Mara: two")
            + cue(3, "Mara: three").replace("\n", "\r")
        }
    )
    assert texts(observed) == ["one", "three", "two"]
    assert ledger.done == 3


def test_doubled_carriage_returns(read: Read) -> None:
    observed, ledger, problems = read(
        {FILE: (cue(1, "Mara: one\nMara: more") + cue(2, "Mara: two")).replace("\n", "\r\r\n")}
    )
    assert texts(observed) == ["one more", "two"]
    assert (ledger.taken, problems) == (2, [])


def test_missing_blank_lines(read: Read) -> None:
    observed, ledger, _ = read({FILE: (cue(1, "Mara: one") + cue(2, "Mara: two")).replace("\n\n", "\n")})
    assert texts(observed) == ["one", "two"]
    assert ledger.done == 2


def test_negative_duration(read: Read) -> None:
    observed, ledger, problems = read({FILE: cue(1, "Mara: one", "00:00:04,000", "00:00:03,500")})
    (row,) = observed.observations
    assert row.start_ms == row.end_ms
    assert ledger.notes["reversed"] == 1
    assert f"{FILE}:2" in str(problems[0])


def test_negative_stamp(read: Read) -> None:
    observed, ledger, problems = read({FILE: cue(1, "Mara: one", "-00:00:01,000") + cue(2, "Mara: two")})
    assert texts(observed) == ["two"]
    assert ledger.failed == {"bad_stamp": 1}
    assert f"{FILE}:2" in str(problems[0])


def test_empty_cues(read: Read) -> None:
    observed, ledger, problems = read({FILE: cue(1, "") + cue(2, " \t ") + cue(3, "Mara:") + cue(4, "Mara: four")})
    assert texts(observed) == ["four"]
    assert ledger.filtered == {"empty": 3}
    assert [problem.line for problem in problems] == [2, 6, 10]


def test_wrong_encoding(read: Read) -> None:
    data = cue(1, "Mara: the café is open").encode("cp1252") + cue(2, "Mara: two").encode()
    observed, ledger, problems = read({FILE: data})
    assert texts(observed) == ["two"]
    assert ledger.failed == {"bad_bytes": 1}
    place = data.index("é".encode("cp1252"))
    assert f"{FILE}:2" in str(problems[0]) and f"byte {place} " in str(problems[0])


def test_utf_16_cut_in_the_middle_of_a_character(read: Read) -> None:
    data = (cue(1, "Mara: 水开了") + "2\n00:00:05,000 --> 00:00:06,000\nMara: 好").encode("utf-16")
    observed, ledger, problems = read({FILE: data[:-1]})
    assert texts(observed) == ["水开了"]
    assert ledger.filtered == {"empty": 1}
    assert "utf-16-le" in str(problems[0])


def test_bytes_that_are_no_text(read: Read) -> None:
    observed, ledger, problems = read({FILE: bytes(range(128, 256)) * 40})
    assert texts(observed) == []
    assert ledger.failed == {"no_cue": 1}
    assert FILE in str(problems[0]) and "byte 0 " in str(problems[0])


def test_nul_bytes(read: Read) -> None:
    observed, ledger, _ = read({FILE: cue(1, "Mara: one\x00\x00") + "\x00" * 3 + cue(2, "Mara: t\x00wo")})
    assert texts(observed) == ["one", "two"]
    assert ledger.done == 2


def test_a_file_of_nul_bytes_only(read: Read) -> None:
    observed, ledger, problems = read({FILE: b"\x00" * 4096})
    assert (texts(observed), ledger.taken) == ([], 0)
    assert ledger.notes["empty_file"] == 1
    assert FILE in str(problems[-1])


def test_empty_file(read: Read) -> None:
    _, ledger, problems = read({FILE: b""})
    assert (ledger.taken, ledger.notes["empty_file"]) == (0, 1)
    assert FILE in str(problems[0])


def test_a_text_that_is_no_subtitle_file(read: Read) -> None:
    _, ledger, problems = read({FILE: "Dear diary,\ntoday I filled the jug.\n"})
    assert ledger.failed == {"no_cue": 1}
    assert f"{FILE}:1: no cue in the file" in str(problems[0])


def test_no_speaker(read: Read) -> None:
    observed, ledger, _ = read({FILE: cue(1, "at 19:30 we eat") + cue(2, "http://example.org: the seeds")})
    assert [(row.speaker, row.text) for row in observed.observations] == [
        (None, "at 19:30 we eat"),
        (None, "http://example.org: the seeds"),
    ]
    assert ledger.notes["no_speaker"] == 2


def test_an_hour_file_with_cues_past_the_hour(read: Read) -> None:
    observed, ledger, _ = read({FILE: cue(1, "Mara: late", "01:00:02,000", "01:00:03,000")})
    assert observed.touches[1, 12] == 2
    assert ledger.notes["starts_past_hour"] == 1


def test_a_stamp_of_another_day(read: Read) -> None:
    observed, ledger, problems = read({FILE: cue(1, "Mara: one", "31:00:00,000", "31:00:01,000") + cue(2, "Mara: two")})
    assert texts(observed) == ["two"]
    assert ledger.failed == {"bad_stamp": 1}
    assert FILE in str(problems[0])


def test_an_end_that_is_hours_away(read: Read) -> None:
    observed, ledger, problems = read({FILE: cue(1, "Mara: one", end="09:00:04,000")})
    (row,) = observed.observations
    assert row.end_ms == row.start_ms
    assert ledger.notes["implausible_end"] == 1
    assert FILE in str(problems[0])


def test_missing_index_numbers(read: Read) -> None:
    content = cue(1, "Mara: one") + cue(2, "40").removeprefix("2\n") + cue(3, "Mara: three").removeprefix("3\n")
    observed, ledger, problems = read({FILE: content})
    assert sorted(texts(observed)) == ["40", "one", "three"]
    assert (ledger.done, problems) == (3, [])


def test_wrong_and_repeated_index_numbers(read: Read) -> None:
    observed, ledger, _ = read(
        {FILE: cue(7, "Mara: one") + cue(7, "Mara: two") + cue(-3, "Mara: three") + cue(0, "Mara: four")}
    )
    assert sorted(texts(observed)) == ["four", "one", "three", "two"]
    assert ledger.done == 4


def test_huge_index(read: Read) -> None:
    observed, ledger, _ = read({FILE: cue(1, "Mara: one") + cue(2, "Mara: two").replace("2\n", "9" * 5_000 + "\n", 1)})
    assert sorted(texts(observed)) == ["one", "two"]
    assert ledger.done == 2


@pytest.mark.parametrize("arrow", ["->", "=>", "—>", "- ->", "to", "--"])
def test_bad_arrow(read: Read, arrow: str) -> None:
    observed, ledger, problems = read(
        {FILE: cue(1, "Mara: one") + cue(2, "Mara: two").replace("-->", arrow) + cue(3, "Mara: three")}
    )
    kept = texts(observed)
    assert {"one", "three"} <= set(kept) <= {"one", "two", "three"}
    assert ledger.taken == 3
    assert len(kept) == 3 or (ledger.failed == {"bad_stamp": 1} and f"{FILE}:6" in str(problems[0]))


def test_dots_for_commas_and_one_digit_fields(read: Read) -> None:
    observed, _, problems = read({FILE: cue(1, "Mara: one", "0:0:3.000", "0:0:4.5")})
    (row,) = observed.observations
    assert (row.end_ms - row.start_ms, problems) == (1_500, [])


def test_tabs_and_spaces_everywhere(read: Read) -> None:
    first = "\t1 \n\t00:00:03,000\t-->\t00:00:04,000 \n\tMara\t:\tone\u3000two\n \t\n"
    second = "  2\n 00:00:05,000 --> 00:00:06,000\nTobi: three"
    observed, ledger, problems = read({FILE: first + second})
    assert [(row.speaker, row.text) for row in observed.observations] == [("Mara", "one two"), ("Tobi", "three")]
    assert (ledger.done, problems) == (2, [])


def test_subtitle_tags(read: Read) -> None:
    observed, ledger, _ = read(
        {FILE: cue(1, "{\\an8}<i>Mara: <b>one</b></i>") + cue(2, '<font color="red">Tobi</font>: two < three')}
    )
    assert [(row.speaker, row.text) for row in observed.observations] == [("Mara", "one"), ("Tobi", "two < three")]
    assert ledger.notes["markup"] == 2


def test_the_header_of_another_subtitle_format(read: Read) -> None:
    observed, ledger, problems = read(
        {FILE: "WEBVTT\nKind: captions\n\n00:03.000 --> 00:04.000 align:start\nMara: one\n"}
    )
    assert texts(observed) == ["one"]
    assert ledger.notes["stray_text"] == 1
    assert f"{FILE}:1" in str(problems[0])


def test_a_folder_named_like_a_file(read: Read) -> None:
    _, ledger, problems = read({f"{FILE}/inside.srt": GOOD})
    assert ledger.taken == 0
    assert (problems[0].kind, problems[0].file) == ("not_a_file", FILE)


def test_unknown_day_label(read: Read) -> None:
    _, _, problems = read({FILE.replace("DAY1/", "SUNDAY/"): GOOD})
    assert problems[0].kind == "unknown_day"
    assert "SUNDAY" in str(problems[0])


def test_duplicate_file(read: Read) -> None:
    observed, ledger, problems = read(
        {FILE: cue(1, "Mara: one"), FILE.replace(".srt", ".mp4.srt"): cue(1, "Mara: one")}
    )
    assert texts(observed) == ["one"]
    assert ledger.taken == 1
    assert "duplicate_file" in {problem.kind for problem in problems}


def test_a_name_without_an_hour(read: Read) -> None:
    _, _, problems = read({FILE.replace("11000000", "evening"): GOOD})
    assert problems[0].kind == "unreadable_name"


def test_truncated_json(read: Read) -> None:
    clip = {
        "video_file": "DAY1_P1_MARA_11000000.mp4",
        "data": [{"start": 110001, "end": 110002, "text": "I sit.", "type": "caption"}],
    }
    observed, ledger, problems = read({SYNC: json.dumps([clip, clip])[:-9]})
    assert texts(observed) == ["I sit."]
    assert ledger.failed == {"damaged_json": 1}
    assert SYNC in str(problems[0])


def test_json_that_is_an_object(read: Read) -> None:
    _, ledger, problems = read({SYNC: '{"video_file": "DAY1_P1_MARA_11000000.mp4"}'})
    assert ledger.failed == {"not_a_list": 1}
    assert SYNC in str(problems[0])


def test_json_with_start_after_end_and_missing_text(read: Read) -> None:
    rows = [
        {"start": 110009, "end": 110002, "text": "I sit.", "type": "caption"},
        {"start": 110010, "end": 110012, "type": "caption"},
        {"start": 110013, "end": 110014, "text": "I stand.", "type": "caption"},
    ]
    observed, ledger, problems = read({SYNC: json.dumps([{"video_file": None, "data": rows}])})
    assert texts(observed) == ["I sit.", "I stand."]
    assert ledger.failed == {"bad_text": 1}
    assert any("row 1/1: ends before it starts" in str(problem) for problem in problems)
    assert any("row 1/2: text is None" in str(problem) for problem in problems)


def test_a_corpus_with_nothing_readable_is_refused_with_the_first_reason(write_corpus: WriteCorpus) -> None:
    with pytest.raises(CorpusError, match="evening"):
        discover(write_corpus({FILE.replace("11000000", "evening"): GOOD}))

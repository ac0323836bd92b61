"""The doctor's report: what is odd, file by file, in numbers and in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ray_tasks.corpus.doctor import find_gaps, inspect_corpus
from ray_tasks.corpus.doctor_text import render_report
from ray_tasks.corpus.layout import SourceFile
from ray_tasks.corpus.problems import CorpusError

WriteCorpus = Callable[[Mapping[str, str | bytes]], Path]

ODD = """1
00:00:01,000 --> 00:00:05,000
Mara: 水开了
Mara: the water is boiling

2
00:00:04,000 --> 00:00:04,500
Tobi: good

3
00:00:29,000 --> 00:00:31,000
Ines: 去仓库

4
00:00:28,000 --> 00:00:27,000
Ines: back

5
01:00:01,000 --> 01:00:02,000
40

6
05:00:01,000 --> 05:00:03,000
Ines: hello

7
00:00:50,000 --> 00:00:51,000


8
00:00:xx,000 --> 00:00:52,000
Ines: lost
"""
SYNC = json.dumps(
    [
        {
            "video_file": "DAY1_P1_MARA_11000200.mp4",
            "data": [
                {"start": 110004, "end": 110004, "text": "I fill the jug.", "type": "caption"},
                {"start": 110005, "end": 110007, "text": "Mara: the jug is full", "type": "transcript"},
            ],
        }
    ]
)
CORPUS = {
    "Transcript/P1_MARA/DAY1/P1_MARA_DAY1_11000000.srt": ODD,
    "Transcript/P1_MARA/DAY1/P1_MARA_DAY1_140000.srt": "1\n00:00:01,000 --> 00:00:02,000\nTobi: good\n",
    "Transcript/P1_MARA/DAY3/P1_MARA_DAY3_09000000.srt": "",
    "Transcript/P2_TOBI/DAY1/P2_TOBI_DAY1_14000000.srt": "1\n00:00:01,000 --> 00:00:02,000\nTobi: good\n",
    "Sync/P1_MARA_DAY1_11000000.json": SYNC,
}


def test_a_file_is_described_in_numbers(write_corpus: WriteCorpus) -> None:
    report = inspect_corpus(write_corpus(CORPUS))
    file = next(file for file in report.files if file.hour == 11 and file.kind == "transcript")
    assert (file.rows, file.longest_ms, file.encoding) == (8, 4_000, "utf-8")
    assert file.speakers == {"Ines": 3, "Mara": 1, "Tobi": 1}
    expected = {
        "overlap": 3,  # the second, the fourth, and the empty one after the stray
        "unsorted": 2,
        "crosses_window": 1,
        "zero_in_seconds": 2,
        "reversed": 1,
        "bilingual": 1,
        "untranslated": 1,
        "one_language_en": 3,
        "one_language_zh": 1,
        "one_language_und": 1,
        "no_speaker": 1,
        "past_hour": 2,
        "starts_past_hour": 2,
        "stray": 1,
        "filtered_empty": 1,
        "failed_bad_stamp": 1,
    }
    assert dict(file.counts) == expected
    assert {problem.kind: problem.line for problem in file.problems} == {
        "reversed": 15,
        "stray": 23,
        "empty_cue": 27,
        "bad_stamp": 31,
    }


def test_empty_files_differ_from_missing_ones(write_corpus: WriteCorpus) -> None:
    report = inspect_corpus(write_corpus(CORPUS))
    assert [(file.wearer, file.day, file.hour) for file in report.files if file.empty] == [("P1_MARA", 3, 9)]
    assert report.missing_days == [("P1_MARA", 2)]
    assert report.missing_hours == [("P1_MARA", 1, 12), ("P1_MARA", 1, 13)]


def test_files_with_the_same_content_are_named_together(write_corpus: WriteCorpus) -> None:
    report = inspect_corpus(write_corpus(CORPUS))
    assert [[label.split("/")[-1] for label in labels] for labels in report.same_content] == [
        ["P1_MARA_DAY1_140000.srt", "P2_TOBI_DAY1_14000000.srt"]
    ]


def test_sync_rows_are_counted_too(write_corpus: WriteCorpus) -> None:
    totals = inspect_corpus(write_corpus(CORPUS)).totals("sync")
    seen = {"files": 1, "rows": 2, "clips": 1, "zero_length": 1, "zero_in_seconds": 1}
    assert totals == {**seen, "filtered_superseded_by_transcript": 1}


def test_the_report_survives_json_and_says_all_in_words(write_corpus: WriteCorpus) -> None:
    report = inspect_corpus(write_corpus(CORPUS))
    data = json.loads(json.dumps(report.to_json()))
    assert data["totals"]["transcript"]["rows"] == 10
    assert data["missing_days"] == [["P1_MARA", 2]]
    assert len(data["files"]) == 5
    text = "\n".join(render_report(report))
    for words in (
        "Transcripts: 4 files, 10 cues",
        "Sync: 1 files, 2 rows",
        "10.0%  end before they start",
        "left out: bad stamp (failed)",
        "P1_MARA: 2 days (DAY1 to DAY3), 3 hours, 4 files, 11 rows, 3 speaker labels (3 used under five times)",
        "P1_MARA: no file at all on DAY2",
        "P1_MARA: DAY1 12 13",
        "P1_MARA_DAY1_11000000.srt:31: unreadable times",
        "breaks the naming rule",
    ):
        assert words in text


def test_many_problems_of_a_kind_are_cut_in_the_text(write_corpus: WriteCorpus) -> None:
    reversed_cues = "".join(f"00:00:09,000 --> 00:00:08,000\nMara: word {number}\n\n" for number in range(9))
    corpus = write_corpus({"Transcript/P1_MARA/DAY1/P1_MARA_DAY1_11000000.srt": reversed_cues})
    lines = render_report(inspect_corpus(corpus), problems_shown=2)
    assert sum("ends before it starts" in line for line in lines) == 2
    assert "  ... and 7 more of kind reversed" in lines


def test_a_clean_corpus_needs_no_mending(write_corpus: WriteCorpus) -> None:
    corpus = write_corpus(
        {"Transcript/P1_MARA/DAY1/P1_MARA_DAY1_11000000.srt": "1\n00:00:01,000 --> 00:00:02,500\nMara: one\n"}
    )
    assert render_report(inspect_corpus(corpus))[-1] == "Nothing that needs mending."


def test_progress_is_told_before_each_file(write_corpus: WriteCorpus) -> None:
    told: list[tuple[int, int, str]] = []

    def note(done: int, total: int, file: SourceFile) -> None:
        told.append((done, total, file.wearer))

    inspect_corpus(write_corpus(CORPUS), wearers=["P1_MARA"], progress=note)
    assert told == [(number, 4, "P1_MARA") for number in range(4)]


def test_days_that_were_not_asked_for_are_not_missing(write_corpus: WriteCorpus) -> None:
    corpus = write_corpus(CORPUS)
    assert inspect_corpus(corpus, days=["DAY1", "3"]).missing_days == []
    with pytest.raises(CorpusError, match="no recordings on DAY9"):
        inspect_corpus(corpus, days=[9])


def test_gaps_are_only_inside_what_was_recorded() -> None:
    hours = [("P1_MARA", 2, 9), ("P1_MARA", 2, 11), ("P1_MARA", 4, 23), ("P2_TOBI", 7, 1)]
    assert find_gaps(hours) == ([("P1_MARA", 3)], [("P1_MARA", 2, 10)])
    assert find_gaps([]) == ([], [])

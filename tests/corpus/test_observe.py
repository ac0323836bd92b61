"""All files of an hour together: what supersedes what, and where observations land."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from ray_tasks.corpus.layout import discover, plan_sources
from ray_tasks.corpus.observe import Observed, observe
from ray_tasks.corpus.week_time import HOUR_MS, week_ms
from ray_tasks.rows import OBSERVATION_SCHEMA, Observation, from_table, to_table

WriteCorpus = Callable[[Mapping[str, str | bytes]], Path]

TRANSCRIPT = "Transcript/P1_MARA/DAY1/P1_MARA_DAY1_11000000.srt"
DENSE = "DenseCaption/P1_MARA/DAY1/P1_MARA_DAY1_11000000.srt"
SYNC = "Sync/P1_MARA_DAY1_11000000.json"
SPOKEN_CUE = "1\n00:00:05,250 --> 00:00:07,000\nMara: the jug is full\n"
SEEN_CUE = "1\n00:00:04,000 --> 00:00:06,000\n我倒水\n"
SYNC_ROWS = json.dumps(
    [
        {
            "video_file": "DAY1_P1_MARA_11000200.mp4",
            "data": [
                {"start": 110004, "end": 110006, "text": "I fill the jug.", "type": "caption"},
                {"start": 110005, "end": 110007, "text": "Mara: the jug is full", "type": "transcript"},
            ],
        }
    ]
)


def look(corpus: Path) -> Observed:
    return observe(discover(corpus).files)


def seen_and_said(observed: Observed) -> list[tuple[str, str]]:
    return [(row.modality, row.text) for row in observed.observations]


def test_speech_comes_from_the_transcript_and_sight_from_sync(write_corpus: WriteCorpus) -> None:
    observed = look(write_corpus({TRANSCRIPT: SPOKEN_CUE, SYNC: SYNC_ROWS, DENSE: SEEN_CUE}))
    assert seen_and_said(observed) == [("visual", "I fill the jug."), ("speech", "the jug is full")]
    assert observed.observations[1].start_ms % 1000 == 250
    assert observed.ledgers["sync"].filtered == {"superseded_by_transcript": 1}
    assert observed.ledgers["dense"].filtered == {"superseded_by_sync": 1}
    assert observed.ledgers["transcript"].done == 1
    assert observed.clips == {
        "P1_MARA": {week_ms(1, 11 * HOUR_MS): (week_ms(1, 11 * HOUR_MS + 2_000), "DAY1_P1_MARA_11000200.mp4")}
    }


def test_without_a_transcript_the_spoken_rows_of_sync_are_used(write_corpus: WriteCorpus) -> None:
    assert seen_and_said(look(write_corpus({SYNC: SYNC_ROWS}))) == [
        ("visual", "I fill the jug."),
        ("speech", "the jug is full"),
    ]


def test_an_empty_transcript_does_not_silence_its_hour(write_corpus: WriteCorpus) -> None:
    observed = look(write_corpus({TRANSCRIPT: "", SYNC: SYNC_ROWS}))
    assert ("speech", "the jug is full") in seen_and_said(observed)
    assert [problem.kind for problem in observed.problems] == ["empty_file"]


def test_a_damaged_sync_file_does_not_blind_its_hour(write_corpus: WriteCorpus) -> None:
    observed = look(write_corpus({SYNC: "{", DENSE: SEEN_CUE}))
    assert [(row.text, row.lang, row.modality) for row in observed.observations] == [("我倒水", "zh", "visual")]
    assert observed.ledgers["sync"].failed == {"damaged_json": 1}


def test_an_hour_with_a_transcript_only_survives(write_corpus: WriteCorpus) -> None:
    other = TRANSCRIPT.replace("_11", "_12")
    observed = look(write_corpus({SYNC: SYNC_ROWS, other: SPOKEN_CUE}))
    assert observed.touches == {(1, 11): 2, (1, 12): 1}
    assert observed.ledgers["sync"].done == 2


def test_observations_past_the_hour_are_counted_where_they_land(write_corpus: WriteCorpus) -> None:
    late = "1\n01:00:05,250 --> 01:00:07,000\nMara: done\n"
    observed = look(write_corpus({TRANSCRIPT.replace("_11", "_23"): late}))
    assert observed.touches == {(2, 0): 1}
    assert observed.observations[0].day == 2


def test_each_hour_alone_gives_what_all_give_together(write_corpus: WriteCorpus) -> None:
    corpus = write_corpus({TRANSCRIPT: SPOKEN_CUE, SYNC: SYNC_ROWS, TRANSCRIPT.replace("_11", "_12"): SPOKEN_CUE})
    layout = discover(corpus)
    alone = [observe(files) for files in plan_sources(layout).values()]
    together = observe(tuple(reversed(layout.files)))
    assert [row for part in alone for row in part.observations] == together.observations
    assert sum((part.touches for part in alone[1:]), alone[0].touches) == together.touches


def test_a_file_that_vanished_fails_by_name_and_costs_no_neighbour(write_corpus: WriteCorpus) -> None:
    files = discover(write_corpus({TRANSCRIPT: SPOKEN_CUE, SYNC: SYNC_ROWS})).files
    next(file for file in files if file.kind == "transcript").path.unlink()
    observed = observe(files)
    assert len(observed.observations) == 2
    assert observed.ledgers["transcript"].failed == {"unreadable_file": 1}
    assert TRANSCRIPT in str(observed.problems[0])


def test_no_files_give_nothing() -> None:
    assert observe(()) == Observed()


@pytest.mark.parametrize("speakers", [(None, None), ("Tobi", None)])
def test_a_shard_without_speakers_has_the_schema_of_any_other(speakers: tuple[str | None, ...]) -> None:
    rows = [
        Observation("P1_MARA", 1, number, number + 1, "speech", speaker, "kettle on", "en", f"x.srt#{number}")
        for number, speaker in enumerate(speakers)
    ]
    table = to_table(rows, OBSERVATION_SCHEMA)
    assert table.schema == OBSERVATION_SCHEMA
    assert table.schema.field("speaker").type == pa.string()
    assert from_table(table, Observation) == rows

"""Sync files: clips in whole seconds of the clock, and what can be wrong with them."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from ray_tasks.corpus.sync import ReadSync
from ray_tasks.corpus.week_time import HOUR_MS, MINUTE_MS, SECOND_MS, week_ms

ReadClips = Callable[..., ReadSync]
VIDEO = "DAY1_P1_MARA_11094208.mp4"


def at(hour: int, minute: int = 0, second: int = 0, day: int = 1) -> int:
    return week_ms(day, hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS)


def row(start: object, end: object, text: object = "I fill the jug.", kind: object = "caption") -> dict[str, object]:
    return {"start": start, "end": end, "text": text, "type": kind}


def clip(*rows: object, video: object = VIDEO) -> dict[str, object]:
    return {"video_file": video, "data": list(rows)}


def texts(read: ReadSync) -> list[str]:
    return [observation.text for observation in read.observations]


def test_rows_become_observations_of_what_is_seen_and_said(read_clips: ReadClips) -> None:
    read = read_clips([clip(row(110943, 110945), row(110945, 110947, "Mara:  the jug is full", "transcript"))])
    seen, said = read.observations
    assert (seen.start_ms, seen.end_ms) == (at(11, 9, 43), at(11, 9, 45))
    assert (seen.modality, seen.speaker, seen.text, seen.lang) == ("visual", None, "I fill the jug.", "en")
    assert (said.modality, said.speaker, said.text) == ("speech", "Mara", "the jug is full")
    assert (seen.source, said.source) == ("P1_MARA_DAY1_11000000.json#1/1", "P1_MARA_DAY1_11000000.json#1/2")
    assert read.ledger.to_json() == {"in": 2, "done": 2, "filtered": {}, "failed": {}, "notes": {}}


def test_spoken_rows_give_way_to_a_transcript(read_clips: ReadClips) -> None:
    read = read_clips(
        [clip(row(110943, 110945), row(110945, 110947, "Mara: full", "transcript"))], speech_superseded=True
    )
    assert texts(read) == ["I fill the jug."]
    assert read.ledger.filtered == {"superseded_by_transcript": 1}


def test_the_video_of_a_clip_is_known_by_its_window(read_clips: ReadClips) -> None:
    read = read_clips([clip(row(110943, 110945)), clip(row(111001, 111002), video="DAY1_P1_MARA_11100000.mp4")])
    assert read.clips == {
        at(11, 9, 30): (at(11, 9, 42) + 400, VIDEO),
        at(11, 10): (at(11, 10), "DAY1_P1_MARA_11100000.mp4"),
    }


def test_of_two_videos_in_a_window_the_earlier_is_kept(read_clips: ReadClips) -> None:
    read = read_clips([clip(row(110955, 110956), video="DAY1_P1_MARA_11095500.mp4"), clip(row(110943, 110945))])
    assert read.clips == {at(11, 9, 30): (at(11, 9, 42) + 400, VIDEO)}


@pytest.mark.parametrize("video", [None, "clip.mp4", 7, "DAY1_P1_MARA_11996600.mp4"])
def test_a_clip_without_a_video_time_keeps_its_rows(read_clips: ReadClips, video: object) -> None:
    read = read_clips([clip(row(110943, 110945), video=video)])
    assert texts(read) == ["I fill the jug."]
    assert read.clips == {}
    assert read.ledger.notes == {"no_video_time": 1}


@pytest.mark.parametrize(
    ("hour", "value", "expected"),
    [
        (9, 90943, at(9, 9, 43)),
        (9, "090943", at(9, 9, 43)),
        (9, "90943", at(9, 9, 43)),
        (9, 90943.0, at(9, 9, 43)),
        (0, 943, at(0, 9, 43)),
        (0, 5, at(0, 0, 5)),
    ],
)
def test_times_may_lack_leading_zeros(read_clips: ReadClips, hour: int, value: object, expected: int) -> None:
    (seen,) = read_clips([clip(row(value, value))], hour=hour).observations
    assert seen.start_ms == expected


def test_a_row_within_one_second_stays_a_point(read_clips: ReadClips) -> None:
    read = read_clips([clip(row(110943, 110943))])
    assert [(seen.start_ms, seen.end_ms) for seen in read.observations] == [(at(11, 9, 43), at(11, 9, 43))]
    assert read.ledger.done == 1
    assert read.ledger.notes == {"zero_length": 1}


def test_a_row_past_midnight_lands_on_the_next_day(read_clips: ReadClips) -> None:
    read = read_clips([clip(row(235958, 3), row(2, 4))], hour=23)
    assert [(seen.day, seen.start_ms, seen.end_ms) for seen in read.observations] == [
        (1, at(23, 59, 58), at(0, 0, 3, day=2)),
        (2, at(0, 0, 2, day=2), at(0, 0, 4, day=2)),
    ]


def test_a_row_without_an_end_lasts_until_the_next_such_row(read_clips: ReadClips) -> None:
    endless = {"text": "I fill the jug.", "type": "caption"}
    read = read_clips([clip({**endless, "start": 110950}, {**endless, "start": 110943}, row(110944, 110945))])
    spans = sorted((seen.start_ms - at(11, 9), seen.end_ms - at(11, 9)) for seen in read.observations)
    assert spans == [(43_000, 50_000), (44_000, 45_000), (50_000, 60_000)]
    assert read.ledger.notes == {"assumed_end": 2}


def test_a_reversed_row_is_kept_as_a_point_and_named(read_clips: ReadClips) -> None:
    read = read_clips([clip(row(110950, 110943))])
    (seen,) = read.observations
    assert (seen.start_ms, seen.end_ms) == (at(11, 9, 50), at(11, 9, 50))
    assert "row 1/1: ends before it starts; kept as a point" in str(read.problems[0])


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (row(110943, 110945, None), "bad_text"),
        (row(110943, 110945, 7), "bad_text"),
        ({"start": 110943, "end": 110945, "type": "caption"}, "bad_text"),
        (row(110943, 110945, kind="subtitle"), "unknown_type"),
        (row(110943, 110945, kind=None), "unknown_type"),
        (row(110960, 110961), "bad_time"),
        (row("soon", 110945), "bad_time"),
        (row(None, 110945), "bad_time"),
        (row(True, 110945), "bad_time"),
        (row([110943], 110945), "bad_time"),
        (row(-110943, 110945), "bad_time"),
        (row(110943.5, 110945), "bad_time"),
        ("I fill the jug.", "bad_row"),
        (None, "bad_row"),
        ([], "bad_row"),
    ],
)
def test_a_bad_row_fails_with_its_place_and_costs_no_neighbour(read_clips: ReadClips, bad: object, reason: str) -> None:
    read = read_clips([clip(row(110943, 110945, "before"), bad, row(110946, 110947, "after"))])
    assert texts(read) == ["before", "after"]
    assert read.ledger.taken == 3
    assert read.ledger.failed == {reason: 1}
    assert "Sync/P1_MARA_DAY1_11000000.json: row 1/2:" in str(read.problems[0])


def test_a_row_of_white_space_is_filtered(read_clips: ReadClips) -> None:
    assert read_clips([clip(row(110943, 110945, " \n "))]).ledger.filtered == {"empty": 1}


@pytest.mark.parametrize("bad", [None, "clip", 7, {"video_file": VIDEO}, {"video_file": VIDEO, "data": {}}])
def test_a_bad_clip_fails_with_its_place_and_costs_no_neighbour(read_clips: ReadClips, bad: object) -> None:
    read = read_clips([bad, clip(row(110943, 110945))])
    assert texts(read) == ["I fill the jug."]
    assert read.ledger.failed == {"bad_clip": 1}
    assert "clip 1" in str(read.problems[0])


def test_of_a_truncated_file_the_whole_clips_are_read(read_clips: ReadClips) -> None:
    content = json.dumps([clip(row(110943, 110945, "first")), clip(row(110946, 110947, "second"))])
    read = read_clips(content[:-20])
    assert texts(read) == ["first"]
    assert read.ledger.failed == {"damaged_json": 1}
    assert "the JSON breaks off" in str(read.problems[0])
    assert "P1_MARA_DAY1_11000000.json" in str(read.problems[0])


@pytest.mark.parametrize("content", ["{}", '"clips"', "7", "null", '{"clips": []}'])
def test_a_file_that_is_no_list_is_refused_by_name(read_clips: ReadClips, content: str) -> None:
    read = read_clips(content)
    assert read.observations == ()
    assert read.ledger.failed == {"not_a_list": 1}
    assert "expected a list of clips" in str(read.problems[0])


@pytest.mark.parametrize("content", [b"", b" \n", b"[]"])
def test_nothing_to_read_is_no_failure(read_clips: ReadClips, content: bytes) -> None:
    read = read_clips(content)
    assert read.observations == ()
    assert read.ledger.taken == 0


def test_deep_nesting_is_damage_and_no_crash(read_clips: ReadClips) -> None:
    assert read_clips("[" * 200_000).ledger.failed == {"damaged_json": 1}


def test_a_byte_order_mark_and_a_bad_byte_are_handled(read_clips: ReadClips) -> None:
    content = json.dumps([clip(row(110943, 110945, "caf\x07"), row(110946, 110947, "after"))], ensure_ascii=False)
    read = read_clips(b"\xef\xbb\xbf" + content.replace("\\u0007", "\x07").encode().replace(b"\x07", b"\xe9"))
    assert texts(read) == ["after"]
    assert read.ledger.failed == {"bad_bytes": 1}


def test_a_number_without_end_costs_no_other_row(read_clips: ReadClips) -> None:
    text = json.dumps([clip(row(110943, 110945), row("LONG", 110945), row(110945, 110947, "I drink."))])
    read = read_clips(text.replace('"LONG"', "1" * 5000).encode())
    assert texts(read) == ["I fill the jug.", "I drink."]
    assert read.ledger.failed == {"bad_time": 1}

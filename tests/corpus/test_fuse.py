"""Fusion into 30-second captions: a partition of the observations, aligned with the clock."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.corpus.fuse import CLIP_MS, Clip, caption_id, fuse, window_start
from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, week_ms
from ray_tasks.rows import CAPTION_SCHEMA, Caption, Line, Modality, Observation, from_table, to_table


def at(hour: int, minute: int = 0, second: float = 0, day: int = 1) -> int:
    return week_ms(day, hour * HOUR_MS + minute * MINUTE_MS + int(second * SECOND_MS))


def row(
    start: int, end: int, text: str = "I fill the jug.", modality: Modality = "visual", speaker: str | None = None
) -> Observation:
    return Observation("P1_MARA", start // DAY_MS + 1, start, end, modality, speaker, text, "en", "x.srt#1")


def test_four_clips_with_a_gap_give_four_captions_and_nothing_between() -> None:
    starts = [at(11), at(11, 0, 30), at(13, 10), at(13, 10, 30)]
    clips = {start: Clip(start, f"{start}.mp4") for start in starts}
    captions = fuse([row(start + 1_000, start + 2_000) for start in starts], clips)
    assert [(caption.start_ms, caption.end_ms) for caption in captions] == [
        (start, start + CLIP_MS) for start in starts
    ]
    assert captions[1].end_ms == at(11, 1)


def test_a_line_over_a_border_belongs_to_the_clip_it_starts_in_and_extends_it() -> None:
    first, second = fuse([row(at(11, 0, 28), at(11, 0, 33)), row(at(11, 0, 30), at(11, 0, 31))], {})
    assert (first.start_ms, first.end_ms) == (at(11), at(11, 0, 33))
    assert (second.start_ms, second.end_ms) == (at(11, 0, 30), at(11, 1))


def test_a_caption_starts_with_its_video_where_that_is_known() -> None:
    clips = {at(11, 9, 30): Clip(at(11, 9, 42.4), "DAY1_P1_MARA_11094208.mp4")}
    (caption,) = fuse([row(at(11, 9, 43), at(11, 9, 44))], clips)
    assert (caption.start_ms, caption.end_ms) == (at(11, 9, 42.4), at(11, 10))
    assert caption.video_uri == "DAY1_P1_MARA_11094208.mp4"
    assert caption.caption_id == "P1_MARA:DAY1_11093000"


def test_a_line_before_the_video_is_inside_its_caption_all_the_same() -> None:
    clips = {at(11, 9, 30): Clip(at(11, 9, 42.4), "v.mp4")}
    (caption,) = fuse([row(at(11, 9, 35), at(11, 9, 36), "kettle on", "speech", "Mara")], clips)
    assert caption.start_ms == at(11, 9, 35)


def test_a_video_without_observations_has_no_caption() -> None:
    assert fuse([], {at(11): Clip(at(11), "v.mp4")}) == []


def test_the_text_has_one_line_for_each_observation_in_order_of_time() -> None:
    (caption,) = fuse(
        [
            row(at(11, 0, 9), at(11, 0, 10), "coming", "speech"),
            row(at(11, 0, 5), at(11, 0, 7), "the jug is full", "speech", "Mara"),
            row(at(11, 0, 5), at(11, 0, 7)),
            row(at(11, 0, 5), at(11, 0, 6), "fine", "speech", "Tobi"),
        ],
        {},
    )
    assert caption.text.split("\n") == ["Tobi: fine", "Mara: the jug is full", "I fill the jug.", "coming"]
    assert (caption.n_visual, caption.n_speech) == (1, 3)
    assert [line.speaker for line in caption.lines] == ["Tobi", "Mara", None, None]


def test_a_window_after_midnight_is_the_next_days() -> None:
    (caption,) = fuse([row(DAY_MS + 1_000, DAY_MS + 2_000)], {})
    assert (caption.day, caption.caption_id) == (2, "P1_MARA:DAY2_00000000")


def test_wearers_are_not_fused_together() -> None:
    other = Observation("P2_TOBI", 1, 0, 1, "speech", None, "hello", "en", "y.srt#1")
    with pytest.raises(ValueError, match="P1_MARA, P2_TOBI"):
        fuse([row(0, 1), other], {})


def test_captions_pass_through_parquet_tables_unchanged() -> None:
    captions = fuse([row(at(11), at(11, 0, 2)), row(at(11, 5), at(11, 5, 2), "fine", "speech", "Tobi")], {})
    table = to_table(captions, CAPTION_SCHEMA)
    assert table.schema == CAPTION_SCHEMA
    assert from_table(table, Caption) == captions


starts = st.integers(min_value=0, max_value=2 * DAY_MS)
observations = st.lists(
    st.builds(
        lambda start, length, text, speaker: row(
            start, start + length, text, "speech" if speaker else "visual", speaker or None
        ),
        st.one_of(starts, starts.map(window_start), st.integers(0, 3 * CLIP_MS)),
        st.one_of(st.just(0), st.integers(0, 90_000)),
        st.sampled_from(["kettle on", "the jug is full", "I walk."]),
        st.sampled_from(["", "Mara", "Tobi"]),
    ),
    max_size=40,
)
clip_starts = st.sets(starts, max_size=20).map(
    lambda found: {window_start(start): Clip(start, f"{start}.mp4") for start in sorted(found)}
)


@given(observations, clip_starts)
def test_every_observation_is_in_exactly_one_caption(rows: list[Observation], clips: dict[int, Clip]) -> None:
    captions = fuse(rows, clips)
    lines = [line for caption in captions for line in caption.lines]
    expected = [Line(r.start_ms, r.end_ms, r.modality, r.speaker, r.text, r.lang) for r in rows]
    assert sorted(lines, key=repr) == sorted(expected, key=repr)
    assert len({caption.caption_id for caption in captions}) == len(captions)
    assert all(caption.n_visual + caption.n_speech == len(caption.lines) > 0 for caption in captions)


@given(observations, clip_starts)
def test_captions_contain_their_lines_and_start_in_their_window(
    rows: list[Observation], clips: dict[int, Clip]
) -> None:
    for caption in fuse(rows, clips):
        window = window_start(caption.start_ms)
        assert caption.caption_id == caption_id("P1_MARA", window)
        assert caption.end_ms >= window + CLIP_MS
        for line in caption.lines:
            assert caption.start_ms <= line.start_ms <= line.end_ms <= caption.end_ms
            assert window_start(line.start_ms) == window
        assert caption.end_ms == max(window + CLIP_MS, *(line.end_ms for line in caption.lines))


@given(observations, clip_starts, st.randoms(use_true_random=False))
def test_the_order_of_the_input_makes_no_difference(
    rows: list[Observation], clips: dict[int, Clip], chance: random.Random
) -> None:
    shuffled = list(rows)
    chance.shuffle(shuffled)
    assert fuse(shuffled, clips) == fuse(rows, clips)

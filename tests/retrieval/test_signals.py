"""Signals and their fusion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.index.memory import MemoryMismatchError
from ray_tasks.retrieval.fusion import best_clips, content_scores, time_scores
from ray_tasks.retrieval.signals import measure, z_scores
from ray_tasks.retrieval.types import Question
from ray_tasks.retrieval.weights import UNTRAINED, FusionWeights, Over, Signal, Term, Variant
from tests.retrieval.small_memory import DIMENSION, Clip, Coarse, a_week, ask, clock, embed, make_memory

OVERS: tuple[Over, ...] = ("max", "mean")
EVERYTHING = replace(
    UNTRAINED,
    closeness=0.1,
    terms=tuple(
        Term(signal, variant, 1.0, over, reach)
        for signal in get_args(Signal)
        for variant in get_args(Variant)
        for over in OVERS
        for reach in (0, 2)
    ),
)


def total(question: Question, weights: FusionWeights = UNTRAINED) -> np.ndarray:
    (measured,) = measure([question], make_memory(a_week()), embed, weights.columns)
    return content_scores(measured, weights) + time_scores(measured, weights, 0.99)


def starts(scores: np.ndarray, k: int) -> list[int]:
    table = make_memory(a_week()).captions
    return [int(table.start_ms[clip]) for clip in best_clips(scores, k)]


@given(st.lists(st.floats(-5, 5) | st.just(float("nan")), max_size=30))
def test_z_scores_are_clipped_and_unknown_values_are_zero(values: list[float]) -> None:
    scores = z_scores(np.array(values))
    assert np.isfinite(scores).all()
    assert ((scores >= -4) & (scores <= 12)).all()
    assert (scores[np.isnan(values)] == 0).all()


def test_z_scores_of_equal_values_are_zero() -> None:
    assert z_scores(np.array([2.0, 2.0, 2.0])).tolist() == [0, 0, 0]
    assert z_scores(np.zeros(0)).shape == (0,)


def test_every_signal_covers_the_visible_clips_and_no_other() -> None:
    memory = make_memory(a_week())
    questions = [ask("Who repaired the lantern?", at, "Mara", "Tobi") for at in (clock(1, 10, 30), clock(3, 20, 0))]
    for measured, n in zip(measure(questions, memory, embed, EVERYTHING.columns), (60, 960), strict=True):
        assert measured.visible == n
        assert {column.shape for column in measured.columns.values()} == {(n,)}


def test_the_event_asked_for_ranks_first() -> None:
    first = starts(total(ask("Who repaired the lantern?", clock(3, 20, 0), "Mara", "Tobi")), 1)
    assert first == [make_memory(a_week()).captions.start_ms[40]]


def test_a_later_occurrence_ranks_before_an_equal_earlier_one_and_the_other_way_for_the_first() -> None:
    late = starts(total(ask("When was the last time I sliced the pineapple?", clock(3, 20, 0))), 1)
    assert late == [ask("", clock(2, 15, 10)).at_ms]
    first = ask("When did I first slice the pineapple?", clock(3, 20, 0), "Two days ago in the evening", "This morning")
    assert starts(total(first), 1) == [ask("", clock(1, 19, 5)).at_ms]


def test_clips_outside_the_windows_named_by_the_question_or_by_the_choices_sink() -> None:
    named = ask("Who sliced the pineapple in the kitchen on the first day?", clock(3, 20, 0))
    assert starts(total(named), 1) == [ask("", clock(1, 19, 5)).at_ms]
    choices = ("Two days ago in the evening", "On the first day at noon", "On the first day in the morning")
    offered = ask("When did I slice the pineapple?", clock(3, 20, 0), *choices)
    assert starts(total(offered), 1) == [ask("", clock(1, 19, 5)).at_ms]


def test_hidden_choices_change_nothing() -> None:
    memory = make_memory(a_week())
    one = ask("Where is the passport?", clock(3, 20, 0), "In the blue drawer", "On the roof", "Yesterday", "Last night")
    (with_them,) = measure([one], memory, embed, UNTRAINED.columns, use_choices=False)
    (without,) = measure([replace(one, choices=())], memory, embed, UNTRAINED.columns)
    for key, column in without.columns.items():
        assert np.array_equal(with_them.columns[key], column)


def later_rows(at: int) -> tuple[list[Clip], list[Coarse]]:
    """What would change every statistic if it were looked at: what is asked for, over and over, after the question."""
    told = "Mara repairs the lantern with a screwdriver"
    clips = [
        Clip(clock(3, 15 + minute // 60, minute % 60, 30), (told, told), (f"Tobi: {told}",)) for minute in range(290)
    ]
    wide = [Coarse(view, at - 3_600_000, at + 1 + n, told) for n, view in enumerate(("activity", "conversation") * 20)]
    return [clip for clip in clips if clip.start_ms + 30_000 > at], wide


def columns_of(clips: Iterable[Clip], coarse: Iterable[Coarse], question: Question) -> dict[object, np.ndarray]:
    (measured,) = measure([question], make_memory(clips, coarse), embed, EVERYTHING.columns)
    columns: dict[object, np.ndarray] = dict(measured.columns.items())
    columns["total"] = content_scores(measured, EVERYTHING) + time_scores(measured, EVERYTHING, 0.99)
    return columns


def test_no_signal_changes_by_a_bit_whatever_is_recorded_after_the_question() -> None:
    question = ask("Now I rest, who repaired the lantern with a screwdriver?", clock(3, 15, 7), "Mara", "Tobi", "Nuri")
    at = question.at_ms
    past = [clip for clip in a_week() if clip.start_ms + 30_000 <= at]
    seen = [Coarse(view, at - 7_200_000, at - 60_000, "Mara repairs things") for view in ("activity", "conversation")]
    clips, wide = later_rows(at)
    alone = columns_of(past, seen, question)
    others = [clip for clip in a_week() if clip.start_ms + 30_000 > at and clip.at not in {c.at for c in clips}]
    beside = columns_of([*past, *clips, *others], [*seen, *wide], question)
    assert alone.keys() == beside.keys()
    for column, values in alone.items():
        assert np.array_equal(values, beside[column]), column


def test_a_question_in_a_batch_has_the_bits_it_has_alone() -> None:
    memory = make_memory(a_week())
    asked = [
        ask("Who repaired the lantern?", clock(2, 11, 0), "Mara", "Tobi"),
        ask("Where is the passport?", clock(3, 20, 0), "In the blue drawer", "On the roof"),
        ask("When did I last slice the pineapple?", clock(3, 16, 0), "Yesterday", "Today", "Two days ago"),
    ]
    for question, together in zip(asked, measure(asked, memory, embed, EVERYTHING.columns), strict=True):
        (alone,) = measure([question], memory, embed, EVERYTHING.columns)
        for column, values in alone.columns.items():
            assert np.array_equal(values, together.columns[column]), column


def test_only_the_columns_named_are_measured() -> None:
    (measured,) = measure([ask("Who?", clock(3, 20, 0))], make_memory(a_week()), embed, UNTRAINED.columns)
    assert set(measured.columns) == set(UNTRAINED.columns)


def test_speech_and_sight_are_told_apart() -> None:
    memory = make_memory(a_week())
    question = ask("Who said that the kite needs a longer string?", clock(3, 20, 0))
    (measured,) = measure([question], memory, embed, EVERYTHING.columns)
    spoken = int(np.argmax(measured.columns["said_words", "core", "max", 0]))
    assert memory.captions.start_ms[spoken] == ask("", clock(2, 11, 30)).at_ms
    silent = [not clip.said for clip in a_week()]
    assert not measured.columns["said", "core", "max", 0][silent].any()


def test_words_that_one_row_holds_together_count_more_than_scattered_ones() -> None:
    clips = [
        Clip(clock(1, 10, 0), ("I fold the blue towel", "Tobi finds a drawer")),
        Clip(clock(1, 10, 1), ("I close the blue drawer", "Tobi folds a towel")),
        Clip(clock(1, 10, 2), ("Mara waits", "Nuri waits")),
    ]
    asked = ask("Who closed the blue drawer?", clock(1, 12, 0))
    (measured,) = measure([asked], make_memory(clips), embed, EVERYTHING.columns)
    first, second, none = measured.columns["row_words", "core", "max", 0]
    assert second > first > none


def test_ties_go_to_the_earlier_clip() -> None:
    assert best_clips(np.array([1.0, 3.0, 3.0, 2.0]), 3).tolist() == [1, 2, 3]
    assert best_clips(np.zeros(0), 3).tolist() == []


@given(st.lists(st.integers(0, 5), max_size=30), st.integers(1, 35))
def test_the_best_clips_are_those_of_a_whole_sort(values: list[int], k: int) -> None:
    scores = np.array(values, np.float64)
    assert best_clips(scores, k).tolist() == sorted(range(len(values)), key=lambda clip: (-values[clip], clip))[:k]


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=300))
def test_z_scores_have_the_bits_of_mean_and_standard_deviation(values: list[float]) -> None:
    known = np.array(values)
    deviation = float(known.std())
    expected = np.clip((known - known.mean()) / deviation, -4, 12) if deviation > 1e-9 else np.zeros(len(known))
    assert np.array_equal(z_scores(known), expected)
    with_gaps = np.concatenate([[np.nan], known, [np.nan]])
    assert np.array_equal(z_scores(with_gaps), np.concatenate([[0], expected, [0]]))


def test_an_embedder_of_another_dimension_is_refused_with_both_sizes() -> None:
    memory = make_memory(a_week()[:3])

    def other(texts: list[str]) -> np.ndarray:
        return np.ones((len(texts), 7), np.float32)

    with pytest.raises(MemoryMismatchError, match=rf"7.*{DIMENSION}"):
        list(measure([ask("Who?", clock(1, 12, 0))], memory, other, UNTRAINED.columns))

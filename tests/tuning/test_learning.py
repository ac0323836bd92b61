"""From the questions of an invented week to a table of weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ray_tasks.retrieval.signals import measure
from ray_tasks.retrieval.types import Question
from ray_tasks.retrieval.weights import UNTRAINED, FusionWeights
from ray_tasks.tuning.candidates import TIME_FEATURES, Candidates, candidates_of, features_of
from ray_tasks.tuning.considered import CONSIDERED
from ray_tasks.tuning.judging import cross_validate, judge_table, parts_of
from ray_tasks.tuning.learning import PRIOR_STEEPNESS, Material
from tests.retrieval.small_memory import Clip, ask, clock, embed, make_memory

THINGS = ("lantern", "kite", "passport", "pineapple", "ladder", "violin", "helmet", "compass", "teapot", "stapler")
HIDDEN = 40
"""Clips that name the thing only in what is seen, for each clip in which it is talked about."""


def a_week() -> tuple[list[Clip], list[tuple[Question, int]]]:
    """A week in which what is asked for was said once, while all the rest only shows it, and its questions."""
    clips: list[Clip] = []
    asked: list[tuple[Question, int]] = []
    for number in range(60):
        day, hour, thing = number // 12 + 1, number % 12 + 9, THINGS[number % len(THINGS)]
        for minute in range(30):
            told = minute == (number * 7) % 30
            seen = f"I carry the {thing} number {number} near the fence" if not told else "I stand there"
            said = (f"Tobi: The {thing} number {number} is broken",) if told else ("Mara: Fine weather again",)
            clips.append(Clip(clock(day, hour, minute), (seen,), said))
        at = ask(
            f"Who carried the {thing} number {number} near the fence?",
            clock(6, 12, 0),
            "Tobi",
            "Mara",
            name=str(number),
        )
        asked.append((at, clips[-30 + (number * 7) % 30].start_ms + 5_000))
    return clips, asked


@pytest.fixture(scope="module")
def candidates() -> list[Candidates]:
    clips, asked = a_week()
    measuring = measure(
        [question for question, _ in asked], make_memory(clips), embed, (*CONSIDERED, *UNTRAINED.columns)
    )
    return [
        candidates_of(one, [(target, target)], CONSIDERED, {"untrained": UNTRAINED}, np.random.default_rng(0))
        for one, (_, target) in zip(measuring, asked, strict=True)
    ]


def test_weights_learned_from_other_questions_beat_the_untrained_ones_where_these_are_wrong(
    candidates: list[Candidates],
) -> None:
    material = Material.of(candidates, CONSIDERED)
    learned = cross_validate(candidates, material, strength=0.001, folds=4, repeats=1)
    untrained = judge_table(candidates, "untrained")
    assert learned.hits.mean() > untrained.hits.mean() + 0.2
    assert len(learned.by_fold) == 4
    assert learned.to_json()["n"] == 60


def test_a_table_ranks_as_the_weights_it_was_made_of(candidates: list[Candidates]) -> None:
    material = Material.of(candidates, CONSIDERED)
    weights = material.fit(np.arange(60), 0.01)
    table = material.table(weights, "learned", {"questions": 60})
    assert FusionWeights.from_json(table.to_json()) == table
    assert table.training == {"questions": 60}
    clips, asked = a_week()
    found = [
        candidates_of(one, [(target, target)], CONSIDERED, {"made": table}, np.random.default_rng(0)).found["made"][0]
        for one, (_, target) in zip(
            measure([q for q, _ in asked[:20]], make_memory(clips), embed, (*CONSIDERED, *UNTRAINED.columns)),
            asked[:20],
            strict=True,
        )
    ]
    scores = material.scores(weights)
    bounds = np.searchsorted(material.sample.questions, np.arange(61))
    ranked = [
        bool((one.gains[np.argsort(-scores[low:high], kind="stable")[:15]] == 1).any())
        for one, low, high in zip(candidates[:20], bounds, bounds[1:], strict=False)
    ]
    assert sum(a != b for a, b in zip(found, ranked, strict=True)) <= 1  # weights are rounded


def test_held_fast_the_learned_table_is_the_untrained_one(candidates: list[Candidates]) -> None:
    material = Material.of(candidates, CONSIDERED)
    table = material.table(material.fit(np.arange(60), 1e6), "held", {})
    share = {term.column: term.weight / 10 for term in table.terms}
    for term in UNTRAINED.terms:
        assert share[term.column] == pytest.approx(term.weight / 9, abs=0.01)
    assert table.recency == pytest.approx(UNTRAINED.recency / PRIOR_STEEPNESS, abs=0.05)


def test_names_ids_and_order_of_questions_are_no_features() -> None:
    clips, asked = a_week()
    memory = make_memory(clips)
    question = asked[3][0]
    renamed = replace(question, question_id="another", wearer="P9_NURI")
    (one, other) = (next(measure([q], memory, embed, CONSIDERED)) for q in (question, renamed))
    assert np.array_equal(features_of(one, CONSIDERED), features_of(other, CONSIDERED))


def test_leaving_out_a_part_leaves_the_others(candidates: list[Candidates]) -> None:
    material = Material.of(candidates[:5], CONSIDERED)
    parts = parts_of(material)
    assert {f"time {name}" for name in TIME_FEATURES} <= set(parts)
    without = material.without(parts["signal dense"])
    assert all(signal != "dense" for signal, *_ in without.columns)
    assert without.sample.features.shape[1] == len(without.columns) + len(TIME_FEATURES) == len(without.scales)
    timeless = material.without(parts["time recency"])
    assert not timeless.sample.features[:, len(CONSIDERED)].any()
    assert timeless.columns == material.columns

"""Eq. 3 over entries: against a plain loop, without the future, and with every switch of it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ray_tasks.compression.interactions import InteractionMemory
from ray_tasks.compression.online import DISCARDED, Compressed
from ray_tasks.compression.settings import CompressionSettings
from ray_tasks.corpus.week_time import DAY_MS
from ray_tasks.embedding.whole_vectors import Float64, cosines, whole_vectors
from ray_tasks.retrieval.imprint.ranking import Ranking, phrase_cosines, rank
from ray_tasks.retrieval.imprint.settings import ImprintSettings
from tests.retrieval.small_memory import CLIP_MS, embed, record

PHRASES = ("slice", "wash", "carry", "pineapple", "knife", "green kite", "kite")


@st.composite
def memories(draw: st.DrawFn) -> InteractionMemory:
    """A few records in any entries, some discarded, some without an object."""
    n = draw(st.integers(0, 12))
    starts = np.cumsum([draw(st.integers(0, 30_000_000)) for _ in range(n)], dtype=np.int64)
    actions = np.array([draw(st.integers(0, 2)) for _ in range(n)], np.int64)
    objects = np.array([draw(st.sampled_from([-1, 3, 4, 5, 6])) for _ in range(n)], np.int64)
    compressed = Compressed(
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.array([draw(st.floats(0, 1.24)) for _ in range(n)], np.float64),
        np.array([draw(st.integers(DISCARDED, 3)) for _ in range(n)], np.int64),
    )
    combine = draw(st.sampled_from(["max", "mean"]))
    return InteractionMemory(
        tuple(
            record(int(start), "Mara", PHRASES[action], PHRASES[thing] if thing >= 0 else "")
            for start, action, thing in zip(starts, actions, objects, strict=True)
        ),
        starts,
        starts + CLIP_MS,
        compressed,
        actions,
        objects,
        PHRASES,
        whole_vectors(embed(list(PHRASES))),
        CompressionSettings(combine=combine),
    )


def chosen() -> st.SearchStrategy[ImprintSettings]:
    """Any settings of the score."""
    weights = st.sampled_from([(0.53, 0.29, 0.18), (0.0, 0.29, 0.18), (0.53, 0.0, 0.18), (0.53, 0.29, 0.0)])
    ignored = st.sets(st.sampled_from(["selection", "consolidation", "importance"]))
    return st.builds(
        lambda gammas, rescore, ignore: ImprintSettings(
            gammas[0], gammas[1], gammas[2], rescore=rescore, ignore=tuple(ignore)
        ),
        weights,
        st.sampled_from(["none", "query"]),
        ignored,
    )


def literal(memory: InteractionMemory, at_ms: int, thing: str, action: str, told: ImprintSettings) -> dict[int, float]:
    """Eq. 3 as it is written, entry by entry; entries that are none are numbered by their records, from 1000 on."""
    gammas = [told.object_weight, told.action_weight, 0.0 if "importance" in told.ignore else told.importance_weight]
    gammas = [gamma / sum(gammas) for gamma in gammas]

    def cosine(one: str, other: str) -> float:
        if not one or not other:
            return 0.0
        return float(cosines(whole_vectors(embed([one])), whole_vectors(embed([other])))[0, 0])

    groups: dict[int, list[int]] = {}
    for number, one in enumerate(memory.records):
        entry = int(memory.compressed.entries[number])
        if one.end_ms > at_ms or (entry == DISCARDED and "selection" not in told.ignore):
            continue
        alone = entry == DISCARDED or "consolidation" in told.ignore
        groups.setdefault(1000 + number if alone else entry, []).append(number)
    scores = {}
    for entry, members in groups.items():
        weights = [float(memory.compressed.importance[number]) for number in members]
        weight = max(weights) if memory.settings.combine == "max" else sum(weights) / len(weights)
        if told.rescore == "query":
            last = max(memory.records[number].end_ms for number in members)
            weight *= math.exp(-memory.settings.decay * (at_ms - last) / DAY_MS)
        scores[entry] = (
            gammas[0] * max(cosine(thing, memory.records[number].object) for number in members)
            + gammas[1] * max(cosine(action, memory.records[number].action) for number in members)
            + gammas[2] * weight
        )
    return scores


def of(memory: InteractionMemory, at_ms: int, thing: str, action: str, told: ImprintSettings) -> Ranking:
    """The ranking of a question with these cues."""
    nothing = np.zeros(len(memory.phrases))
    similar = phrase_cosines(memory, whole_vectors(embed([thing or "x", action or "x"])))
    return rank(memory, at_ms, similar[0] if thing else nothing, similar[1] if action else nothing, told)


@settings(max_examples=40, deadline=None)
@given(memories(), st.integers(0, 400_000_000), st.sampled_from(["kite", "pineapple knife", ""]), chosen())
def test_scores_are_those_of_the_formula(
    memory: InteractionMemory, at_ms: int, thing: str, told: ImprintSettings
) -> None:
    expected = literal(memory, at_ms, thing, "slice", told)
    found = of(memory, at_ms, thing, "slice", told).best(100)
    assert sorted(one.score for one in found) == pytest.approx(sorted(expected.values()), abs=1e-9)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    for one in found:
        first = memory.compressed.entries[one.members[0]]
        alone = first == DISCARDED or "consolidation" in told.ignore
        assert one.score == pytest.approx(expected[1000 + int(one.members[0]) if alone else int(first)], abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(memories(), st.integers(0, 400_000_000), chosen())
def test_what_ends_later_changes_no_bit(memory: InteractionMemory, at_ms: int, told: ImprintSettings) -> None:
    n = memory.visible(at_ms)
    compressed = Compressed(
        *(getattr(memory.compressed, name)[:n] for name in ("prototypes", "kinds", "importance", "entries"))
    )
    cut = replace(
        memory,
        records=memory.records[:n],
        start_ms=memory.start_ms[:n],
        end_ms=memory.end_ms[:n],
        compressed=compressed,
        actions=memory.actions[:n],
        objects=memory.objects[:n],
    )
    whole, early = of(memory, at_ms, "kite", "carry", told).best(9), of(cut, at_ms, "kite", "carry", told).best(9)
    assert [(one.score, one.members.tolist()) for one in whole] == [(one.score, one.members.tolist()) for one in early]


def test_a_later_member_neither_lends_its_words_nor_its_importance() -> None:
    early, late = record(0, "Mara", "carry", "kite"), record(DAY_MS, "Mara", "slice", "pineapple")
    memory = InteractionMemory(
        (early, late),
        np.array([0, DAY_MS]),
        np.array([CLIP_MS, DAY_MS + CLIP_MS]),
        Compressed(np.zeros(2, np.int64), np.zeros(2, np.int64), np.array([0.3, 1.2]), np.zeros(2, np.int64)),
        np.array([2, 0]),
        np.array([6, 3]),
        PHRASES,
        whole_vectors(embed(list(PHRASES))),
        CompressionSettings(),
    )
    told = ImprintSettings()
    before, after = (of(memory, at, "pineapple", "slice", told).best(1)[0] for at in (DAY_MS, 2 * DAY_MS))
    assert before.members.tolist() == [0]
    assert before.score < 0.5
    assert after.score == pytest.approx(0.53 + 0.29 + 0.18 * 1.2, abs=1e-3)


def test_weights_are_divided_by_what_is_left_of_them() -> None:
    assert ImprintSettings().gammas == pytest.approx((0.53, 0.29, 0.18))
    assert ImprintSettings(object_weight=0).gammas == pytest.approx((0, 0.62, 0.38), abs=5e-3)
    assert ImprintSettings(action_weight=0).gammas == pytest.approx((0.75, 0, 0.25), abs=5e-3)
    assert ImprintSettings(importance_weight=0).gammas == pytest.approx((0.65, 0.35, 0), abs=5e-3)
    assert ImprintSettings(ignore=("importance",)).gammas == ImprintSettings(importance_weight=0).gammas


def test_cosines_have_the_same_bits_alone_and_together() -> None:
    memory_vectors = whole_vectors(embed(list(PHRASES)))
    memory = InteractionMemory(
        (),
        np.zeros(0, np.int64),
        np.zeros(0, np.int64),
        Compressed(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64)),
        np.zeros(0, np.int64),
        np.zeros(0, np.int64),
        PHRASES,
        memory_vectors,
        CompressionSettings(),
    )
    queries = whole_vectors(embed(["a kite", "the knife", "wash"]))
    together = phrase_cosines(memory, queries)
    alone: list[Float64] = [phrase_cosines(memory, queries[row : row + 1])[0] for row in range(3)]
    assert all(np.array_equal(one, both) for one, both in zip(alone, together, strict=True))

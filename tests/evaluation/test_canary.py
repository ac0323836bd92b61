"""Whether a memory finds what is known to be in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ray_tasks.evaluation.canary import find_own_texts, hit_change, spread_rows
from ray_tasks.index.memory import MemoryMismatchError, WearerMemory
from ray_tasks.retrieval.types import FloatMatrix
from tests.retrieval.small_memory import Clip, embed, make_memory

THINGS = ("kettle", "rope", "ladder", "basket", "lamp", "saw", "drum", "scarf", "whistle", "map", "tent", "flask")
PLACES = ("shed", "attic", "yard", "cellar", "porch", "loft", "garage", "stable", "hall", "barn", "jetty", "mill")


@pytest.fixture(scope="module")
def memory() -> WearerMemory:
    clips = [
        Clip(f"DAY1 09{number:02d}0000", (f"I carry the {thing} to the {PLACES[number]}.",), (f"Tobi: my {thing}!",))
        for number, thing in enumerate(THINGS)
    ]
    return make_memory(clips)


def test_a_sound_memory_finds_every_sampled_row_in_every_view_and_the_captions(memory: WearerMemory) -> None:
    found = find_own_texts(memory, embed, sample=5, first=1)
    assert [entry.view for entry in found] == ["action", "utterance", "activity", "conversation", "caption"]
    assert [entry.asked for entry in found] == [5, 5, 0, 0, 5]
    assert all(entry.percent == 100 and not entry.missed for entry in found)


def test_vectors_that_belong_to_other_rows_are_found_out(memory: WearerMemory) -> None:
    action = memory.views["action"]
    shuffled = replace(action, vectors=np.ascontiguousarray(np.roll(action.vectors, 5, axis=0)))
    broken = replace(memory, views={**memory.views, "action": shuffled})
    found = {entry.view: entry for entry in find_own_texts(broken, embed, sample=6)}
    assert found["action"].percent <= 50
    assert set(found["action"].missed) <= {action.row_id(row) for row in spread_rows(len(action), 6)}
    assert found["utterance"].percent == 100


def test_another_encoder_of_the_same_dimension_is_found_out(memory: WearerMemory) -> None:
    def stranger(texts: list[str]) -> FloatMatrix:
        return embed([f"{len(text)} {text[::-1]}" for text in texts])

    found = {entry.view: entry for entry in find_own_texts(memory, stranger)}
    assert found["action"].percent <= 60


def test_another_encoder_of_another_dimension_is_an_error(memory: WearerMemory) -> None:
    with pytest.raises(MemoryMismatchError, match="dimensions"):
        find_own_texts(memory, lambda texts: embed(texts)[:, :7])


def test_a_row_counts_as_found_where_its_text_is_said_over_and_over() -> None:
    said = make_memory([Clip(f"DAY1 09{number:02d}0000", (), ("Tobi: Hello there.",)) for number in range(30)])
    found = {entry.view: entry for entry in find_own_texts(said, embed, sample=30, first=3)}
    assert found["utterance"].percent == 100


def test_an_empty_memory_has_nothing_to_find_and_misses_nothing() -> None:
    assert all(entry.percent == 100 and entry.asked == 0 for entry in find_own_texts(make_memory([]), embed))


@pytest.mark.parametrize(("total", "sample"), [(0, 5), (3, 5), (5, 5), (1000, 7), (17, 16)])
def test_sampled_rows_are_distinct_and_spread(total: int, sample: int) -> None:
    rows = spread_rows(total, sample)
    assert len(set(rows)) == len(rows) == min(total, sample)
    assert rows == sorted(rows) and all(0 <= row < total for row in rows)
    assert max(np.diff([0, *rows, total]), default=0) <= 2 * max(1, total / sample)


def test_lost_and_won_questions_are_told_apart() -> None:
    before = {"1": True, "2": True, "3": False, "4": None, "gone": True}
    change = hit_change("B1_MARA", before, {"1": True, "2": False, "3": True, "4": True, "new": True})
    assert change is not None
    assert (change.asked, change.lost, change.won, change.drop) == (3, ("2",), ("3",), 0)


def test_questions_without_a_target_cannot_be_compared() -> None:
    assert hit_change("B1_MARA", {"1": None}, {"1": True}) is None
    assert hit_change("B1_MARA", {}, {"1": True}) is None

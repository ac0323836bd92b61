"""The statistic over a whole memory: who is usually there, how often, and nothing of what comes later."""

from __future__ import annotations

import numpy as np
import pytest

from ray_tasks.corpus.week_time import parse_week_time
from ray_tasks.embedding.whole_vectors import whole_vectors
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.clip_table import ClipTable
from ray_tasks.retrieval.occasions import Naming, Occasions, match_clips
from tests.retrieval.small_memory import Clip, a_week, clock, embed, make_memory

TEA = [
    *(Clip(clock(day, 16, 0), ("Mara pours tea for me", "I hold the cup"), ()) for day in (1, 2, 3)),
    Clip(clock(1, 16, 0, 30), ("Tobi pours tea for Nuri",), ("Nuri: I like it with my honey.",)),
    Clip(clock(2, 16, 50), ("Mara pours tea for Tobi",), ()),
]


def occasions(memory: WearerMemory, text: str, at: str, windows: list[tuple[int, int]] | None = None) -> Occasions:
    table, at_ms = ClipTable.of(memory), parse_week_time(at)
    (fits,) = match_clips(table, [whole_vectors(embed([text]))], table.visible(at_ms))
    return Occasions.of(Naming(table, memory.name), at_ms, fits, windows or [])


@pytest.fixture(scope="module")
def memory() -> WearerMemory:
    return make_memory([*a_week(), *TEA])


def test_who_is_there_most_has_the_largest_share(memory: WearerMemory) -> None:
    found = occasions(memory, "pours tea", clock(3, 20, 0))
    mara, tobi, zoe = (found.share(found.naming(name)) for name in ("Mara", "Tobi", "Zoe"))
    assert 1 >= mara > tobi > zoe == 0
    assert found.share(np.ones(len(found.fits), np.bool_)) == pytest.approx(1)


def test_times_are_counted_by_day_and_near_ones_once(memory: WearerMemory) -> None:
    found = occasions(memory, "pours tea", clock(3, 20, 0))
    assert found.by_day() == {1: 1, 2: 2, 3: 1}
    assert len(found.matching()) == 4
    assert occasions(memory, "pours tea", clock(2, 12, 0)).by_day() == {1: 1}


def test_times_outside_the_windows_named_are_not_counted(memory: WearerMemory) -> None:
    window = (parse_week_time(clock(2, 0, 0)), parse_week_time(clock(2, 23, 0)))
    assert occasions(memory, "pours tea", clock(3, 20, 0), [window]).by_day() == {2: 2}


def test_what_never_happened_is_counted_as_nothing(memory: WearerMemory) -> None:
    assert occasions(memory, "zeppelin harpoon glacier", clock(3, 20, 0)).by_day() == {}


def test_the_wearer_is_named_by_words_of_their_own_rows_only(memory: WearerMemory) -> None:
    found = occasions(memory, "pours tea", clock(3, 20, 0))
    at = {int(start): number for number, start in enumerate(ClipTable.of(memory).start_ms)}
    named = found.naming("I")
    assert named[at[parse_week_time(clock(1, 16, 0))]]
    assert not named[at[parse_week_time(clock(1, 16, 0, 30))]]  # Nuri's "I" and "my" are Nuri's


def test_nothing_that_ends_later_changes_a_bit() -> None:
    at = clock(2, 16, 0, 30)
    until = parse_week_time(at)
    later = [Clip(clock(3, 9, minute), ("Zoe pours tea for Mara", "I pour tea"), ()) for minute in range(30)]
    full = make_memory([*a_week(), *TEA, *later])
    cut = make_memory([*a_week(), *TEA, *later], until=until)
    all_of_it, past = (occasions(memory, "pours tea", at) for memory in (full, cut))
    assert np.array_equal(all_of_it.fits, past.fits)
    assert all_of_it.by_day() == past.by_day()
    for name in ("Mara", "Tobi", "Zoe", "I"):
        assert np.array_equal(all_of_it.naming(name), past.naming(name))
        assert all_of_it.share(all_of_it.naming(name)) == past.share(past.naming(name))
    assert not all_of_it.naming("Zoe").any()


def test_a_memory_without_any_clip_yet_has_no_occasions(memory: WearerMemory) -> None:
    found = occasions(memory, "pours tea", clock(1, 1, 0))
    assert (found.by_day(), found.share(found.naming("Mara"))) == ({}, 0.0)
    assert match_clips(ClipTable.of(memory), [], 0) == []


@pytest.mark.parametrize("name", ["", "(", "I", "张伟", "a b", "O'Brien", "\\"])
def test_odd_names_are_looked_up_without_complaint(name: str) -> None:
    clips = [Clip(clock(1, 10, 0), ("张伟 opens the door", "I wave"), ())]
    memory = make_memory(clips)
    table = ClipTable.of(memory)
    assert Naming(table, name or "Ines").clips("I").tolist() == [True]
    assert Naming(table, "Ines").clips(name).tolist() == [name in ("I", "张伟")]

"""Merged parts are what one build over everything gives, however the rows were spread over the parts."""

from __future__ import annotations

from itertools import pairwise

import faiss
import numpy as np
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ray_tasks.corpus.week_time import HOUR_MS
from ray_tasks.index.lexical import LexicalIndex
from ray_tasks.index.memory import MemoryMismatchError
from ray_tasks.index.merging import MergedRows
from ray_tasks.index.parts import Part, build_part, flat_vectors
from ray_tasks.rows import ATOM_SCHEMA, CAPTION_SCHEMA, to_table
from tests.index.builder import MemoryBuilder, merged

TEXTS = ["I fill the kettle.", "I water the plants.", "Tobi says: the rope is in the shed.", "水壶在架子上", ""]


def _spread(homes: list[tuple[int, int]], shards: int) -> tuple[MemoryBuilder, list[MemoryBuilder]]:
    """One builder with all captions, and the same captions, ten seconds apart and so overlapping, over some shards."""
    whole, parts = MemoryBuilder(), [MemoryBuilder() for _ in range(shards)]
    for number, (shard, texts) in enumerate(homes):
        for builder in (whole, parts[shard % shards]):
            views = {
                "action": TEXTS[: texts % 4],
                "utterance": TEXTS[2 : 2 + texts % 3],
                "activity": TEXTS[: texts % 2],
            }
            builder.add(number * 10_000, **views)
    return whole, parts


@settings(deadline=None, max_examples=15)
@given(
    homes=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 11)), min_size=1, max_size=40), shards=st.integers(1, 6)
)
def test_merging_parts_gives_the_bytes_of_one_build(homes: list[tuple[int, int]], shards: int) -> None:
    whole, parts = _spread(homes, shards)
    at_once = whole.build()
    apart = merged([builder.part() for builder in parts], whole.dimension)
    assert apart == at_once
    rows = whole.part().rows
    order = sorted(
        (row for row in range(len(rows)) if rows["view"][row].as_py() == "action"),
        key=lambda row: (rows["end_ms"][row].as_py(), rows["start_ms"][row].as_py(), rows["id"][row].as_py()),
    )
    plain = faiss.IndexFlatIP(whole.dimension)
    if order:
        plain.add(whole.embed([rows["text"][row].as_py() for row in order]))
    assert faiss.serialize_index(plain).tobytes() == apart.files["action.faiss"]


@settings(deadline=None, max_examples=20)
@given(homes=st.lists(st.integers(0, 3), max_size=60))
def test_runs_lead_through_all_rows_in_order_and_are_as_long_as_can_be(homes: list[int]) -> None:
    tables = []
    for shard in range(4):
        builder = MemoryBuilder()
        for number, home in enumerate(homes):
            if home == shard:
                builder.add(number * 10_000)
        tables.append(builder.part().rows)
    rows = MergedRows.of(tables)
    runs = rows.runs()
    walked = [tables[part]["start_ms"][row].as_py() for part, first, stop in runs for row in range(first, stop)]
    assert walked == rows.rows["start_ms"].to_pylist() == [number * 10_000 for number in range(len(homes))]
    assert all(before[0] != after[0] for before, after in pairwise(runs))


@settings(deadline=None, max_examples=20)
@given(docs=st.lists(st.lists(st.sampled_from(TEXTS), max_size=3), max_size=12))
def test_counted_terms_give_the_same_words_index_as_tokens(docs: list[list[str]]) -> None:
    builder = MemoryBuilder()
    for number, texts in enumerate(docs):
        builder.add(number * 60_000, action=[" ".join(texts)])
    rows = builder.part().rows.filter(pc.field("view") == "action")
    counted = LexicalIndex.from_counted(rows["terms"], rows["term_counts"])
    tokens = LexicalIndex.build(rows["text"].to_pylist())
    assert counted.to_table() == tokens.to_table()
    assert counted.lengths.tolist() == tokens.lengths.tolist()
    assert counted.length_sums.tolist() == tokens.length_sums.tolist()


def test_a_caption_s_vector_is_the_mean_of_its_own_statements() -> None:
    builder = MemoryBuilder()
    builder.add(0, action=["I fill the kettle."], utterance=["the rope is in the shed"], activity=["I cook."])
    builder.add(HOUR_MS)
    vectors = builder.part().vectors["caption"]
    mean = builder.embed(["I fill the kettle.", "the rope is in the shed"]).mean(axis=0)
    assert np.allclose(vectors[0], mean / np.linalg.norm(mean), atol=1e-6)
    assert not vectors[1].any()


def test_an_activity_s_caption_may_lie_in_another_part_but_must_be_there() -> None:
    hour, day = MemoryBuilder(), MemoryBuilder()
    hour.add(0, action=["I fill the kettle."])
    day.add(0, activity=["I cook."])
    owners = {atom.atom_id: row for row, atom in enumerate(day.atoms)}
    of_day = build_part(None, to_table(day.atoms, ATOM_SCHEMA), owners, day.embed(["I cook."]))
    assert merged([of_day, hour.part()], hour.dimension).counts["activity"] == 1
    with pytest.raises(MemoryMismatchError, match="names caption B1_MARA:0"):
        merged([of_day], hour.dimension)


def test_a_part_whose_vectors_are_damaged_or_of_another_model_is_refused() -> None:
    builder, other = MemoryBuilder(), MemoryBuilder(dimension=4)
    builder.add(0, action=["I fill the kettle."])
    other.add(60_000, action=["I fill the kettle."])
    with pytest.raises(MemoryMismatchError, match="4 dimensions among those of 8"):
        merged([builder.part(), other.part()], 8)
    part = builder.part()
    short = Part(part.rows, {**part.vectors, "action": part.vectors["action"][:0]})
    with pytest.raises(MemoryMismatchError, match="0 vectors came for 1 rows"):
        merged([short], 8)


def test_a_part_of_nothing_is_a_part() -> None:
    empty = MemoryBuilder().part()
    assert empty.counts == {}
    assert list(empty.files()) == ["rows.parquet"]
    assert merged([empty], 8).counts["caption"] == 0
    assert (
        build_part(to_table([], CAPTION_SCHEMA), to_table([], ATOM_SCHEMA), {}, np.zeros((0, 8), np.float32)).counts
        == {}
    )


def test_vectors_come_out_of_a_part_s_file_as_they_went_in() -> None:
    builder = MemoryBuilder()
    builder.add(0, action=TEXTS[:3])
    part = builder.part()
    assert np.array_equal(flat_vectors(part.files()["action.faiss"]), part.vectors["action"])

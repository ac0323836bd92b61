from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ray_tasks.corpus.week_time import HOUR_MS, MINUTE_MS
from ray_tasks.index.memory import MemoryMismatchError, WearerMemory
from ray_tasks.index.parts import build_part
from ray_tasks.rows import ATOM_SCHEMA, CAPTION_SCHEMA, VIEWS, Atom, Caption, Line, View, to_table
from tests.index.builder import MemoryBuilder


def _write(tmp_path: Path, builder: MemoryBuilder) -> WearerMemory:
    built = builder.build()
    for name, data in built.files.items():
        (tmp_path / name).write_bytes(data)
    return builder.load(lambda name: tmp_path / name)


def test_a_memory_is_read_back_as_it_was_built(tmp_path: Path) -> None:
    builder = MemoryBuilder()
    builder.add(0, action=["I fill the kettle."], utterance=["Tobi says: the rope is in the shed."])
    builder.add(MINUTE_MS, action=["I water the plants."])
    memory = _write(tmp_path, builder)
    action = memory.views["action"]
    assert [action.text(row) for row in range(len(action))] == ["I fill the kettle.", "I water the plants."]
    assert len(memory.captions) == 2
    assert action.caption_rows.tolist() == [0, 1]
    assert np.allclose(np.linalg.norm(memory.captions.vectors, axis=1), 1, atol=1e-6)
    assert len(memory.views["activity"]) == 0


def test_nothing_that_ends_after_the_question_is_found(tmp_path: Path) -> None:
    builder = MemoryBuilder()
    builder.add(11 * HOUR_MS, **{view: ["the parrot is called Zibble"] for view in VIEWS})
    memory = _write(tmp_path, builder)
    end = int(memory.captions.end_ms[0])
    for index in (*memory.views.values(), memory.captions):
        query = builder.embed([index.text(0)])[0]
        assert index.search(query, at_ms=end - 1, k=5) == []
        assert index.search_words("parrot Zibble", at_ms=end - 1, k=5) == []
        assert len(index.search(query, at_ms=end, k=5)) == 1
        assert len(index.search_words("parrot Zibble", at_ms=end, k=5)) == 1


def test_a_later_question_changes_nothing_for_an_earlier_one(tmp_path: Path) -> None:
    builder = MemoryBuilder()
    builder.add(4 * 24 * HOUR_MS, utterance=["Ines says: the parrot is called Zibble."])
    memory = _write(tmp_path, builder)
    query = builder.embed(["what is the parrot called"])[0]
    index = memory.views["utterance"]
    assert index.search(query, at_ms=5 * 24 * HOUR_MS, k=3)
    assert index.search(query, at_ms=3 * 24 * HOUR_MS, k=3) == []


def test_equal_texts_at_different_times_are_different_rows(tmp_path: Path) -> None:
    builder = MemoryBuilder()
    for start in (8 * HOUR_MS, 19 * HOUR_MS, 3 * 24 * HOUR_MS + 8 * HOUR_MS):
        builder.add(start, action=["I wash my hands."])
    memory = _write(tmp_path, builder)
    hits = memory.views["action"].search(builder.embed(["I wash my hands."])[0], at_ms=2 * 24 * HOUR_MS, k=10)
    assert [int(memory.views["action"].start_ms[hit.row]) for hit in hits] == [8 * HOUR_MS, 19 * HOUR_MS]


def test_a_time_query_prefers_what_lies_near_it(tmp_path: Path) -> None:
    builder = MemoryBuilder()
    for hour in (9, 12, 15):
        builder.add(hour * HOUR_MS, action=["I wash my hands."])
    memory = _write(tmp_path, builder)
    query = builder.embed(["I wash my hands."])[0]
    noon = (12 * HOUR_MS, 12 * HOUR_MS)
    hits = memory.views["action"].search(query, at_ms=24 * HOUR_MS, k=3, time_query=noon)
    assert int(memory.views["action"].start_ms[hits[0].row]) == 12 * HOUR_MS
    assert hits[0].relevance == pytest.approx(1.0)
    assert hits[1].relevance == pytest.approx(0.99**3)
    backwards = memory.views["action"].search(query, at_ms=24 * HOUR_MS, k=3, time_query=(13 * HOUR_MS, 11 * HOUR_MS))
    assert backwards[0].row == hits[0].row


def test_a_query_of_another_size_is_refused_with_both_sizes_and_the_model(tmp_path: Path) -> None:
    builder = MemoryBuilder()
    builder.add(0, action=["I wash my hands."])
    memory = _write(tmp_path, builder)
    with pytest.raises(MemoryMismatchError, match=r"16 dimensions.*8.*hash-8"):
        memory.views["action"].search(np.ones(16, np.float32), at_ms=HOUR_MS, k=1)


def test_an_index_and_rows_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    builder = MemoryBuilder()
    for minute in range(5):
        builder.add(minute * MINUTE_MS, action=[f"I fill kettle {minute}."])
    built = builder.build()
    shorter = MemoryBuilder()
    shorter.add(0, action=["I fill kettle 0."])
    files = {**built.files, "action.rows.parquet": shorter.build().files["action.rows.parquet"]}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(MemoryMismatchError, match="5 vectors for 1 rows"):
        builder.load(lambda name: tmp_path / name)


def test_an_atom_without_vector_or_caption_is_an_error() -> None:
    caption = Caption("c1", "W", 1, 0, 30_000, "x", 1, 0, None, (Line(0, 1, "visual", None, "x", "en"),))

    def atom(caption_id: str) -> Atom:
        return Atom("a1", "W", "action", 0, 30_000, "x", (), (caption_id,), "rules", "1")

    captions = to_table([caption], CAPTION_SCHEMA)
    vectors = np.full((1, 4), 0.5, np.float32)
    with pytest.raises(MemoryMismatchError, match="no vector"):
        build_part(captions, to_table([atom("c1")], ATOM_SCHEMA), {}, vectors)
    with pytest.raises(MemoryMismatchError, match="c9"):
        build_part(captions, to_table([atom("c9")], ATOM_SCHEMA), {"a1": 0}, vectors)


def test_order_of_the_input_does_not_change_the_files() -> None:
    forward, backward = MemoryBuilder(), MemoryBuilder()
    for minute in (0, 1, 2):
        forward.add(minute * MINUTE_MS, action=[f"I fill kettle {minute}."], utterance=["Tobi says: fine."])
    for minute in (2, 0, 1):
        backward.add(minute * MINUTE_MS, action=[f"I fill kettle {minute}."], utterance=["Tobi says: fine."])
    assert forward.build().files == backward.build().files


def test_loading_lacks_no_view() -> None:
    builder = MemoryBuilder()
    builder.add(0, action=["x"])
    names: tuple[View, ...] = VIEWS
    assert set(builder.build().counts) == {*names, "caption"}

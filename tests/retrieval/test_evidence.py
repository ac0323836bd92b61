"""Clips as evidence, and the rows behind evidence."""

from __future__ import annotations

import numpy as np

from ray_tasks.corpus.week_time import MINUTE_MS
from ray_tasks.embedding.whole_vectors import whole_vectors
from ray_tasks.index.lexical import tokenize
from ray_tasks.retrieval.clip_table import ClipTable
from ray_tasks.retrieval.evidence import clip_evidence, clips_of
from ray_tasks.retrieval.evidence_rows import EvidenceRows
from ray_tasks.retrieval.types import Evidence
from tests.retrieval.small_memory import Clip, ask, clock, embed, make_memory

TEN = ask("", clock(1, 10, 0)).at_ms


def table() -> ClipTable:
    clips = [
        Clip(clock(1, 10, 0), ("I fetch the ladder", "I paint the fence"), ("Mara: Paint it green.",)),
        Clip(clock(1, 10, 0, 30)),
        Clip(clock(1, 10, 1), ("Tobi feeds the goat",)),
    ]
    return ClipTable.of(make_memory(clips))


def test_a_clip_is_told_by_its_best_row_of_any_view() -> None:
    clips, scores = np.array([0, 2]), np.array([0.5, 0.25])
    first, second = clip_evidence(table(), clips, whole_vectors(embed(["who paints the fence"])), scores)
    assert (first.view, first.text, first.score) == ("action", "I paint the fence", 0.5)
    assert (first.start_ms, first.end_ms) == (TEN, TEN + 30_000)
    assert second.text == "Tobi feeds the goat"
    (spoken,) = clip_evidence(table(), clips[:1], whole_vectors(embed(["Mara green"])), scores[:1])
    assert (spoken.view, spoken.text) == ("utterance", "Mara: Paint it green.")


def test_a_clip_without_rows_is_told_by_its_caption() -> None:
    (item,) = clip_evidence(table(), np.array([1]), whole_vectors(embed(["fence"])), np.array([1.0]))
    assert (item.view, item.text) == ("caption", "")


def test_clips_of_an_item() -> None:
    clips = table()
    assert clips_of(clips, Evidence("x", "action", TEN, TEN + 30_000, "", 0.0)) == [0]
    assert clips_of(clips, Evidence("x", "activity", TEN, TEN + 2 * MINUTE_MS, "", 0.0)) == [0, 1, 2]
    assert clips_of(clips, Evidence("x", "action", TEN + 5_000, TEN + 9_000, "", 0.0)) == [0]
    assert clips_of(clips, Evidence("x", "action", TEN + 20 * MINUTE_MS, TEN + 21 * MINUTE_MS, "", 0.0)) == []


def test_rows_of_evidence_and_how_much_each_item_counts() -> None:
    items = (
        Evidence("a", "action", TEN, TEN + 30_000, "", 2.0),
        Evidence("b", "caption", TEN + MINUTE_MS, TEN + MINUTE_MS + 30_000, "", 1.0),
    )
    rows = EvidenceRows.of(table(), items, TEN + 10 * MINUTE_MS)
    assert rows.texts == ("I fetch the ladder", "I paint the fence", "Mara: Paint it green.", "Tobi feeds the goat")
    assert rows.owners.tolist() == [0, 0, 0, 1]
    assert rows.standing.tolist() == [0.0, -2.0]
    shares = rows.shares(1.0)
    assert np.isclose(shares.sum(), 1)
    assert shares[0] > shares[1]
    best = rows.best_of_items(rows.fits(whole_vectors(embed(["goat", "fence"]))))
    assert best[1, 0] > best[0, 0]
    assert best[0, 1] > best[1, 1]
    assert "goat" in rows.words_of_items[1]
    assert rows.rarity("goat") > rows.rarity(tokenize("paint")[0]) - 1e-9


def test_items_of_equal_score_count_alike() -> None:
    items = tuple(Evidence(str(i), "action", TEN, TEN + 30_000, "", 1.0) for i in range(4))
    assert np.allclose(EvidenceRows.of(table(), items, TEN + MINUTE_MS).shares(2.0), 0.25)

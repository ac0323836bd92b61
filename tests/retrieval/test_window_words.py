"""BM25 over windows of clips."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from ray_tasks.index.lexical import tokenize
from ray_tasks.retrieval.clip_table import ClipTable
from ray_tasks.retrieval.window_words import WindowWords
from tests.retrieval.small_memory import Clip, a_week, clock, make_memory


def by_hand(documents: list[list[str]], query: list[str], k1: float = 1.5, b: float = 0.5) -> list[float]:
    """BM25 of every document, written out."""
    mean = sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        counts = Counter(document)
        score = 0.0
        for term in dict.fromkeys(query):
            holding = sum(term in other for other in documents)
            if not counts[term]:
                continue
            idf = math.log1p((len(documents) - holding + 0.5) / (holding + 0.5))
            score += idf * counts[term] * (k1 + 1) / (counts[term] + k1 * (1 - b + b * len(document) / mean))
        scores.append(score)
    return scores


def test_scores_are_bm25_over_the_joined_words_of_each_window() -> None:
    table = ClipTable.of(make_memory(a_week()[:60]))
    query = tokenize("Mara repairs the lantern and I look at it")
    for visible, reach in ((60, 2), (60, 6), (17, 6), (1, 2)):
        low, high = table.neighbours(reach, visible)
        texts = [table.captions.text(clip) for clip in range(visible)]
        documents = [[t for text in texts[a:b] for t in tokenize(text)] for a, b in zip(low, high, strict=True)]
        assert np.allclose(WindowWords.of(table, visible, reach).scores(query), by_hand(documents, query))


def test_a_word_counts_for_its_neighbours_within_a_recording_only() -> None:
    clips = [
        Clip(clock(1, 10, 0), ("I wait",)),
        Clip(clock(1, 10, 1), ("a lantern",)),
        Clip(clock(1, 11, 0), ("I wait",)),
    ]
    scores = WindowWords.of(ClipTable.of(make_memory(clips)), 3, 6).scores(["lantern"])
    assert scores[0] > 0
    assert scores[1] > 0
    assert scores[2] == 0


def test_nothing_visible_gives_no_scores() -> None:
    assert WindowWords.of(ClipTable.of(make_memory(a_week()[:3])), 0, 6).scores(["lantern"]).shape == (0,)


def test_terms_that_were_scored_before_score_the_same() -> None:
    table = ClipTable.of(make_memory(a_week()))
    windows = WindowWords.of(table, len(table), 6)
    first = [windows.scores(words) for words in (["lantern", "kettl"], ["kettl"], ["lantern", "kettl"])]
    assert np.array_equal(first[0], first[2])
    assert np.array_equal(first[1], WindowWords.of(table, len(table), 6).scores(["kettl"]))

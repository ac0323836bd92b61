from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.index.lexical import LexicalIndex, tokenize

WORDS = ["kettle", "shed", "rope", "water", "plant", "blue"]
documents = st.lists(st.lists(st.sampled_from(WORDS), max_size=6), max_size=25)


def _reference(docs: list[list[str]], query: list[str], k1: float = 1.5, b: float = 0.75) -> list[float]:
    mean = max(sum(map(len, docs)) / max(len(docs), 1), 1e-9)
    scores = []
    for doc in docs:
        score = 0.0
        for term in dict.fromkeys(query):
            df = sum(term in other for other in docs)
            if df and term in doc:
                idf = math.log(1 + (len(docs) - df + 0.5) / (df + 0.5))
                tf = doc.count(term)
                score += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(doc) / mean))
        scores.append(score)
    return scores


@given(docs=documents, query=st.lists(st.sampled_from(WORDS), max_size=4))
def test_scores_are_bm25(docs: list[list[str]], query: list[str]) -> None:
    index = LexicalIndex.from_tokens(docs)
    assert index.scores(query, len(docs)).tolist() == pytest.approx(_reference(docs, query))


@given(docs=documents, query=st.lists(st.sampled_from(WORDS), max_size=4), data=st.data())
def test_a_prefix_scores_as_if_nothing_had_followed(
    docs: list[list[str]], query: list[str], data: st.DataObject
) -> None:
    visible = data.draw(st.integers(0, len(docs)))
    whole = LexicalIndex.from_tokens(docs).scores(query, visible)
    alone = LexicalIndex.from_tokens(docs[:visible]).scores(query, visible)
    assert whole.tolist() == alone.tolist()


@given(docs=documents)
def test_an_index_survives_its_table(docs: list[list[str]]) -> None:
    index = LexicalIndex.from_tokens(docs)
    again = LexicalIndex.from_table(index.to_table(), len(docs))
    assert again.terms == index.terms
    assert np.array_equal(again.rows, index.rows)
    assert np.array_equal(again.lengths, index.lengths)
    assert again.scores(WORDS, len(docs)).tolist() == index.scores(WORDS, len(docs)).tolist()


def test_a_table_of_more_rows_than_there_are_is_refused() -> None:
    table = LexicalIndex.from_tokens([["a"], ["b"], ["c"]]).to_table()
    with pytest.raises(ValueError, match="row 2"):
        LexicalIndex.from_table(table, 2)


def test_words_are_stemmed_and_stop_words_dropped() -> None:
    assert tokenize("I watered Mara's plants") == tokenize("water MARA plant")
    assert tokenize("the and of") == []
    assert tokenize("paid 12.50 at 10:30") == ["paid", "12.50", "10:30"]


def test_chinese_is_searchable_by_characters_and_pairs() -> None:
    assert tokenize("水壶在架子上")[:2] == ["水", "壶"]
    assert "水壶" in tokenize("水壶在架子上")

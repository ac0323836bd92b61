from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.embedding.buckets import distinct, equal_length_batches


@given(lengths=st.lists(st.integers(1, 300), max_size=200), rows=st.integers(1, 70), tokens=st.integers(1, 5000))
def test_every_row_is_in_one_batch_of_one_length_within_the_limits(lengths: list[int], rows: int, tokens: int) -> None:
    batches = list(equal_length_batches(lengths, tokens, rows))
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len({lengths[row] for row in batch}) == 1
        assert len(batch) <= rows
        assert len(batch) == 1 or len(batch) * lengths[batch[0]] <= tokens


def test_the_longest_come_first() -> None:
    assert list(equal_length_batches([2, 9, 2, 5], 100, 10)) == [[1], [3], [0, 2]]


def test_distinct_texts_keep_their_order() -> None:
    assert distinct(["b", "a", "b", "c", "a"]) == ["b", "a", "c"]

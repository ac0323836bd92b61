"""Lexical search with BM25 whose statistics know nothing of the future.

Libraries such as bm25s weigh terms over the whole collection, so a word's rarity would tell what is said next week.
Here rows are in order of time, every statistic (document frequency, mean length) is that of the visible prefix, and
scores for a prefix of n rows equal those of an index built from these n rows alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Int32 = npt.NDArray[np.int32]
Float64 = npt.NDArray[np.float64]

LEXICAL_SCHEMA: Final = pa.schema(
    [("term", pa.string()), ("rows", pa.list_(pa.int32())), ("counts", pa.list_(pa.int32()))]
)
"""One stemmed term with the rows that hold it, ascending, and how often each does."""

_LETTER = r"[^\W\d_\u3400-\u9fff]"
_WORD = re.compile(rf"{_LETTER}+(?:'{_LETTER}+)?|\d+(?:[.:]\d+)*|[\u3400-\u9fff]+")
_STOP_TEXT: Final = (
    "a an the and or but if of to in on at by for with from as is are was were be been being am do does did have has "
    "had i me my mine we us our you your he him his she her it its they them their this that these those there here "
    "will would shall should can could may might must not no so than too very just up out about into over"
)
STOP_WORDS: Final = frozenset(_STOP_TEXT.split())


@lru_cache(maxsize=1 << 17)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def tokenize(text: str) -> list[str]:
    """Stemmed content words in order; Chinese runs give their characters and pairs of characters."""
    tokens: list[str] = []
    for word in _WORD.findall(text.lower()):
        if "\u3400" <= word[0] <= "\u9fff":
            tokens.extend(word)
            tokens.extend(first + second for first, second in pairwise(word))
            continue
        word = word.removesuffix("'s").split("'")[0]
        if word not in STOP_WORDS:
            tokens.append(_stem(word))
    return tokens


@dataclass(frozen=True)
class LexicalIndex:
    """Postings over rows in order of time."""

    terms: dict[str, int]
    offsets: npt.NDArray[np.int64]  # (terms + 1,) into rows and counts
    rows: Int32
    counts: Int32
    lengths: Int32  # (n,) tokens of each row
    length_sums: npt.NDArray[np.int64]  # (n + 1,) tokens of the first i rows

    @classmethod
    def build(cls, texts: Iterable[str]) -> LexicalIndex:
        """An index over texts in order of time."""
        return cls.from_tokens([tokenize(text) for text in texts])

    @classmethod
    def from_tokens(cls, documents: Sequence[Sequence[str]]) -> LexicalIndex:
        """An index over rows that are tokenized already."""
        postings: dict[str, tuple[list[int], list[int]]] = {}
        for row, tokens in enumerate(documents):
            for term, count in Counter(tokens).items():
                rows, counts = postings.setdefault(term, ([], []))
                rows.append(row)
                counts.append(count)
        terms = sorted(postings)
        sizes = [len(postings[term][0]) for term in terms]
        return cls._assemble(
            terms,
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.array([row for term in terms for row in postings[term][0]], np.int32),
            np.array([count for term in terms for count in postings[term][1]], np.int32),
            np.array([len(tokens) for tokens in documents], np.int32),
        )

    @classmethod
    def from_counted(cls, terms: pa.ChunkedArray, counts: pa.ChunkedArray) -> LexicalIndex:
        """An index from each row's distinct terms (list<string>) and their counts (list<int32>), rows in order of time.

        The same as from_tokens of the rows' tokens, without a Python object for each posting.
        """
        listed = terms.combine_chunks()
        sizes = np.diff(listed.offsets.to_numpy()).astype(np.int64)
        encoded = listed.flatten().dictionary_encode()
        in_order = pc.sort_indices(encoded.dictionary).to_numpy()
        rank = np.empty(len(in_order), np.int64)
        rank[in_order] = np.arange(len(in_order))
        numbers = rank[encoded.indices.to_numpy()]
        order = np.argsort(numbers, kind="stable")  # rows ascend, and within a term keep doing so
        rows = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[order]
        flat = counts.combine_chunks().flatten().to_numpy().astype(np.int32)[order]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=len(rank)))]).astype(np.int64)
        lengths = np.bincount(rows, weights=flat, minlength=len(sizes)).astype(np.int32)
        return cls._assemble(encoded.dictionary.take(in_order).to_pylist(), offsets, rows, flat, lengths)

    @classmethod
    def _assemble(
        cls, terms: Sequence[str], offsets: npt.NDArray[np.int64], rows: Int32, counts: Int32, lengths: Int32
    ) -> LexicalIndex:
        sums = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)
        return cls({term: number for number, term in enumerate(terms)}, offsets, rows, counts, lengths, sums)

    def grouped(self, groups: npt.NDArray[np.int64], n_groups: int) -> LexicalIndex:
        """The index of the documents that rows make together: groups (n,) names the document of each row.

        Rows of a group beyond n_groups are left out. Rows must be grouped so that a prefix of documents holds whatever
        a question may see, since statistics are then those of documents.
        """
        kept = groups[self.rows] < n_groups
        terms = np.repeat(np.arange(len(self.terms)), np.diff(self.offsets))[kept]
        keys, places = np.unique(terms * n_groups + groups[self.rows][kept], return_inverse=True)
        counts = np.bincount(places, weights=self.counts[kept], minlength=len(keys)).astype(np.int32)
        rows = (keys % max(n_groups, 1)).astype(np.int32)
        sizes = np.bincount(keys // max(n_groups, 1), minlength=len(self.terms))
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        lengths = np.bincount(rows, weights=counts, minlength=n_groups).astype(np.int32)
        return self._assemble(list(self.terms), offsets, rows, counts, lengths)

    def to_table(self) -> pa.Table:
        """The postings as a table of LEXICAL_SCHEMA, for storing beside the index."""
        offsets = pa.array(self.offsets, pa.int32())
        return pa.table(
            [
                pa.array(list(self.terms), pa.string()),
                pa.ListArray.from_arrays(offsets, pa.array(self.rows)),
                pa.ListArray.from_arrays(offsets, pa.array(self.counts)),
            ],
            schema=LEXICAL_SCHEMA,
        )

    @classmethod
    def from_table(cls, table: pa.Table, n_rows: int) -> LexicalIndex:
        """The inverse of to_table, for an index over n_rows rows."""
        rows_column = table.column("rows").combine_chunks()
        rows = rows_column.flatten().to_numpy().astype(np.int32, copy=False)
        counts = table.column("counts").combine_chunks().flatten().to_numpy().astype(np.int32, copy=False)
        if len(rows) and int(rows.max()) >= n_rows:
            raise ValueError(f"the lexical index names row {int(rows.max())}, but there are {n_rows} rows")
        offsets = rows_column.offsets.to_numpy().astype(np.int64)
        lengths = np.bincount(rows, weights=counts, minlength=n_rows).astype(np.int32)
        return cls._assemble(table.column("term").to_pylist(), offsets, rows, counts, lengths)

    def postings(self, term: str, visible: int) -> tuple[Int32, Int32]:
        """Rows and counts of a stemmed term among the first `visible` rows."""
        number = self.terms.get(term)
        if number is None:
            return self.rows[:0], self.counts[:0]
        low, high = int(self.offsets[number]), int(self.offsets[number + 1])
        rows = self.rows[low:high]
        end = int(np.searchsorted(rows, visible))
        return rows[:end], self.counts[low : low + end]

    def scores(self, tokens: Iterable[str], visible: int, *, k1: float = 1.5, b: float = 0.75) -> Float64:
        """BM25 of each of the first `visible` rows for a set of stemmed terms; shape (visible,)."""
        scores = np.zeros(visible)
        if visible == 0:
            return scores
        mean = max(float(self.length_sums[visible]) / visible, 1e-9)
        norm = k1 * (1 - b + b * self.lengths[:visible] / mean)
        for term in dict.fromkeys(tokens):
            rows, counts = self.postings(term, visible)
            if len(rows):
                idf = np.log1p((visible - len(rows) + 0.5) / (len(rows) + 0.5))
                scores[rows] += idf * counts * (k1 + 1) / (counts + norm[rows])
        return scores

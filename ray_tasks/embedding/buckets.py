"""How texts are grouped for a sentence encoder: each distinct text once, in batches of exactly equal token length.

Equal length means no padding, hence no wasted work, and a text's vector that does not depend on its neighbours in the
batch. A resumed or differently ordered build therefore gives the same bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence


def distinct(texts: Iterable[str]) -> list[str]:
    """Each text once, in order of first appearance."""
    return list(dict.fromkeys(texts))


def equal_length_batches(lengths: Sequence[int], max_tokens: int, max_rows: int) -> Iterator[list[int]]:
    """Row numbers grouped by length, longest first, at most max_rows rows and about max_tokens tokens a batch.

    Longest first, so that a machine that has too little memory says so at the start and not at the end.
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for row, length in enumerate(lengths):
        groups[length].append(row)
    for length in sorted(groups, reverse=True):
        size = max(1, min(max_rows, max_tokens // max(length, 1)))
        rows = groups[length]
        for start in range(0, len(rows), size):
            yield rows[start : start + size]

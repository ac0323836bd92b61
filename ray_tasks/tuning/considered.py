"""The signals that learning starts from."""

from __future__ import annotations

from typing import Final

from ray_tasks.retrieval.weights import UNTRAINED, Column

CONSIDERED: Final[tuple[Column, ...]] = tuple(
    dict.fromkeys(
        [
            *UNTRAINED.columns,
            ("dense", "choice", "max", 2),
            ("dense", "context", "max", 0),
            ("dense", "with_choice", "mean", 0),
            ("said", "question", "max", 0),
            ("coarse", "question", "max", 0),
            ("said_words", "choice", "max", 0),
            ("row_words", "with_choice", "max", 0),
            ("window5", "with_choice", "max", 0),
        ]
    )
)
"""Every one is computed at every question if it keeps a weight, so the list is short: see `daybook tune --ablate`."""

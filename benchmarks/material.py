"""Texts to measure with: the rows of a corpus as they come, repetitions included."""

from __future__ import annotations

from pathlib import Path

from ray_tasks.corpus.layout import discover
from ray_tasks.corpus.observe import observe


def corpus_texts(corpus: Path | None, wearer: str | None, scratch: Path) -> list[str]:
    """All observations' texts in order of time, of a corpus or, where none is given, of the sample week."""
    if corpus is None:
        from sample_week import write_sample_week

        corpus = write_sample_week(scratch).corpus
    layout = discover(corpus, [wearer] if wearer else None)
    return [row.text for row in observe(layout.files).observations]

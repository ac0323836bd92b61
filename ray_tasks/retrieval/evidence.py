"""Clips as evidence: one item for each, told by the row of the clip that fits the question best."""

from __future__ import annotations

import numpy as np

from ray_tasks.embedding.whole_vectors import Float32, Float64, Int64, cosines
from ray_tasks.index.memory import CAPTION_VIEW, ViewIndex
from ray_tasks.retrieval.clip_table import ClipTable, RowBlock
from ray_tasks.retrieval.types import Evidence


def clip_evidence(table: ClipTable, clips: Int64, queries: Float32, scores: Float64) -> list[Evidence]:
    """An item for each clip, with its score: the row with the largest mean cosine to some whole query vectors (m, d).

    Clips without rows are told by their captions. Ties go to the earlier view and row.
    """
    best = np.full(len(clips), -np.inf)
    chosen: list[tuple[RowBlock, int] | None] = [None] * len(clips)
    for block in table.blocks:
        for number, position, fit in _best_rows(block, clips, queries):
            if fit > best[number]:
                best[number], chosen[number] = fit, (block, position)
    items: list[Evidence] = []
    for clip, score, found in zip(clips, scores, chosen, strict=True):
        if found is None:
            items.append(caption_evidence(table, int(clip), float(score)))
        else:
            view, row = found[0].view, int(found[0].row_numbers[found[1]])
            start, end = int(view.start_ms[row]), int(view.end_ms[row])
            items.append(Evidence(view.row_id(row), view.view, start, end, view.text(row), float(score)))
    return items


def _best_rows(block: RowBlock, clips: Int64, queries: Float32) -> list[tuple[int, int, float]]:
    """(number in clips, position in the block, fit) of the best row of every clip that has rows."""
    low, counts = block.firsts[clips], block.counts[clips]
    having = np.flatnonzero(counts)
    if not len(having):
        return []
    positions = np.concatenate([np.arange(low[i], low[i] + counts[i]) for i in having])
    fits = cosines(block.vectors[positions], queries).mean(axis=1)
    found: list[tuple[int, int, float]] = []
    first = 0
    for number in having:
        last = first + int(counts[number])
        at = first + int(np.argmax(fits[first:last]))
        found.append((int(number), int(positions[at]), float(fits[at])))
        first = last
    return found


def caption_evidence(table: ClipTable, clip: int, score: float) -> Evidence:
    """The caption of a clip as an item."""
    captions = table.captions
    start, end = int(table.start_ms[clip]), int(table.end_ms[clip])
    return Evidence(captions.row_id(clip), CAPTION_VIEW, start, end, captions.text(clip), score)


def clips_of(table: ClipTable, item: Evidence) -> list[int]:
    """The clips that an item of any view covers: those that start inside it and have ended with it.

    An item that covers no whole clip stands for the clip in which it starts.
    """
    return captions_of(table.captions, item)


def captions_of(captions: ViewIndex, item: Evidence) -> list[int]:
    """The rows of the caption view that an item covers, as clips_of tells; the last resort may end after the item."""
    start_ms, end_ms = captions.start_ms, captions.end_ms
    last = captions.visible(item.end_ms)
    inside = np.flatnonzero((start_ms[:last] >= item.start_ms) & (start_ms[:last] <= item.end_ms))
    if len(inside):
        return [int(clip) for clip in inside]
    holding = np.flatnonzero((start_ms <= item.start_ms) & (end_ms >= item.start_ms))
    return [int(holding[0])] if len(holding) else []

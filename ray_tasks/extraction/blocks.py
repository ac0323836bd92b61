"""Where activities and conversations begin and end, decided online: a cut never depends on what comes after it.

Whether a caption opens a new block is decided from this caption and those before, so for any time T, the blocks that
end by T are the same whether or not anything was recorded after T. The guarantee needs no line to run on past the end
of the window after its own; the length of a block is therefore measured at the ends of windows, with half a minute left
for a last line that runs on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import sqrt
from typing import Final

from ray_tasks.corpus.fuse import CLIP_MS
from ray_tasks.extraction.notes import Note, Rarity
from ray_tasks.extraction.types import LONGEST_MS, SHORTEST_MS, WINDOW_MS, window_end

Block = tuple[int, ...]
"""Positions of notes, in order."""

_GAP_MS: Final = 60_000
_SILENCE_MS: Final = 60_000
_LONGEST_NOMINAL_MS: Final = LONGEST_MS - CLIP_MS
_LOOKBACK: Final = 4
_FEWEST_TERMS: Final = 2
_LOOSEST: Final = 0.06
_TIGHTEST: Final = 0.45


def activity_blocks(notes: Sequence[Note], rarity: Rarity) -> list[Block]:
    """Contiguous blocks of captions with visual lines, of one to ten minutes inside a half hour of the clock.

    A block ends where the next caption shares few words with its last four (the longer the block, the more must be
    shared), at a recording gap of more than a minute, at the half hour, and before it exceeds ten minutes. Only a gap
    or the end of the recording leaves a block shorter than a minute. `rarity` is that of the notes' `seen_terms`.
    """
    blocks: list[list[int]] = []
    for position, note in enumerate(notes):
        if note.caption.n_visual == 0:
            continue
        if not blocks or _must_cut(notes, blocks[-1], position) or _turns(notes, blocks[-1], position, rarity):
            blocks.append([])
        blocks[-1].append(position)
    return [tuple(block) for block in blocks]


def talk_runs(notes: Sequence[Note]) -> list[Block]:
    """Runs of captions with talk, ended by a minute without talk, the half hour of the clock, and ten minutes."""
    runs: list[list[int]] = []
    last_word_ms = 0
    for position, note in enumerate(notes):
        for talk in note.talk:
            silent = talk.line.start_ms - last_word_ms >= _SILENCE_MS
            if not runs or silent or (runs[-1][-1] != position and _too_long(notes, runs[-1], position)):
                runs.append([])
                last_word_ms = talk.line.end_ms
            if position not in runs[-1][-1:]:
                runs[-1].append(position)
            last_word_ms = max(last_word_ms, talk.line.end_ms)
    return [tuple(run) for run in runs]


def _must_cut(notes: Sequence[Note], block: Sequence[int], position: int) -> bool:
    gap = notes[position].caption.start_ms - window_end(notes[block[-1]].caption)
    return gap > _GAP_MS or _too_long(notes, block, position)


def _too_long(notes: Sequence[Note], block: Sequence[int], position: int) -> bool:
    """Whether a caption lies in another half hour, or would stretch a block beyond ten minutes."""
    first, caption = notes[block[0]].caption, notes[position].caption
    if first.start_ms // WINDOW_MS != caption.start_ms // WINDOW_MS:
        return True
    return window_end(caption) - first.start_ms > _LONGEST_NOMINAL_MS


def _turns(notes: Sequence[Note], block: Sequence[int], position: int, rarity: Rarity) -> bool:
    """Whether a caption begins something else, and both the block and what can follow it last a minute."""
    caption = notes[position].caption
    length = window_end(notes[block[-1]].caption) - notes[block[0]].caption.start_ms
    left = (caption.start_ms // WINDOW_MS + 1) * WINDOW_MS - caption.start_ms
    terms = notes[position].seen_terms
    if length < SHORTEST_MS or left < SHORTEST_MS or len(terms) < _FEWEST_TERMS:
        return False
    recent: Counter[str] = Counter()
    for earlier in block[-_LOOKBACK:]:
        recent.update(notes[earlier].seen_terms)
    needed = _LOOSEST + (_TIGHTEST - _LOOSEST) * length / LONGEST_MS
    return _cohesion(terms, recent, rarity, position) < needed


def _cohesion(first: Counter[str], second: Counter[str], rarity: Rarity, up_to: int) -> float:
    """Cosine of the two bags of words, square roots of counts weighted by rarity; 0 where one is empty."""
    weights = {term: rarity.weight(term, up_to) for term in {*first, *second}}
    shared = sum(sqrt(first[term] * second[term]) * weights[term] ** 2 for term in first if term in second)
    norms = [sqrt(sum(count * weights[term] ** 2 for term, count in bag.items())) for bag in (first, second)]
    return shared / (norms[0] * norms[1]) if all(norms) else 0.0

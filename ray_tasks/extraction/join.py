"""Activities and conversations that run on across a window's border become one (EgoCITE section 4.1, appendix B.2).

Two atoms of one view are joined if they lie in neighbouring half hours of the clock, at most thirty seconds apart, make
no more than ten minutes together, and are alike. Texts of a language model are alike at a cosine above 0.9, as in the
paper. Texts of rules list what they found instead of wording it, so their cosine says little. There, activities are
alike if the smaller set of content words shares three tenths with the other, and a piece shorter than a minute, which
only the border or a gap cut off, always joins; conversations, which only a silence ends, are alike if half of the
smaller set of people takes part in the other.

An atom that is joined can be seen only from the end of its later part on, and holds nothing later. That an atom stays
alone may follow from what comes after it; its words never do.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

import numpy as np

from ray_tasks.extraction.atoms import COARSE, adjoin, joined_atom, position_of, sort_in
from ray_tasks.extraction.fine import ENGINE
from ray_tasks.extraction.notes import terms_of
from ray_tasks.extraction.summaries import ALSO, MOST_NAMES, MOST_WORDS, WITH
from ray_tasks.extraction.types import SHORTEST_MS, WINDOW_MS, Embed, Extraction
from ray_tasks.extraction.words import distinct
from ray_tasks.rows import Atom

ALIKE_COSINE: Final = 0.9
ALIKE_WORDS: Final = 0.3
ALIKE_PEOPLE: Final = 0.5

_ACT_WORDS: Final = 32


def join_windows(atoms: Sequence[Atom], *, embed: Embed | None = None) -> Extraction:
    """The activities and conversations of one wearer and day; see Extractor.join_windows for the contract.

    `embed` is asked only about neighbours that come from a language model; without it these are compared by words too.
    Atoms of the fine views are counted as filtered. Raises ValueError where the atoms belong to several wearers.
    """
    coarse, ledger = sort_in(atoms)
    joined: list[Atom] = []
    for view in COARSE:
        ordered = sorted((atom for atom in coarse.values() if atom.view == view), key=position_of)
        result = _join(ordered, embed)
        if len(ordered) > len(result):
            ledger.notes[f"joined_{view}"] = len(ordered) - len(result)
        joined.extend(result)
    return Extraction(tuple(sorted(joined, key=position_of)), ledger)


def _join(ordered: Sequence[Atom], embed: Embed | None) -> list[Atom]:
    result: list[Atom] = []
    last_window = -1
    for atom in ordered:
        window = atom.start_ms // WINDOW_MS
        if window == last_window + 1 and result and adjoin(result[-1], atom) and _alike(result[-1], atom, embed):
            result[-1] = _merged(result[-1], atom)
        else:
            result.append(atom)
        last_window = window
    return result


def _alike(first: Atom, second: Atom, embed: Embed | None) -> bool:
    by_rules = first.engine == ENGINE and second.engine == ENGINE
    if embed is not None and not by_rules:
        vectors = np.asarray(embed([first.text, second.text]), dtype=np.float64)
        return float(vectors[0] @ vectors[1]) > ALIKE_COSINE
    if first.view == "conversation":
        return _shared(set(first.people), set(second.people)) >= ALIKE_PEOPLE
    if min(first.end_ms - first.start_ms, second.end_ms - second.start_ms) < SHORTEST_MS:
        return True
    words = [set(terms_of(atom.text, atom.people)) - {f"@{name}" for name in atom.people} for atom in (first, second)]
    return _shared(words[0], words[1]) >= ALIKE_WORDS


def _shared(one: set[str], other: set[str]) -> float:
    """The share of the smaller set that the other set holds too; 0 where one is empty."""
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0


def _merged(first: Atom, second: Atom) -> Atom:
    text = _merged_activity(first.text, second.text) if first.view == "activity" else f"{first.text} {second.text}"
    return joined_atom(first, second, text)


def _merged_activity(first: str, second: str) -> str:
    """The parts of two activity texts: acts in order of time, then people, then things, at most MOST_WORDS words."""
    sides = [text.rstrip(".").split("; ") for text in (first, second)]
    parts = [part for side in sides for part in side]
    names = distinct(name for part in parts if part.startswith(WITH) for name in part[len(WITH) :].split(", "))
    things = distinct(word for part in parts if part.startswith(ALSO) for word in part[len(ALSO) :].split(", "))
    kept = _fitting([[part for part in side if not part.startswith((WITH, ALSO))] for side in sides])
    if names:
        kept.append(WITH + ", ".join(names[:MOST_NAMES]))
    room = MOST_WORDS - 1 - sum(len(part.split()) for part in kept)
    if things and room > 0:
        kept.append(ALSO + ", ".join(things[:room]))
    return "; ".join(kept) + "."


def _fitting(sides: Sequence[Sequence[str]]) -> list[str]:
    """Acts taken from both sides in turn as long as there is room, the first of each in any case, in order of time."""
    turns = [act for pair in zip_longest(*sides) for act in pair if act is not None]
    chosen: list[str] = []
    for turn, act in enumerate(distinct(turns)):
        if turn < len(sides) or sum(len(one.split()) for one in [*chosen, act]) <= _ACT_WORDS:
            chosen.append(act)
    return [act for act in distinct(act for side in sides for act in side) if act in chosen]

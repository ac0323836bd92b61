"""Atoms as every engine makes, orders and joins them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ray_tasks.extraction.types import LONGEST_MS
from ray_tasks.extraction.words import distinct
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Atom, Caption, View, make_atom_id

COARSE: Final[tuple[View, ...]] = ("activity", "conversation")
"""The views that are cut inside windows and joined across them."""

TOUCHING_MS: Final = 30_000
"""How far apart two atoms may lie that are joined."""


def atom_of(
    captions: Sequence[Caption], view: View, text: str, people: tuple[str, ...], *, engine: str, version: str
) -> Atom:
    """An atom with the interval of its captions, which are one or more in order of time."""
    first = captions[0]
    return Atom(
        atom_id=make_atom_id(first.wearer, view, first.start_ms, text),
        wearer=first.wearer,
        view=view,
        start_ms=first.start_ms,
        end_ms=max(caption.end_ms for caption in captions),
        text=text,
        people=people,
        caption_ids=tuple(caption.caption_id for caption in captions),
        engine=engine,
        prompt_version=version,
    )


def joined_atom(first: Atom, second: Atom, text: str) -> Atom:
    """The atom of both, with this text; what the first has alone is kept."""
    return replace(
        first,
        atom_id=make_atom_id(first.wearer, first.view, first.start_ms, text),
        end_ms=max(first.end_ms, second.end_ms),
        text=text,
        people=distinct([*first.people, *second.people]),
        caption_ids=distinct([*first.caption_ids, *second.caption_ids]),
    )


def adjoin(first: Atom, second: Atom) -> bool:
    """Whether two atoms touch and are short enough together."""
    touching = second.start_ms - first.end_ms <= TOUCHING_MS
    return touching and max(first.end_ms, second.end_ms) - first.start_ms <= LONGEST_MS


def position_of(atom: Atom) -> tuple[int, int, str, str]:
    """What atoms are in order of."""
    return atom.start_ms, atom.end_ms, atom.view, atom.atom_id


def sort_in(atoms: Sequence[Atom]) -> tuple[dict[str, Atom], Ledger]:
    """The coarse atoms by id, and the ledger of all that came in; raises ValueError for atoms of several wearers."""
    wearers = {atom.wearer for atom in atoms}
    if len(wearers) > 1:
        raise ValueError(f"atoms of several wearers cannot be joined: {', '.join(sorted(wearers))}")
    coarse = {atom.atom_id: atom for atom in atoms if atom.view in COARSE}
    ledger = Ledger(taken=len(atoms), done=len(coarse))
    fine = sum(atom.view not in COARSE for atom in atoms)
    filtered = {"fine_view": fine, "duplicate": len(atoms) - fine - len(coarse)}
    ledger.filtered.update({reason: count for reason, count in filtered.items() if count})
    return coarse, ledger

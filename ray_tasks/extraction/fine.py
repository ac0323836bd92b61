"""Actions and utterances: the fine views of a shard (EgoCITE section 4.1 and appendix B.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ray_tasks.extraction.atoms import atom_of
from ray_tasks.extraction.reader import Fact, Reading, read_shard
from ray_tasks.extraction.types import Extraction
from ray_tasks.extraction.words import distinct
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Atom, Caption, View

ENGINE: Final = "rules"
RULES_VERSION: Final = "rules-1"
"""To be raised with every change of a rule, so that no shard made by older rules is taken from a cache."""


def extract_fine(captions: Sequence[Caption], halo: Sequence[Caption], *, wearer: str) -> Extraction:
    """Action and utterance atoms of one shard; see Extractor.extract_fine for the contract."""
    ledger = Ledger()
    atoms: list[Atom] = []
    for caption, readings in zip(captions, read_shard(tuple(captions), tuple(halo), wearer), strict=True):
        atoms.extend(_atoms_of(caption, readings, ledger))
    ledger.check(f"extract {wearer}")
    return Extraction(tuple(atoms), ledger)


def _atoms_of(caption: Caption, readings: Sequence[Reading], ledger: Ledger) -> list[Atom]:
    """The atoms of a caption without repeats; every line is counted once."""
    facts: dict[tuple[View, str], Fact] = {}
    for reading in readings:
        ledger.taken += 1
        fresh = [fact for fact in reading.facts if (fact.view, fact.text) not in facts]
        if fresh:
            ledger.done += 1
            ledger.notes.update(distinct(reading.notes))
        else:
            ledger.filtered[reading.reason or "duplicate_in_caption"] += 1
        facts.update({(fact.view, fact.text): fact for fact in fresh})
    return [
        atom_of([caption], fact.view, fact.text, fact.people, engine=ENGINE, version=RULES_VERSION)
        for fact in facts.values()
    ]

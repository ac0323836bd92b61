"""How self-contained atoms are: the two measures of EgoCITE's appendix A.1, and what they do not see."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ray_tasks.extraction.pronouns import has_unresolved
from ray_tasks.rows import Atom

_QUOTED: Final = re.compile(r"\"[^\"]+\"|“[^”]+”|「[^」]+」|(?<!\w)'[^']{2,}'(?!\w)")
_AS_SAID: Final = re.compile(r"^[^:]{1,60}\b(?:says?|asks?|tells?|suggests?)\b[^:]{0,40}: ")


@dataclass
class AtomReport:
    """Counts over atoms, by view; reports of shards add up to that of a build.

    `unresolved`: a third-person pronoun stands as a subject or object (A.1 flags WorldMM's triples so: 10.1%); of a
    statement that passes on speech, the words after the colon count too.
    `quoted`: the text holds a quoted span (A.1 flags LoCoMo's observations so: 17.4%).
    `as_said`: speech after a colon in the speaker's own words. It is no quotation by A.1's measure, but no rewritten
    statement either, so it is counted beside it.
    """

    atoms: Counter[str] = field(default_factory=Counter)
    unresolved: Counter[str] = field(default_factory=Counter)
    quoted: Counter[str] = field(default_factory=Counter)
    as_said: Counter[str] = field(default_factory=Counter)

    def add(self, other: AtomReport) -> AtomReport:
        """Adds another report to this one, in place, and returns this one."""
        self.atoms.update(other.atoms)
        self.unresolved.update(other.unresolved)
        self.quoted.update(other.quoted)
        self.as_said.update(other.as_said)
        return self

    def share(self, counts: Mapping[str, int], view: str | None = None) -> float:
        """A count of this report as percent of the atoms of a view, or of all; 0 where there are none."""
        atoms = self.atoms[view] if view else self.atoms.total()
        count = counts.get(view, 0) if view else sum(counts.values())
        return 100.0 * count / atoms if atoms else 0.0

    def to_json(self) -> dict[str, dict[str, int]]:
        """A plain dictionary of counts with sorted keys."""
        return {
            name: dict(sorted(getattr(self, name).items())) for name in ("atoms", "unresolved", "quoted", "as_said")
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Mapping[str, Any]]) -> AtomReport:
        """The inverse of to_json."""
        return cls(*(Counter(data[name]) for name in ("atoms", "unresolved", "quoted", "as_said")))


def atom_report(atoms: Iterable[Atom]) -> AtomReport:
    """The report on some atoms."""
    report = AtomReport()
    for atom in atoms:
        report.atoms[atom.view] += 1
        report.unresolved[atom.view] += has_unresolved(atom.text)
        report.quoted[atom.view] += _QUOTED.search(atom.text) is not None
        report.as_said[atom.view] += atom.view == "utterance" and _AS_SAID.match(atom.text) is not None
    return report

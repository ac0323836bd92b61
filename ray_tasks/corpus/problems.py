"""What was odd about a source file, said with its place, so that a person can mend it."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from ray_tasks.errors import UsageError

SHOWN_PER_KIND = 20
"""Problems of one kind that are named for one file; the rest are counted in one closing entry."""


class CorpusError(UsageError):
    """A corpus that cannot be read at all, or a wearer or day that it does not have; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One oddity: its kind (a stable word), the file it is in, what it is, and the line where there is one."""

    kind: str
    file: str
    detail: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.detail} [{self.kind}]"

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return asdict(self)


@dataclass
class ProblemLog:
    """Problems of one file, cut to SHOWN_PER_KIND of each kind so that a broken file does not flood a report."""

    file: str
    counts: Counter[str] = field(default_factory=Counter)
    _shown: list[Problem] = field(default_factory=list)

    def add(self, kind: str, detail: str, line: int | None = None) -> None:
        """Notes one problem."""
        self.counts[kind] += 1
        if self.counts[kind] <= SHOWN_PER_KIND:
            self._shown.append(Problem(kind, self.file, detail, line))

    def listed(self) -> list[Problem]:
        """The problems by line, then one entry for each kind of which more were found than are shown."""
        more = [
            Problem(kind, self.file, f"and {count - SHOWN_PER_KIND} more of this kind")
            for kind, count in sorted(self.counts.items())
            if count > SHOWN_PER_KIND
        ]
        return sorted(self._shown, key=lambda problem: problem.line or 0) + more

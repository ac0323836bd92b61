"""What can be wrong with a statement: a rule's name, under which it is counted, and the words that broke it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from ray_tasks.engines.prompts import Prompt

SOFT: Final = frozenset({"too_short"})
"""A statement with no other fault is asked for again once, and then kept: the papers' own examples have three to seven
words, the caption may say no more, and whoever pads it out invents.
"""

DISCARDED: Final = frozenset({"undirected_motion", "micro_gesture", "posture"})
"""What the scheme leaves out (EgoCITE Table 8, motion filtering): a model may withdraw such a statement."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A broken rule; `words` are those that break it, for the correction."""

    rule: str
    words: str = ""

    @property
    def remark(self) -> str:
        """What the model is told."""
        told = remarks()[self.rule]
        return f"{told} (here: {self.words})" if self.words else told


def hard(faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    """The faults with which a statement cannot be kept."""
    return tuple(fault for fault in faults if fault.rule not in SOFT)


@cache
def remarks() -> dict[str, str]:
    """The remark of every rule, from ``prompts/faults.txt``: a line each, ``rule: remark``."""
    lines = Prompt.load("ray_tasks.extraction.llm", "faults").text.splitlines()
    return dict(line.split(": ", 1) for line in lines if line)

"""The three agents of EgoCITE (§4.2, Appendix B.3-B.5) as interfaces: rules or a language model may stand behind each.

All three take a batch and give one result for each question, the same as if it had been asked alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.types import Evidence, Question, Status


@dataclass(frozen=True, slots=True)
class Draft:
    """The index pool that drafting collected, without repeats and in order of time, and how it came about."""

    pool: tuple[Evidence, ...]
    rounds: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What the response agent makes of the evidence: a label with probabilities, or a text if there are no choices."""

    choice: str | None
    status: Status = "answered"
    probabilities: tuple[tuple[str, float], ...] = ()
    text: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    notes: tuple[str, ...] = ()


class DraftingAgent(Protocol):
    """Searches the views in several rounds and collects candidates."""

    def draft(self, questions: Sequence[Question], memory: WearerMemory) -> list[Draft]:
        """One pool for each question; every item ends at or before the question's time."""
        ...


class SamplingAgent(Protocol):
    """Keeps of a pool what fits the question's temporal intent."""

    def curate(self, question: Question, pool: Sequence[Evidence]) -> tuple[Evidence, ...]:
        """At most as many items as the method may keep, in order of time."""
        ...


class ResponseAgent(Protocol):
    """Answers from curated evidence alone."""

    def respond(
        self, questions: Sequence[Question], evidence: Sequence[tuple[Evidence, ...]], memory: WearerMemory
    ) -> list[Reply]:
        """One reply for each question; declined where there is no evidence."""
        ...

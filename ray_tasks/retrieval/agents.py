"""The three agents of EgoCITE (§4.2, Appendix B.3-B.5) as interfaces: rules or a language model may stand behind each.

The agents on rules take a batch and give one result for each question, the same as if it had been asked alone. Those
of a language model take one question, wait most of the time, and book their calls; `retrieval/llm/rules.py` lets rules
stand in their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ray_tasks.engines.counts import CallCounts
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.trace import Round
from ray_tasks.retrieval.types import Evidence, Question, Status


@dataclass(frozen=True, slots=True)
class Draft:
    """The index pool that drafting collected, without repeats and in order of time, and how it came about."""

    pool: tuple[Evidence, ...]
    rounds: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    notes: tuple[str, ...] = ()
    calls: int = 0
    log: tuple[Round, ...] = ()


@dataclass(frozen=True, slots=True)
class Curation:
    """What a sampling agent kept, in order of time."""

    kept: tuple[Evidence, ...]
    tokens_in: int = 0
    tokens_out: int = 0
    notes: tuple[str, ...] = ()
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """What the response agent makes of the evidence: a label with probabilities, or a text if there are no choices.

    error: what went wrong where the status is error. cited: intervals of captions that it relies on. shown: the
    captions that it was shown. found: how likely it is that the evidence answers the question, where that is measured.
    """

    choice: str | None
    status: Status = "answered"
    probabilities: tuple[tuple[str, float], ...] = ()
    text: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    notes: tuple[str, ...] = ()
    calls: int = 0
    error: str = ""
    cited: tuple[tuple[int, int], ...] = ()
    shown: tuple[Evidence, ...] = ()
    found: float | None = None


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


class AsyncDraftingAgent(Protocol):
    """A drafting agent that may ask a model."""

    async def draft(self, question: Question, memory: WearerMemory, counts: CallCounts) -> Draft:
        """The pool of a question; every item ends at or before its time. Raises UnreachableError."""
        ...


class AsyncSamplingAgent(Protocol):
    """A sampling agent that may ask a model."""

    async def curate(self, question: Question, pool: Sequence[Evidence], counts: CallCounts) -> Curation:
        """At most as many items as the method may keep, in order of time. Raises UnreachableError."""
        ...


class AsyncResponseAgent(Protocol):
    """A response agent that may ask a model."""

    async def respond(
        self, question: Question, evidence: tuple[Evidence, ...], memory: WearerMemory, counts: CallCounts
    ) -> Reply:
        """A reply from the evidence alone; declined where there is none. Raises UnreachableError."""
        ...

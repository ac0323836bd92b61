"""Method `egocite`: draft, curate, respond (EgoCITE §4.2), each step behind an interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.agents import Curation, Draft, DraftingAgent, Reply, ResponseAgent, SamplingAgent
from ray_tasks.retrieval.trace import Round, Trace
from ray_tasks.retrieval.types import Answer, Evidence, Preparing, Question


@runtime_checkable
class Explaining(Protocol):
    """A drafting agent that can tell its rounds afterwards, at the price of searching once more."""

    def explain(self, question: Question, memory: WearerMemory) -> tuple[Round, ...]:
        """The rounds of a question's draft."""
        ...


def explained(trace: Trace, drafting: object, memory: WearerMemory) -> Trace:
    """A trace with its rounds, which a drafting agent that kept no log is asked for."""
    if trace.rounds or not isinstance(drafting, Explaining):
        return trace
    return replace(trace, rounds=drafting.explain(trace.question, memory))


@dataclass(frozen=True)
class EgoCite:
    """The three agents in a row; keeps no state between questions."""

    drafting: DraftingAgent
    sampling: SamplingAgent
    response: ResponseAgent
    name: str = "egocite"

    def prepare(self, questions: Sequence[Question]) -> None:
        """See Preparing."""
        if isinstance(self.drafting, Preparing):
            self.drafting.prepare(questions)

    def answer(self, question: Question, memory: WearerMemory) -> Answer:
        """Answers from what `memory` held at the question's time."""
        return self.answer_many([question], memory)[0]

    def answer_many(self, questions: list[Question], memory: WearerMemory) -> list[Answer]:
        """Answers of a batch in its order; each is the one the question would get alone."""
        return [trace.answer for trace in self._trace_many(questions, memory)]

    def trace(self, question: Question, memory: WearerMemory) -> Trace:
        """The answer with how it came about; a drafting agent that keeps no log is asked to explain its rounds."""
        return explained(self._trace_many([question], memory)[0], self.drafting, memory)

    def _trace_many(self, questions: list[Question], memory: WearerMemory) -> list[Trace]:
        drafts = self.drafting.draft(questions, memory)
        kept = [self.sampling.curate(question, draft.pool) for question, draft in zip(questions, drafts, strict=True)]
        replies = self.response.respond(questions, kept, memory)
        return [
            Trace(question, draft.log, draft.pool, evidence, reply.shown, answer_of(question, draft, evidence, reply))
            for question, draft, evidence, reply in zip(questions, drafts, kept, replies, strict=True)
        ]


def answer_of(
    question: Question, draft: Draft, evidence: tuple[Evidence, ...], reply: Reply, curation: Curation | None = None
) -> Answer:
    """The answer that the three steps made together."""
    steps = (draft, reply) if curation is None else (draft, curation, reply)
    return Answer(
        question_id=question.question_id,
        choice=reply.choice,
        evidence=evidence,
        status=reply.status,
        probabilities=reply.probabilities,
        text=reply.text,
        rounds=draft.rounds,
        tokens_in=sum(step.tokens_in for step in steps),
        tokens_out=sum(step.tokens_out for step in steps),
        notes=tuple(note for step in steps for note in step.notes),
        calls=sum(step.calls for step in steps),
        error=reply.error,
        cited=reply.cited,
        found=reply.found,
    )

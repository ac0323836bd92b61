"""Method `egocite`: draft, curate, respond (EgoCITE §4.2), each step behind an interface."""

from __future__ import annotations

from dataclasses import dataclass

from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.agents import DraftingAgent, ResponseAgent, SamplingAgent
from ray_tasks.retrieval.types import Answer, Question


@dataclass(frozen=True)
class EgoCite:
    """The three agents in a row; keeps no state between questions."""

    drafting: DraftingAgent
    sampling: SamplingAgent
    response: ResponseAgent
    name: str = "egocite"

    def answer(self, question: Question, memory: WearerMemory) -> Answer:
        """Answers from what `memory` held at the question's time."""
        return self.answer_many([question], memory)[0]

    def answer_many(self, questions: list[Question], memory: WearerMemory) -> list[Answer]:
        """Answers of a batch in its order; each is the one the question would get alone."""
        drafts = self.drafting.draft(questions, memory)
        kept = [self.sampling.curate(question, draft.pool) for question, draft in zip(questions, drafts, strict=True)]
        replies = self.response.respond(questions, kept, memory)
        return [
            Answer(
                question_id=question.question_id,
                choice=reply.choice,
                evidence=evidence,
                status=reply.status,
                probabilities=reply.probabilities,
                text=reply.text,
                rounds=draft.rounds,
                tokens_in=draft.tokens_in + reply.tokens_in,
                tokens_out=draft.tokens_out + reply.tokens_out,
                notes=(*draft.notes, *reply.notes),
            )
            for question, draft, evidence, reply in zip(questions, drafts, kept, replies, strict=True)
        ]

"""Agents on rules in the place of agents that ask a model, so that every combination of them can be measured."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from ray_tasks.engines.counts import CallCounts
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.agents import Curation, Draft, DraftingAgent, Reply, ResponseAgent, SamplingAgent
from ray_tasks.retrieval.egocite import Explaining
from ray_tasks.retrieval.trace import Round
from ray_tasks.retrieval.types import Evidence, Question


@dataclass(frozen=True)
class RulesDraft:
    """Drafts on rules; satisfies AsyncDraftingAgent."""

    agent: DraftingAgent

    async def draft(self, question: Question, memory: WearerMemory, counts: CallCounts) -> Draft:  # noqa: ARG002
        """The pool of the rules, made in a thread, so that other questions go on meanwhile."""
        return (await asyncio.to_thread(self.agent.draft, [question], memory))[0]

    def explain(self, question: Question, memory: WearerMemory) -> tuple[Round, ...]:
        """See Explaining; nothing where the rules cannot tell."""
        return self.agent.explain(question, memory) if isinstance(self.agent, Explaining) else ()


@dataclass(frozen=True)
class RulesCurate:
    """Curates on rules; satisfies AsyncSamplingAgent."""

    agent: SamplingAgent

    async def curate(self, question: Question, pool: Sequence[Evidence], counts: CallCounts) -> Curation:  # noqa: ARG002
        """What the rules keep."""
        return Curation(self.agent.curate(question, pool))


@dataclass(frozen=True)
class RulesRespond:
    """Answers on rules; satisfies AsyncResponseAgent."""

    agent: ResponseAgent

    async def respond(
        self,
        question: Question,
        evidence: tuple[Evidence, ...],
        memory: WearerMemory,
        counts: CallCounts,  # noqa: ARG002
    ) -> Reply:
        """The reply of the rules, made in a thread."""
        return (await asyncio.to_thread(self.agent.respond, [question], [evidence], memory))[0]

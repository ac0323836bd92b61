"""Methods `imprint` and `all-records`: answers read from records, else by the respond step (Imprint Algorithm 2)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.steps import gather
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.agents import AsyncResponseAgent, Reply, ResponseAgent
from ray_tasks.retrieval.imprint.fields import Matcher, all_written, describe
from ray_tasks.retrieval.imprint.resolve import Resolved, told_by
from ray_tasks.retrieval.imprint.retrieving import Retrieved, Retriever
from ray_tasks.retrieval.imprint.settings import ImprintSettings
from ray_tasks.retrieval.imprint.table import InteractionTable
from ray_tasks.retrieval.llm.asking import Asker
from ray_tasks.retrieval.llm.method import check_taken
from ray_tasks.retrieval.trace import Call, Round, Trace
from ray_tasks.retrieval.trace import Found as FoundItem
from ray_tasks.retrieval.types import Answer, Embed, Question

IMPRINT = "imprint"
ALL_RECORDS = "all-records"
LEAST_CHANCE = 0.01
"""What an option keeps of the chances that nothing speaks for."""
DIRECT = "read_from_records"
"""The note of an answer that was read without the respond step."""


def settings_of(name: str, settings: ImprintSettings) -> ImprintSettings:
    """The settings as the method of a name has them."""
    return settings.of_all_records() if name == ALL_RECORDS else settings


@dataclass(frozen=True)
class Answering:
    """What both forms of the method share: retrieval before the respond step, and the answer after it."""

    embed: Embed
    retriever: Retriever
    settings: ImprintSettings

    def matcher(self, memory: WearerMemory) -> Matcher:
        """What compares texts for one batch; raises NoInteractionsError."""
        return Matcher(self.embed, InteractionTable.of(memory).vector)

    def retrieve(self, questions: list[Question], memory: WearerMemory, matcher: Matcher) -> list[Retrieved]:
        """What each question finds."""
        return self.retriever.retrieve(questions, memory, matcher)

    def complete(self, retrieved: Retrieved, reply: Reply, memory: WearerMemory, matcher: Matcher) -> Answer:
        """The answer of a reply, with the field of the records that tells it."""
        resolved = retrieved.resolved
        basis = resolved.basis if resolved is not None else ""
        if not basis and not retrieved.notes and reply.choice is not None:
            basis = self._basis(retrieved, reply.choice, memory.name, matcher)
        return Answer(
            question_id=retrieved.question.question_id,
            choice=reply.choice,
            evidence=retrieved.evidence,
            status=reply.status,
            probabilities=reply.probabilities,
            text=reply.text,
            rounds=1,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            notes=(*retrieved.notes, *reply.notes),
            calls=reply.calls,
            error=reply.error,
            cited=reply.cited,
            found=reply.found,
            fields=all_written(retrieved.records, retrieved.company),
            basis=basis,
        )

    def _basis(self, retrieved: Retrieved, choice: str, wearer: str, matcher: Matcher) -> str:
        labels = [label for label, _ in retrieved.question.choices]
        if choice not in labels:
            return ""
        number = labels.index(choice)
        return told_by(retrieved.question, number, retrieved.records, matcher.matches, wearer, self.settings.theta)


def direct_reply(retrieved: Retrieved, resolved: Resolved) -> Reply:
    """What was read as a reply; its text names the field and the record that it was read from."""
    labels = [label for label, _ in retrieved.question.choices]
    text = f"{resolved.text}; from {describe(retrieved.records[0])}"
    if not labels:
        return Reply(None, text=text, notes=(DIRECT,))
    weights = [max(score, LEAST_CHANCE) for score in resolved.scores]
    chances = tuple((label, weight / sum(weights)) for label, weight in zip(labels, weights, strict=True))
    return Reply(labels[resolved.best], probabilities=chances, text=text, notes=(DIRECT,))


def trace_of(retrieved: Retrieved, answer: Answer) -> Trace:
    """How an answer came about: the one ranking, with the evidence that it gave."""
    cues = retrieved.cues
    ranked = sorted(enumerate(retrieved.evidence, start=1), key=lambda pair: (-pair[1].score, pair[0]))
    found = tuple(FoundItem(number, item, item.score, 1.0, True) for number, item in ranked)
    query = f"object {cues.object!r}, action {cues.action!r}"
    asked = ", ".join(part for part in (cues.intent, cues.occasion and f"{cues.occasion} time") if part)
    told = f"{len(retrieved.found)} entries, {asked}"
    steps = "; ".join(cues.sub_questions)
    turn = Round(1, steps, (Call("rank_entries", query, "", None, found, told),))
    return Trace(retrieved.question, (turn,), retrieved.evidence, retrieved.evidence, (), answer)


@dataclass(frozen=True)
class Imprint:
    """Imprint without a language model; keeps no state between questions."""

    steps: Answering
    response: ResponseAgent
    name: str = IMPRINT

    def answer(self, question: Question, memory: WearerMemory) -> Answer:
        """Answers from what `memory` held at the question's time; raises NoInteractionsError."""
        return self.answer_many([question], memory)[0]

    def answer_many(self, questions: list[Question], memory: WearerMemory) -> list[Answer]:
        """Answers of a batch in its order; each is the one the question would get alone."""
        return [trace.answer for trace in self._trace_many(questions, memory)]

    def trace(self, question: Question, memory: WearerMemory) -> Trace:
        """The answer with how it came about."""
        return self._trace_many([question], memory)[0]

    def _trace_many(self, questions: list[Question], memory: WearerMemory) -> list[Trace]:
        matcher = self.steps.matcher(memory)
        retrieved = self.steps.retrieve(questions, memory, matcher)
        left = [one for one in retrieved if one.resolved is None]
        replies = iter(self.response.respond([one.question for one in left], [one.evidence for one in left], memory))
        traces = []
        for one in retrieved:
            reply = next(replies) if one.resolved is None else direct_reply(one, one.resolved)
            traces.append(trace_of(one, self.steps.complete(one, reply, memory, matcher)))
        return traces


@dataclass(frozen=True)
class AskingImprint:
    """Imprint whose respond step is a language model; satisfies Method and AsyncMethod."""

    steps: Answering
    response: AsyncResponseAgent
    asker: Asker
    name: str = IMPRINT

    async def answer_async(self, question: Question, memory: WearerMemory, counts: CallCounts) -> Answer:
        """See AsyncMethod; retrieval runs in a thread, so that other questions go on meanwhile."""
        return (await self._trace(question, memory, counts)).answer

    def answer(self, question: Question, memory: WearerMemory) -> Answer:
        """Answers one question and waits for it; raises as answer_async does."""
        return self.answer_many([question], memory)[0]

    def answer_many(self, questions: list[Question], memory: WearerMemory) -> list[Answer]:
        """Answers of a batch in its order, all under way at once; raises as answer_async does, for the whole batch."""
        counts = CallCounts()
        return self.asker.chat.run(gather(self.answer_async(question, memory, counts) for question in questions))

    def trace(self, question: Question, memory: WearerMemory) -> Trace:
        """The answer with how it came about; raises as answer_async does."""
        return self.asker.chat.run(self._trace(question, memory, CallCounts()))

    async def _trace(self, question: Question, memory: WearerMemory, counts: CallCounts) -> Trace:
        matcher = self.steps.matcher(memory)
        one = (await asyncio.to_thread(self.steps.retrieve, [question], memory, matcher))[0]
        own = CallCounts()
        try:
            if one.resolved is None:
                reply = await self.response.respond(question, one.evidence, memory, own)
                check_taken(own, question)
            else:
                reply = direct_reply(one, one.resolved)
        finally:
            counts.add(own)
        answer = await asyncio.to_thread(self.steps.complete, one, reply, memory, matcher)
        return trace_of(one, answer)

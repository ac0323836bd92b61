"""Method `egocite` with a language model behind one, two or all of its agents."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib import resources

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import RejectedError
from ray_tasks.engines.prompts import Prompt
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.engines.steps import gather, step_identity
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.agents import AsyncDraftingAgent, AsyncResponseAgent, AsyncSamplingAgent
from ray_tasks.retrieval.egocite import answer_of, explained
from ray_tasks.retrieval.llm.asking import AGENTS_VERSION, PACKAGE, Asker
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.trace import Trace
from ray_tasks.retrieval.types import Answer, Question


@dataclass(frozen=True)
class AgentMethod:
    """The three agents in a row, for many questions at once; satisfies Method and AsyncMethod.

    Keeps nothing of a question for another one, but for whether the endpoint takes tools.
    """

    drafting: AsyncDraftingAgent
    sampling: AsyncSamplingAgent
    response: AsyncResponseAgent
    asker: Asker
    name: str = "egocite"

    async def answer_async(self, question: Question, memory: WearerMemory, counts: CallCounts) -> Answer:
        """See AsyncMethod."""
        return (await self.trace_async(question, memory, counts)).answer

    async def trace_async(self, question: Question, memory: WearerMemory, counts: CallCounts) -> Trace:
        """The answer with how it came about; raises as answer_async does."""
        own = CallCounts()
        try:
            draft = await self.drafting.draft(question, memory, own)
            curation = await self.sampling.curate(question, draft.pool, own)
            reply = await self.response.respond(question, curation.kept, memory, own)
            check_taken(own, question)
        finally:
            counts.add(own)
        answer = answer_of(question, draft, curation.kept, reply, curation)
        return Trace(question, draft.log, draft.pool, curation.kept, reply.shown, answer)

    def answer(self, question: Question, memory: WearerMemory) -> Answer:
        """Answers one question and waits for it; raises as answer_async does."""
        return self.answer_many([question], memory)[0]

    def answer_many(self, questions: list[Question], memory: WearerMemory) -> list[Answer]:
        """Answers of a batch in its order, all under way at once; raises as answer_async does, for the whole batch."""
        counts = CallCounts()
        return self.asker.chat.run(gather(self.answer_async(question, memory, counts) for question in questions))

    def trace(self, question: Question, memory: WearerMemory) -> Trace:
        """The answer of one question with how it came about; raises as answer_async does."""
        trace = self.asker.chat.run(self.trace_async(question, memory, CallCounts()))
        return explained(trace, self.drafting, memory)


def check_taken(calls: CallCounts, question: Question) -> None:
    """Raises RejectedError where several calls of a question were rejected and none was answered.

    One rejected call may be too long for the model; that is what became of this question. Several are the endpoint's.
    """
    rejected = calls.failed[RejectedError.kind]
    if rejected > 1 and not calls.answered:
        raise RejectedError(
            f"question {question.question_id}: the endpoint took none of {rejected} requests; check the model's name,"
            " the key and the longest context that it is started with (`daybook doctor --config` makes a real call)"
        )


def agents_identity(settings: RetrievalSettings, model: ChatSettings) -> str:
    """All that decides what the agents of a model answer: model, prompts, settings and the version of this code."""
    folder = resources.files(PACKAGE) / "prompts"
    names = sorted(file.name.removesuffix(".txt") for file in folder.iterdir() if file.name.endswith(".txt"))
    return step_identity(model, AGENTS_VERSION, [Prompt.load(PACKAGE, name) for name in names], asdict(settings))

"""The drafting agent by a language model (EgoCITE §4.2, Appendix B.3): rounds of searches that fill the index pool."""

from __future__ import annotations

import asyncio
from typing import Final

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import (
    ChatError,
    ChatReply,
    EngineFaultError,
    InvalidJsonError,
    RefusedError,
    RejectedError,
    TruncatedError,
)
from ray_tasks.engines.steps import as_data
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.agents import Draft, DraftingAgent
from ray_tasks.retrieval.llm.actions import Step, calls_of, tools_of
from ray_tasks.retrieval.llm.asking import Asker, Books, ends_all
from ray_tasks.retrieval.llm.embedding import SharedEmbed
from ray_tasks.retrieval.llm.searching import search_together
from ray_tasks.retrieval.llm.talk import Talk
from ray_tasks.retrieval.llm.together import Together
from ray_tasks.retrieval.llm.turns import Turns
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.types import Question

PURPOSE: Final = "draft"


class LlmDrafter:
    """Drafts by a model that calls tools, or that writes one JSON action in each round.

    Where the pool stays empty, because the model searches nothing or fails, the pool of `fallback` takes its place; the
    notes say why.
    """

    def __init__(self, asker: Asker, embed: SharedEmbed, settings: RetrievalSettings, fallback: DraftingAgent) -> None:
        self._asker, self._embed, self._settings, self._fallback = asker, embed, settings, fallback
        self._searches = Together(search_together, "searches")
        self._takes_tools = settings.tool_mode != "json"

    async def draft(self, question: Question, memory: WearerMemory, counts: CallCounts) -> Draft:
        """See AsyncDraftingAgent. No model is asked where nothing is remembered from before the question."""
        books = Books(counts)
        if not any(memory.views[view].visible(question.at_ms) for view in self._settings.views):
            books.noted["nothing_remembered"] += 1
            return Draft((), notes=books.notes)
        turns = Turns(question, memory, self._embed, self._searches, self._settings, books)
        stopped = await self._rounds(question, memory, turns, books)
        pool = turns.pool.evidence
        if not pool:
            books.noted[f"draft_fallback_{stopped or 'empty_pool'}"] += 1
            pool = (await asyncio.to_thread(self._fallback.draft, [question], memory))[0].pool
        return Draft(
            pool,
            rounds=len(turns.log),
            tokens_in=books.tokens_in,
            tokens_out=books.tokens_out,
            notes=books.notes,
            calls=books.calls,
            log=tuple(turns.log),
        )

    async def _rounds(self, question: Question, memory: WearerMemory, turns: Turns, books: Books) -> str | None:
        """Holds the rounds; the kind of failure that ended them, if any did."""
        talk = Talk.begin(question, memory, self._settings, with_tools=self._takes_tools)
        for number in range(1, self._settings.draft_rounds + 1):
            if not turns.searching(number) and not self._settings.curate_tool:
                return None
            talk.state(number, turns)
            try:
                reply, talk = await self._ask(talk, number, books)
            except ChatError as error:
                if ends_all(error):
                    raise
                books.noted[f"draft_{error.kind}"] += 1
                turns.failed(number, error)
                if isinstance(error, RefusedError | RejectedError | EngineFaultError):
                    return error.kind
                talk.remark(_remark(error))
                continue
            calls = calls_of(reply)
            outcome = await turns.take(number, reply, calls)
            talk.answered(reply, outcome)
            if not calls and talk.with_tools and self._settings.tool_mode == "auto":
                # Some endpoints take tools and tell the model nothing of them.
                books.noted["tools_not_used"] += 1
                talk = talk.without_tools()
            if outcome.finished:
                return None
        return None

    async def _ask(self, talk: Talk, number: int, books: Books) -> tuple[ChatReply, Talk]:
        """A turn of the model. An endpoint that takes no tools is asked in JSON instead, from the first round on."""
        if talk.with_tools:
            try:
                tools = tools_of(self._settings)
                return await self._asker.ask(talk.messages(), PURPOSE, books, tools=tools), talk
            except RejectedError:
                if self._settings.tool_mode != "auto" or number > 1:
                    raise
                talk = talk.without_tools()
        reply = await self._asker.ask(talk.messages(), PURPOSE, books, schema=Step)
        if self._takes_tools and self._settings.tool_mode == "auto":
            self._takes_tools = False
        if self._settings.tool_mode == "auto":
            books.noted["tools_not_taken"] += number == 1
        return reply, talk


def _remark(error: ChatError) -> str:
    """What the model is told about a reply that was of no use; in our own words, for errors name the endpoint."""
    if isinstance(error, InvalidJsonError):
        what = f"a call in it could not be read: {as_data(error.text[:300])}. Use the tools' names and JSON"
    elif isinstance(error, TruncatedError):
        what = "it was too long. Be brief"
    else:
        what = "it was empty. Choose an action"
    return f"Your last reply could not be used: {what}."

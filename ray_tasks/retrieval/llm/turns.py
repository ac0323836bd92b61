"""The turns of one drafting: what the model's calls do to the pool, and what it is told about each of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ray_tasks.engines.messages import ChatError, ChatReply, ToolCall
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.llm.actions import SEARCH_ACTIVITY, SEARCH_CONVERSATION, Complaint, Curate, Search, read_call
from ray_tasks.retrieval.llm.asking import Books
from ray_tasks.retrieval.llm.embedding import SharedEmbed
from ray_tasks.retrieval.llm.pool import Pool
from ray_tasks.retrieval.llm.searching import ScoredItem, Wanted
from ray_tasks.retrieval.llm.time_text import ReadTime, TimeTextError, read_time
from ray_tasks.retrieval.llm.together import Together
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.trace import Call, Found, Round, interval
from ray_tasks.retrieval.types import Question

MOST_CALLS: Final = 6
"""Calls of one turn that are done; further ones are told to wait for the next round."""

NO_CALL: Final = "You called no tool. Call a search, or answer if the pool is good enough."
_LONGEST_SAID: Final = 2000
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_-]")
"""What no endpoint takes in the name of a tool, also of one that there is not."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a turn came to: the calls that were read with what each is told, and whether drafting ends."""

    told: tuple[tuple[ToolCall, str], ...]
    finished: bool


class Turns:
    """The pool of one question and the log of its rounds."""

    def __init__(
        self,
        question: Question,
        memory: WearerMemory,
        embed: SharedEmbed,
        searches: Together[Wanted, list[ScoredItem]],
        settings: RetrievalSettings,
        books: Books,
    ) -> None:
        self._question, self._memory, self._settings = question, memory, settings
        self._embed, self._searches = embed, searches
        self._books = books
        self.pool = Pool()
        self.new: frozenset[int] = frozenset()
        self.log: list[Round] = []
        self._made: dict[tuple[str, str, tuple[int, int] | None], int] = {}

    def searching(self, number: int) -> bool:
        """Whether a round may search: all but the last one, unless there is only one."""
        return number < self._settings.draft_rounds or self._settings.draft_rounds == 1

    def failed(self, number: int, error: ChatError) -> None:
        """Notes a round whose reply was of no use."""
        self.new = frozenset()
        self.log.append(Round(number, "", (), f"{error.kind}: {error}"))

    async def take(self, number: int, reply: ChatReply, calls: Sequence[ToolCall]) -> Outcome:
        """Does the calls of a turn in their order. Searches of a turn that also calls answer are still done."""
        self.new = frozenset()
        told: list[tuple[ToolCall, str]] = []
        log: list[Call] = []
        finished = False
        for position, call in enumerate(calls):
            # Ids of our own: some engines give none, or the same in each round, or take nine letters and digits only.
            named = replace(call, name=_UNFIT.sub("_", call.name)[:64], call_id=f"r{number:03d}c{position:04d}"[-9:])
            if position >= MOST_CALLS:
                line = Call(call.name, "", "", None, (), f"Not done: a round has at most {MOST_CALLS} calls.")
                self._books.noted["call_too_many"] += 1
            else:
                line, ends = await self._do(number, call)
                finished = finished or ends
            log.append(line)
            told.append((named, line.told))
        if not calls:
            self._books.noted["no_call"] += 1
        self.log.append(Round(number, reply.text[:_LONGEST_SAID], tuple(log), "" if calls else NO_CALL))
        return Outcome(tuple(told), finished)

    async def _do(self, number: int, call: ToolCall) -> tuple[Call, bool]:
        """Does one call; true where it ends the drafting."""
        action = read_call(call, self._settings)
        if isinstance(action, Complaint):
            self._books.noted["call_unusable"] += 1
            return _plain(call, action.told), False
        if isinstance(action, Curate):
            removed = self.pool.keep(action.keep)
            if removed or any(self.pool.has(item) for item in action.keep):
                return _plain(call, f"{removed} items removed, {len(self.pool)} kept."), False
            self._books.noted["call_unusable"] += 1
            return _plain(call, "None of these numbers is in the pool, so nothing was removed."), False
        if isinstance(action, Search):
            return await self._search(number, action), False
        if not len(self.pool) and self.searching(number):
            self._books.noted["answer_too_early"] += 1
            return _plain(call, "The pool is still empty. Search first."), False
        return _plain(call, "Done."), True

    async def _search(self, number: int, search: Search) -> Call:
        """One search; what is wrong with its time is told instead of a result, so that it is never dropped."""
        try:
            time = read_time(search.time_text, self._question.at_ms)
        except TimeTextError as error:
            self._books.noted["time_unreadable"] += 1
            return Call(search.tool, search.query, search.time_text, None, (), f"Not searched: {error}.")
        window = None if time is None else time.window
        if not self.searching(number):
            self._books.noted["search_too_late"] += 1
            return Call(search.tool, search.query, search.time_text, window, (), "Not searched: the rounds are over.")
        made = (search.tool, " ".join(search.query.lower().split()), window)
        if made in self._made:
            self._books.noted["call_repeated"] += 1
            told = f"Not searched: round {self._made[made]} did just this. Change the words, the view or the time."
            return Call(search.tool, search.query, search.time_text, window, (), told)
        self._made[made] = number
        found = await self._find(search, window)
        return Call(search.tool, search.query, search.time_text, window, found, _told(found, time))

    async def _find(self, search: Search, window: tuple[int, int] | None) -> tuple[Found, ...]:
        """The rows of a search, added to the pool."""
        query = await self._embed.one(search.query)
        at_ms, k, decay = self._question.at_ms, self._k(search.tool), self._settings.decay
        hits = await self._searches.one(Wanted(self._memory, search.views, query, at_ms, k, window, decay))
        found: list[Found] = []
        for hit in hits:
            item_number, new = self.pool.add(hit.item)
            found.append(Found(item_number, hit.item, hit.similarity, hit.relevance, new))
        self.new |= {one.number for one in found if one.new}
        return tuple(found)

    def _k(self, tool: str) -> int:
        settings = self._settings
        return {SEARCH_ACTIVITY: settings.k_activity, SEARCH_CONVERSATION: settings.k_conversation}.get(
            tool, settings.k_fine
        )


def _plain(call: ToolCall, told: str) -> Call:
    """A call that found nothing, as it is logged."""
    query = call.arguments.get("query")
    return Call(call.name, query if isinstance(query, str) else "", "", None, (), told)


def _told(found: Sequence[Found], time: ReadTime | None) -> str:
    """What a search is answered; the items themselves stand in the pool."""
    new = [str(one.number) for one in found if one.new]
    known = [str(one.number) for one in found if not one.new]
    parts = [f"{len(found)} found"]
    if time is not None:
        parts.append(f"near {interval(*time.window)}" + (" (cut at the time of the question)" if time.cut else ""))
    parts.append(f"{len(new)} new: {', '.join(new)}" if new else "none of them new")
    if known:
        parts.append(f"known: {', '.join(known)}")
    return "; ".join(parts) + "."

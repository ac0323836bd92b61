"""The chat client: every language step of the job asks through it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, TypeVar

from ray_tasks.engines.conversation import Conversation, Line
from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.endpoints import Endpoint, Endpoints
from ray_tasks.engines.messages import ChatError, ChatReply, ChatRequest
from ray_tasks.engines.own_loop import OwnLoop
from ray_tasks.engines.reply_cache import ReplyCache, request_key
from ray_tasks.engines.requests import open_api
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.engines.transcripts import Transcript
from ray_tasks.engines.wire import request_body
from ray_tasks.errors import UsageError
from ray_tasks.storage.store import ObjectStore, StoreError

Result = TypeVar("Result")


def open_chat(
    settings: ChatSettings,
    store: ObjectStore | None = None,
    *,
    transcripts: str | None = None,
    concurrency: int | None = None,
) -> ChatClient:
    """A client of the configured endpoints; raises UsageError where none are configured."""
    if not settings.urls:
        raise UsageError(
            f"no endpoint for the model {settings.model}: name one (--llm-url http://host:8000/v1), or give `serve` in "
            "the configuration, which starts it"
        )
    return ChatClient(settings, store, transcripts=transcripts, concurrency=concurrency)


class ChatClient:
    """Asks OpenAI-compatible endpoints, and satisfies messages.Chat.

    `store` holds the response cache, if settings.cache, and transcripts below the key `transcripts`, if
    settings.transcripts. `concurrency` replaces settings.concurrency where several clients share the endpoints. All
    requests are sent from one event loop, in a thread of the client's own; `ask` can be awaited on any.
    """

    def __init__(
        self,
        settings: ChatSettings,
        store: ObjectStore | None = None,
        *,
        transcripts: str | None = None,
        concurrency: int | None = None,
    ) -> None:
        self.settings = settings
        self._bound = concurrency or settings.concurrency
        self._store = store
        self._cache = ReplyCache(store) if store is not None and settings.cache else None
        self._transcripts = transcripts if store is not None and settings.transcripts else None
        self._own = OwnLoop()
        self._line: Line | None = None
        self._lined_on: asyncio.AbstractEventLoop | None = None
        self._same: dict[str, asyncio.Future[ChatReply | None]] = {}
        self._threads: ThreadPoolExecutor | None = None

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Runs a coroutine on the client's own event loop, where asking is cheapest, and waits for it.

        What interrupts the wait, such as Ctrl-C, cancels the coroutine and all its calls.
        """
        return self._own.run(coroutine)

    def close(self) -> None:
        """Cancels what is under way and closes all connections; the next call opens new ones."""
        self._own.close(self._hang_up())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def ask(self, request: ChatRequest, counts: CallCounts) -> ChatReply:
        """The reply to a request, with the call booked in `counts`; raises ChatError.

        A call counts from its first request on: one that is cancelled while it waits for its turn was none. Where there
        is a cache, of equal requests at the same time one is sent and the others share its reply, as if from the cache.
        """
        own = self._own.started()
        if asyncio.get_running_loop() is own:
            return await self._ask(request, counts)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._ask(request, counts), own))

    async def _ask(self, request: ChatRequest, counts: CallCounts) -> ChatReply:
        self._connect()
        if self._cache is None and self._transcripts is None:
            return await self._converse(request, counts, None)
        key = request_key(request, self.settings)
        if self._cache is None:
            return await self._recorded(request, key, counts)
        while key in self._same:
            reply = await asyncio.shield(self._same[key])
            if reply is not None:
                return _share(reply, counts)
        self._same[key] = shared = asyncio.get_running_loop().create_future()
        try:
            reply = await self._cached(self._cache, request, key, counts)
            shared.set_result(reply)
            return reply
        finally:
            self._same.pop(key, None)
            if not shared.done():
                shared.set_result(None)

    async def _cached(self, cache: ReplyCache, request: ChatRequest, key: str, counts: CallCounts) -> ChatReply:
        """The reply from the cache, or else asked for and kept there."""
        kept = await self._with_store(lambda: cache.read(key, request), counts)
        if kept is not None:
            if self._transcripts is not None:
                transcript = Transcript.of(request, key, request_body(request, self.settings))
                await self._keep(transcript, kept, None, counts)
            return _share(kept, counts)
        reply = await self._recorded(request, key, counts)
        await self._with_store(lambda: cache.write(key, reply), counts)
        return reply

    async def _recorded(self, request: ChatRequest, key: str, counts: CallCounts) -> ChatReply:
        """The reply, with a transcript where these are kept."""
        if self._transcripts is None:
            return await self._converse(request, counts, None)
        transcript = Transcript.of(request, key, request_body(request, self.settings))
        try:
            reply = await self._converse(request, counts, transcript)
        except ChatError as error:
            await self._keep(transcript, None, f"{error.kind}: {error}", counts)
            raise
        await self._keep(transcript, reply, None, counts)
        return reply

    async def _converse(self, request: ChatRequest, counts: CallCounts, transcript: Transcript | None) -> ChatReply:
        assert self._line is not None
        return await Conversation(self._line, request, counts, transcript).hold()

    async def _keep(
        self, transcript: Transcript, reply: ChatReply | None, failure: str | None, counts: CallCounts
    ) -> None:
        assert self._store is not None and self._transcripts is not None
        store, (key, content) = self._store, transcript.file(self._transcripts, reply, failure)
        await self._with_store(lambda: store.write(key, content, durable=False), counts)

    async def _with_store(self, work: Callable[[], Result], counts: CallCounts) -> Result | None:
        """Reads or writes in a thread; what the store cannot do is counted, for only a copy of a reply is lost."""
        assert self._store is not None
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._store.parallel, thread_name_prefix="replies")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except (StoreError, OSError):
            counts.store_errors += 1
            return None

    def _connect(self) -> None:
        """Opens the endpoints for this event loop, unless they are; what was opened for another is of no use here."""
        loop = asyncio.get_running_loop()
        if self._line is None or self._lined_on is not loop:
            apis = [Endpoint(url, open_api(url, self.settings, self._bound)) for url in self.settings.urls]
            self._line = Line(self.settings, Endpoints(apis, self._bound), random.Random())
            self._lined_on, self._same, self._threads = loop, {}, None

    async def _hang_up(self) -> None:
        line, self._line, threads, self._threads = self._line, None, self._threads, None
        self._same = {}
        if line is not None:
            for endpoint in line.endpoints.all:
                await endpoint.api.close()
        if threads is not None:
            threads.shutdown(wait=False)


def _share(reply: ChatReply, counts: CallCounts) -> ChatReply:
    """A reply that costs nothing now, booked."""
    counts.calls += 1
    counts.answered += 1
    counts.cached += 1
    counts.cached_tokens += reply.tokens_in + reply.tokens_out
    return replace(reply, cached=True)

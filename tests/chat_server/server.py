"""The server: real HTTP on localhost, in a thread of its own."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from tests.chat_server.faults import Fault, FaultPlan, identity_of
from tests.chat_server.replies import Reply, Script, as_reply, completion, default_script, images_of, schema_of

MOST_BYTES = 64 * 2**20


@dataclass
class Served:
    """What the server did: requests and faults, and the tokens and images that whole answers told of."""

    requests: int = 0
    faults: Counter[Fault] = field(default_factory=Counter)
    tokens_in: int = 0
    tokens_out: int = 0
    images: int = 0
    most_at_once: int = 0


class ChatServer:
    """``with ChatServer(script) as server`` answers at `server.url`.

    The script makes the reply from the request's body; without one the least that fits is said. `latency_s` passes
    before each answer. `requests` holds the bodies seen, in order, `headers` theirs; `served` the books. All may be
    changed while it runs. What the script raises is answered with status 500, and raised again at the end.
    """

    def __init__(
        self,
        reply: Script = default_script,
        *,
        faults: FaultPlan | None = None,
        latency_s: float = 0.0,
        model: str = "test-model",
        keep_requests: bool = True,
        port: int = 0,
    ) -> None:
        self.reply, self.faults, self.latency_s, self.model = reply, faults, latency_s, model
        self.keep_requests = keep_requests
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.served = Served()
        self.errors: list[Exception] = []
        self._port = port
        self._seen: Counter[str] = Counter()
        self._at_once = 0
        self._loop = asyncio.new_event_loop()
        self._closed = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def url(self) -> str:
        """The base of the API."""
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(30)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._loop.close()
        if self.errors and error is None:
            raise self.errors[0]

    async def _start(self) -> None:
        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/chat/completions", self._complete)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]

    async def _stop(self) -> None:
        self._closed.set()
        await self._runner.cleanup()

    async def _models(self, request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": self.model, "object": "model"}]})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        self._at_once += 1
        self.served.most_at_once = max(self.served.most_at_once, self._at_once)
        try:
            return await self._answer(request)
        finally:
            self._at_once -= 1

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        self.served.requests += 1
        number = self.served.requests
        if self.keep_requests:
            self.requests.append(body)
            self.headers.append(dict(request.headers))
        fault = self._fault(body)
        if self.latency_s:
            await asyncio.sleep(self.latency_s)
        if body.get("model") != self.model:
            return _error(404, f"The model `{body.get('model')}` does not exist.")
        if fault == "hang":
            await self._closed.wait()
        if fault == "slow":
            assert self.faults
            await asyncio.sleep(self.faults.slow_s)
        if fault == "429":
            assert self.faults
            return _error(429, "Too many requests.", self.faults.retry_after)
        if fault in {"500", "hang"}:
            return _error(500, "Something broke.")
        if fault == "bad_body":
            return web.Response(text="<html>The gateway has a bad day.</html>", content_type="text/html")
        try:
            reply = _damaged(as_reply(self.reply(body)), fault)
        except Exception as error:  # noqa: BLE001 (the script's own; raised when the server ends)
            self.errors.append(error)
            return _error(500, f"The script failed: {error!r}")
        if reply.status != 200:
            return _error(reply.status, reply.text or "")
        data = json.dumps(completion(body, reply, number), ensure_ascii=False).encode()
        if fault == "cut":
            return await _cut(request, data)
        return self._whole(body, data)

    def _fault(self, body: dict[str, Any]) -> Fault | None:
        if self.faults is None:
            return None
        identity = identity_of(body)
        fault = self.faults.choose(identity, self._seen[identity])
        self._seen[identity] += 1
        if fault == "wrong_json" and schema_of(body) is None:
            fault = "bad_body"
        if fault:
            self.served.faults[fault] += 1
        return fault

    def _whole(self, body: dict[str, Any], data: bytes) -> web.Response:
        usage = json.loads(data).get("usage") or {}
        self.served.tokens_in += usage.get("prompt_tokens") or 0
        self.served.tokens_out += usage.get("completion_tokens") or 0
        self.served.images += len(images_of(body))
        return web.Response(body=data, content_type="application/json")


def _damaged(reply: Reply, fault: Fault | None) -> Reply:
    text = reply.text or ""
    if fault == "truncated":
        return replace(reply, text=text[: len(text) // 2], tool_calls=(), finish_reason="length")
    if fault == "wrong_json":
        return replace(reply, text=f'{{"never": "ended", {text[:20]}', tool_calls=())
    if fault == "empty":
        return replace(reply, text="", tool_calls=())
    return reply


def _error(status: int, message: str, retry_after: str | None = None) -> web.Response:
    headers = {"Retry-After": retry_after} if retry_after else None
    body = {"error": {"message": message, "type": "invalid_request_error", "code": status}}
    return web.json_response(body, status=status, headers=headers)


async def _cut(request: web.Request, data: bytes) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": str(len(data)), "Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(data[: len(data) // 2])
    assert request.transport
    request.transport.abort()
    return response

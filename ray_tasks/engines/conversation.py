"""One call from its first request to its reply: what is asked again, how often, and what is booked."""

from __future__ import annotations

import asyncio
import json
import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.endpoints import Endpoint, Endpoints
from ray_tasks.engines.messages import (
    ChatError,
    ChatReply,
    ChatRequest,
    EmptyReplyError,
    EngineFaultError,
    InvalidJsonError,
    TruncatedError,
    UnreachableError,
)
from ray_tasks.engines.pauses import AWAY_PAUSE_S, pause
from ray_tasks.engines.requests import PassingFault, post
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.engines.transcripts import Transcript
from ray_tasks.engines.wire import NotAnAnswerError, parse_answer, read_reply, request_body

if TYPE_CHECKING:
    from openai import AsyncOpenAI

WARMER: Final = 0.3
"""The least temperature of a second draw: at 0 an engine says the same again, whatever the seed."""

_OF_THE_REQUEST: Final = frozenset({"server_error", "timeout"})
"""Faults that may lie in what is asked: a picture or a schema on which an engine breaks, words that never end."""

_UNUSABLE: Final = (TruncatedError, InvalidJsonError, EmptyReplyError)


@dataclass(frozen=True)
class Line:
    """What all calls of a client share."""

    settings: ChatSettings
    endpoints: Endpoints[AsyncOpenAI]
    generator: random.Random


class Conversation:
    """The requests of one call, in turn."""

    def __init__(self, line: Line, request: ChatRequest, counts: CallCounts, transcript: Transcript | None) -> None:
        self._line, self._request, self._counts, self._transcript = line, request, counts, transcript
        self._settings = line.settings
        self._body: dict[str, Any] | None = None
        self._started: float | None = None
        self._wrong = ""
        self._faults = self._unusable = 0
        self._answers_before = 0
        self._away_since: float | None = None

    async def hold(self) -> ChatReply:
        """The reply; raises ChatError. Books the call once it has begun, however it ends."""
        try:
            reply = await self._until_usable()
        except BaseException as error:
            if self._started is not None:
                kind = error.kind if isinstance(error, ChatError) else "error"
                self._counts.failed["cancelled" if isinstance(error, asyncio.CancelledError) else kind] += 1
            raise
        else:
            self._counts.answered += 1
            return reply
        finally:
            if self._started is not None:
                self._counts.seconds += time.monotonic() - self._started

    async def _until_usable(self) -> ChatReply:
        while True:
            endpoint = await self._line.endpoints.take()
            try:
                return await self._try(endpoint)
            except PassingFault as fault:
                wait_s = self._after(fault, endpoint)
            except _UNUSABLE as error:
                self._unusable += 1
                if self._unusable >= self._settings.reply_attempts:
                    raise self._named(error, endpoint) from error.__cause__
                self._wrong, wait_s = error.kind, 0.0
            except ChatError as error:
                self._line.endpoints.answered(endpoint)
                raise self._named(error, endpoint) from error.__cause__
            finally:
                self._line.endpoints.give_back(endpoint)
            if wait_s:
                await asyncio.sleep(wait_s)

    async def _try(self, endpoint: Endpoint[AsyncOpenAI]) -> ChatReply:
        """One request, noted in the transcript."""
        began, said, fault = time.monotonic(), None, None
        self._book_request(began)
        try:
            said = await post(endpoint.api, json.dumps(self._drawn()).encode(), self._settings)
            self._line.endpoints.answered(endpoint)
            return self._read(said)
        except (PassingFault, ChatError) as error:
            fault = f"{error.kind}: {error}"
            raise
        except asyncio.CancelledError:
            fault = "cancelled"
            raise
        finally:
            if self._transcript:
                seconds = time.monotonic() - began
                self._transcript.attempt(endpoint.url, self._drawn().get("seed"), seconds, fault, said)

    def _read(self, said: bytes) -> ChatReply:
        try:
            choice, usage = parse_answer(said)
        except NotAnAnswerError as error:
            raise PassingFault("bad_body", str(error)) from error
        self._counts.tokens_in += usage.tokens_in
        self._counts.tokens_out += usage.tokens_out
        self._counts.unmetered += not usage.told
        return read_reply(choice, usage, self._request, self._settings)

    def _book_request(self, now: float) -> None:
        if self._started is None:
            self._started = now
            self._counts.calls += 1
            self._counts.images += sum(len(message.images) for message in self._request.messages)
        else:
            self._counts.retries[self._wrong] += 1
        self._counts.attempts += 1

    def _drawn(self) -> dict[str, Any]:
        """The body with its draw: another one for each reply that was of no use."""
        if self._body is None:  # not before its turn: a thousand calls that wait need not hold their pictures twice
            self._body = request_body(self._request, self._settings)
        sampling, turn = self._request.sampling, self._unusable
        draw: dict[str, Any] = {} if sampling.seed is None else {"seed": sampling.seed + turn}
        if turn:
            draw["temperature"] = max(sampling.temperature, WARMER)
        return {**self._body, **draw}

    def _after(self, fault: PassingFault, endpoint: Endpoint[AsyncOpenAI]) -> float:
        """Seconds to wait after a fault; raises UnreachableError or EngineFaultError where there has been enough."""
        endpoints, others = self._line.endpoints, self._line.endpoints.others_awake(endpoint)
        if not self._faults:
            self._answers_before = endpoints.answers
        self._faults += 1
        self._wrong = fault.kind
        endpoints.rest(endpoint)
        if not fault.away:
            endpoints.given_up = False
        if self._enough(away=fault.away and not others):
            at_fault = fault.kind in _OF_THE_REQUEST and not fault.away and endpoints.answers > self._answers_before
            error = _engine_fault(self._faults, fault) if at_fault else _unreachable(self._faults, fault)
            raise self._named(error, endpoint) from fault
        if others and not fault.connected:
            return 0.0
        longest_s = self._settings.longest_wait_s
        if fault.away:
            longest_s = min(longest_s, AWAY_PAUSE_S)
        return pause(self._faults - 1, longest_s, fault.wished_s, self._line.generator)

    def _enough(self, *, away: bool) -> bool:
        """Whether to give up: after the allowed attempts, but not while endpoints that are all away may come back."""
        spent = self._faults >= self._settings.attempts
        if not away:
            self._away_since = None
            return spent
        now = time.monotonic()
        if self._away_since is None:
            self._away_since = now
        if spent and now - self._away_since >= self._settings.outage_s:
            self._line.endpoints.given_up = True
        return self._line.endpoints.given_up

    def _named(self, error: ChatError, endpoint: Endpoint[AsyncOpenAI]) -> ChatError:
        error.args = (f"{self._request.purpose} with {self._settings.model} at {endpoint.url}: {error}",)
        return error


def _engine_fault(requests: int, fault: PassingFault) -> EngineFaultError:
    return EngineFaultError(
        f"no usable answer in {requests} requests, at last: {fault}; others were answered meanwhile, so the engine "
        "cannot deal with this one: see its log"
    )


def _unreachable(requests: int, fault: PassingFault) -> UnreachableError:
    return UnreachableError(
        f"no usable answer in {requests} requests, at last: {fault}; see that it is up and not overloaded "
        "(`daybook doctor --config` asks it) and run the command again, which goes on where it was"
    )

"""One request to an endpoint, and what can go wrong with it on the way."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final

from ray_tasks.engines.messages import RejectedError
from ray_tasks.engines.pauses import retry_after_s
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.errors import UsageError

if TYPE_CHECKING:
    from openai import APIConnectionError, APIStatusError, AsyncOpenAI

SHOWN: Final = 300
"""Characters of an endpoint's words in a message."""

CONNECT_S: Final = 10.0
"""Seconds within which an endpoint must take a connection."""

IDLE_S: Final = 2.0
"""Seconds for which an unused connection is kept: servers close them after 5, some proxies earlier."""

_AWAY: Final = {502, 503}
"""What proxies say while the server behind them is away."""

_TOO_SLOW: Final = {408, 504}

_DENIED: Final = {401, 404}
"""What is said where the key or the model is unknown. 403 is not among them: filters of single texts say it as well."""

_REMEDIES: Final = {
    401: "put the endpoint's key into the environment variable {key}",
    403: "put a key that may use the model into the environment variable {key}",
    404: "name a model that the endpoint serves, and a url that ends in /v1; `daybook doctor --config` tells both",
}


class PassingFault(Exception):  # noqa: N818 (no error yet: the request is sent again)
    """A fault that may pass. `kind` is the word under which it is counted.

    `wished_s`: the pause that the server wishes for. `away`: nobody is there to answer. `connected`: whether there was
    a connection at all.
    """

    def __init__(
        self, kind: str, message: str, wished_s: float | None = None, *, away: bool = False, connected: bool = True
    ) -> None:
        super().__init__(message)
        self.kind, self.wished_s, self.away, self.connected = kind, wished_s, away, connected


def open_api(url: str, settings: ChatSettings, concurrency: int) -> AsyncOpenAI:
    """The SDK's client of one endpoint.

    It repeats nothing on its own, for every request is booked. Its transport is aiohttp: with the default one, at 64
    calls under way, half of the CPU time goes into looking for a free connection. Raises UsageError for a key that no
    header can hold.
    """
    from openai import DEFAULT_CONNECTION_LIMITS, AsyncOpenAI, DefaultAioHttpClient, Timeout

    key = _key(settings)
    limits = type(DEFAULT_CONNECTION_LIMITS)(
        max_connections=concurrency, max_keepalive_connections=concurrency, keepalive_expiry=IDLE_S
    )
    timeout = Timeout(settings.timeout_s, connect=min(CONNECT_S, settings.timeout_s))
    http = DefaultAioHttpClient(base_url=url, limits=limits, timeout=timeout)
    return AsyncOpenAI(base_url=url, api_key=key, max_retries=0, timeout=timeout, http_client=http)


def _key(settings: ChatSettings) -> str:
    """The endpoint's key, without the line end that files give it; raises UsageError for what no header can hold."""
    key = os.environ.get(settings.api_key_env, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise UsageError(f"{settings.api_key_env} holds characters that no key has; put the key alone into it")
    return key or "none"


async def post(api: AsyncOpenAI, body: bytes, settings: ChatSettings) -> bytes:
    """The body of the endpoint's answer to a chat request; raises PassingFault or RejectedError."""
    return await _answer(api.post("/chat/completions", content=body, cast_to=bytes), settings)


async def get_models(api: AsyncOpenAI, settings: ChatSettings) -> bytes:
    """The body of the endpoint's list of models; raises PassingFault or RejectedError."""
    return await _answer(api.get("/models", cast_to=bytes), settings)


async def _answer(request: Coroutine[Any, Any, bytes], settings: ChatSettings) -> bytes:
    from aiohttp import ClientError
    from openai import APIConnectionError, APIStatusError

    try:
        async with asyncio.timeout(settings.timeout_s):
            return await request
    except TimeoutError as error:
        raise PassingFault("timeout", f"no answer within {settings.timeout_s:g} s") from error
    except (APIConnectionError, ClientError) as error:
        raise _connection_fault(error) from error
    except APIStatusError as error:
        raise _status_fault(error, settings) from error


def _connection_fault(error: APIConnectionError | Exception) -> PassingFault:
    """A time-out, a cut or an absent connection, by the transport's own error: the SDK's says less, some wrongly."""
    from aiohttp import ClientConnectorError, ConnectionTimeoutError

    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
        if isinstance(cause, ClientConnectorError | ConnectionTimeoutError):
            what = getattr(cause, "os_error", cause)
            return PassingFault("unreachable", f"it takes no connection ({what})", away=True, connected=False)
        if isinstance(cause, TimeoutError):
            return PassingFault("timeout", f"it is silent for too long ({cause or type(cause).__name__})")
    return PassingFault("cut", f"the connection was cut ({cause or type(cause).__name__})")


def _status_fault(error: APIStatusError, settings: ChatSettings) -> PassingFault | RejectedError:
    status, said = error.status_code, error.response.text[:SHOWN].strip()
    wished_s = retry_after_s(error.response.headers.get("Retry-After"))
    if status == 429:
        return PassingFault("rate_limited", f"status 429: {said}", wished_s)
    if status in _TOO_SLOW or status >= 500:
        kind = "timeout" if status in _TOO_SLOW else "server_error"
        return PassingFault(kind, f"status {status}: {said}", wished_s, away=status in _AWAY)
    remedy = _REMEDIES.get(status, "change what its words name: the same request will never be taken")
    told = f"status {status}: {said}; {remedy.format(key=settings.api_key_env)}"
    return RejectedError(told, denied=status in _DENIED)

"""Throughput and CPU of the chat client against a server with a fixed latency, which runs in a process of its own.

Calls are like those of extraction: instructions, five minutes of captions before, the caption, and a JSON schema.
`ideal_s` is the time of a client that costs nothing. Beside the client run two bare loops that send the same bodies:
one with the same SDK and transport, so that the difference is our own code; one with the SDK's default HTTP library.

    python -m benchmarks.chat
    python -m benchmarks.chat --calls 1000 --concurrency 64 --latency 0.2 --cache --profile
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import math
import pstats
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from ray_tasks.engines.client import ChatClient
from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import ChatRequest, Message
from ray_tasks.engines.requests import open_api
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.engines.wire import request_body
from ray_tasks.storage.local import LocalStore

Send = Callable[[bytes], Awaitable[bytes]]


class Line(BaseModel):
    """A statement of a reply."""

    view: str
    text: str
    people: list[str]


class Lines(BaseModel):
    """What a call asks for."""

    lines: list[Line] = Field(min_length=2)


def main() -> None:
    """Measures and prints one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1000, help="calls of a run (default 1000)")
    parser.add_argument("--concurrency", type=int, default=64, help="calls under way at once (default 64)")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds before each answer (default 0.2)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each, in turn (default 3)")
    parser.add_argument("--cache", action="store_true", help="with a response cache in a folder, empty at first")
    parser.add_argument("--profile", action="store_true", help="where the client's CPU time goes, after the figures")
    options = parser.parse_args()
    with server(options.latency) as url, tempfile.TemporaryDirectory() as scratch:
        store = LocalStore(Path(scratch)) if options.cache else None
        settings = ChatSettings(model="test-model", urls=(url,), concurrency=options.concurrency)
        json.dump(measure(settings, store, options.calls, options.latency, options.runs), sys.stdout, indent=2)
        sys.stdout.write("\n")
        if options.profile:
            profile(settings, store, options.calls)


@contextmanager
def server(latency_s: float) -> Iterator[str]:
    """The URL of a test server in another process."""
    command = [sys.executable, "-m", "tests.chat_server", "--latency", str(latency_s)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        yield process.stdout.readline().strip()
        process.stdin.close()


def measure(
    settings: ChatSettings, store: LocalStore | None, calls: int, latency_s: float, runs: int
) -> dict[str, Any]:
    """Medians over runs, all in turn."""
    figures: dict[str, list[tuple[float, float]]] = {"client": [], "sdk": [], "http": []}
    for run in range(runs):
        requests = [request(f"{run} {call}") for call in range(calls)]
        with ChatClient(settings, store) as client:
            client.run(ask_all(client, [request(f"warm {run} {call}") for call in range(8)], CallCounts()))
            counts = CallCounts()
            figures["client"].append(timed(client, ask_all(client, requests, counts)))
            assert counts.balanced and counts.answered == calls
            bodies = [json.dumps(request_body(one, settings)).encode() for one in requests]
            figures["sdk"].append(timed(client, post_all(sdk_sender(settings), bodies, settings.concurrency)))
            figures["http"].append(timed(client, post_all(http_sender(settings), bodies, settings.concurrency)))
    ideal = math.ceil(calls / settings.concurrency) * latency_s
    result: dict[str, Any] = {"calls": calls, "concurrency": settings.concurrency, "latency_s": latency_s}
    result["ideal_s"] = round(ideal, 3)
    for name, measured in figures.items():
        seconds, cpu = (statistics.median(run[part] for run in measured) for part in (0, 1))
        result[f"{name}_s"] = round(seconds, 3)
        result[f"{name}_to_ideal"] = round(seconds / ideal, 3)
        result[f"{name}_cpu_ms_per_call"] = round(1000 * cpu / calls, 3)
    own = result["client_cpu_ms_per_call"] - result["sdk_cpu_ms_per_call"]
    return {**result, "own_cpu_ms_per_call": round(own, 3)}


def timed(client: ChatClient, work: Coroutine[Any, Any, None]) -> tuple[float, float]:
    """Seconds and CPU seconds of this process."""
    started, cpu = time.perf_counter(), time.process_time()
    client.run(work)
    return time.perf_counter() - started, time.process_time() - cpu


def request(mark: str) -> ChatRequest:
    """A call with about 4 kB of text, unlike all others."""
    before = "\n".join(
        f"[{minute}] Mara wipes the counter while Tobi asks about the {mark} jar." for minute in range(40)
    )
    system = "Write what is seen and said as separate statements, each understandable alone. " * 10
    return ChatRequest((Message("system", system), Message("user", before)), "benchmark", Lines)


async def ask_all(client: ChatClient, requests: list[ChatRequest], counts: CallCounts) -> None:
    """All calls at once: the client keeps to its bound."""
    await asyncio.gather(*(client.ask(one, counts) for one in requests))


async def post_all(sender: AbstractAsyncContextManager[Send], bodies: list[bytes], concurrency: int) -> None:
    """The same bodies without our code."""
    left = iter(bodies)
    async with sender as send:

        async def work() -> None:
            for body in left:
                json.loads(await send(body))

        await asyncio.gather(*(work() for _ in range(concurrency)))


@asynccontextmanager
async def sdk_sender(settings: ChatSettings) -> AsyncIterator[Send]:
    """The SDK with the client's transport."""
    async with open_api(settings.urls[0], settings, settings.concurrency) as api:
        yield lambda body: api.post("/chat/completions", content=body, cast_to=bytes)


@asynccontextmanager
async def http_sender(settings: ChatSettings) -> AsyncIterator[Send]:
    """The SDK's default HTTP library."""
    from openai import DefaultAsyncHttpxClient

    url, headers = f"{settings.urls[0]}/chat/completions", {"Content-Type": "application/json"}
    async with DefaultAsyncHttpxClient(timeout=60) as http:

        async def send(body: bytes) -> bytes:
            return (await http.post(url, content=body, headers=headers)).content

        yield send


def profile(settings: ChatSettings, store: LocalStore | None, calls: int) -> None:
    """Prints the functions that take most of the client's CPU time."""
    requests = [request(f"profile {call}") for call in range(calls)]

    async def work() -> None:
        with cProfile.Profile(time.thread_time) as profiler:
            await ask_all(client, requests, CallCounts())
        pstats.Stats(profiler).sort_stats("tottime").print_stats(30)

    with ChatClient(settings, store) as client:
        client.run(work())


if __name__ == "__main__":
    main()

"""Output tokens a second of the job's own way to a model against the bare vLLM server, in one run on this machine.

The job's way is the chat client and Ray Serve LLM, started as a build starts it; the bare one is vLLM's server with the
same arguments, sent the very same bodies by a plain HTTP client at the same concurrency. Both servers are up all the
time and asked in turns, the order changing from round to round; each round has prompts of its own, so that no cache of
an earlier one helps. A warm-up round of each is not counted.

python -m benchmarks.engine --rounds 4
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp

from benchmarks.material import corpus_texts
from ray_tasks.engines.client import ChatClient
from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import ChatError, ChatRequest, Message, Sampling
from ray_tasks.engines.serve import serving
from ray_tasks.engines.serve_front import free_port
from ray_tasks.engines.served_app import engine_arguments
from ray_tasks.engines.settings import ChatSettings, ServeSettings
from ray_tasks.engines.wire import request_body
from ray_tasks.scheduling.session import ray_session

READY_S: Final = 1800.0
LINES: Final = 6
"""Lines of the sample week in one prompt, about what a caption has."""


def main() -> None:
    """Measures and prints one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="a folder with a checkpoint (default: the 270M one of the tests)")
    parser.add_argument("--rounds", type=int, default=4, help="counted rounds (default 4)")
    parser.add_argument("--calls", type=int, default=32, help="calls in a round (default 32)")
    parser.add_argument("--concurrency", type=int, default=8, help="calls under way at once (default 8)")
    parser.add_argument("--tokens", type=int, default=64, help="most tokens of a reply (default 64)")
    options = parser.parse_args()
    settings = _settings(options.model or _test_checkpoint(), options.concurrency)
    rounds = _rounds(options.rounds + 1, options.calls, options.tokens)
    with ray_session(2), serving(settings, _say) as served, _bare_server(settings) as bare:
        results = [_measure(served, bare, requests, number) for number, requests in enumerate(rounds)][1:]
    json.dump(
        _summary(results) | {key: getattr(options, key) for key in ("calls", "concurrency", "tokens")}, sys.stdout
    )
    sys.stdout.write("\n")


def _settings(folder: Path, concurrency: int) -> ChatSettings:
    """A checkpoint on the CPU. A reply that is cut counts with its tokens and is not asked for again."""
    engine = {"max_model_len": 2048, "dtype": "float32", "enforce_eager": True, "max_num_seqs": 16}
    serve = ServeSettings(
        source=str(folder), gpus=0, cpus=0, ready_s=READY_S, engine=engine, env={"VLLM_CPU_KVCACHE_SPACE": "1"}
    )
    return ChatSettings(
        model="measured", serve=serve, concurrency=concurrency, timeout_s=READY_S, attempts=1, reply_attempts=1
    )


def _test_checkpoint() -> Path:
    from tests.engines.checkpoints import gemma_text

    return gemma_text()


def _rounds(rounds: int, calls: int, tokens: int) -> list[list[ChatRequest]]:
    """Different prompts for every call of every round, from the texts of the sample week."""
    with tempfile.TemporaryDirectory() as scratch:
        texts = corpus_texts(None, None, Path(scratch))
    prompts = [
        f"{number}. " + " ".join(texts[(number * LINES + step) % len(texts)] for step in range(LINES))
        for number in range(rounds * calls)
    ]
    requests = [
        ChatRequest((Message("user", prompt),), "benchmark", sampling=Sampling(max_tokens=tokens)) for prompt in prompts
    ]
    return [requests[start : start + calls] for start in range(0, len(requests), calls)]


@contextmanager
def _bare_server(settings: ChatSettings) -> Iterator[str]:
    """vLLM's own server with the same arguments, and its endpoint.

    It is started as a module: the command `vllm` asks for the metadata of a package of that name, which the build for
    CPUs does not have.
    """
    assert settings.serve is not None
    port = free_port()
    arguments = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(settings.serve.source)]
    arguments += ["--served-model-name", settings.model, "--host", "127.0.0.1", "--port", str(port)]
    for name, value in engine_arguments(settings.serve).items():
        option = f"--{name.replace('_', '-')}"
        arguments += (
            [option] if value is True else [option, json.dumps(value) if isinstance(value, dict) else str(value)]
        )
    environment = os.environ | settings.serve.env | {"HF_HUB_OFFLINE": "1"}
    server = subprocess.Popen(arguments, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        started = time.monotonic()
        while not _answers(f"http://127.0.0.1:{port}/v1/models"):
            if server.poll() is not None or time.monotonic() - started > READY_S:
                sys.exit(f"error: vLLM's server did not come up; to see why, run: {shlex.join(arguments)}")
            time.sleep(1)
        _say(f"the bare server is up after {time.monotonic() - started:.0f} s")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(60)


def _answers(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=5).close()
    except OSError:
        return False
    return True


def _measure(served: ChatSettings, bare: str, requests: Sequence[ChatRequest], number: int) -> dict[str, Any]:
    """Tokens a second of both ways for one round; the bare one comes first in every second round."""
    ways = {
        "pipeline": lambda: _through_client(served, requests),
        "bare": lambda: asyncio.run(_through_http(bare, served, requests)),
    }
    result: dict[str, Any] = {}
    for way in sorted(ways, reverse=number % 2 == 0):
        started = time.perf_counter()
        tokens = ways[way]()
        result[way] = tokens / (time.perf_counter() - started)
        result[f"{way}_tokens"] = tokens
    _say(f"round {number}: {result}")
    return result


def _through_client(settings: ChatSettings, requests: Sequence[ChatRequest]) -> int:
    counts = CallCounts()

    async def ask(client: ChatClient, request: ChatRequest) -> None:
        try:
            await client.ask(request, counts)
        except ChatError as error:
            if error.kind != "truncated":
                raise

    async def ask_all(client: ChatClient) -> None:
        await asyncio.gather(*(ask(client, request) for request in requests))

    with ChatClient(settings) as client:
        client.run(ask_all(client))
    return counts.tokens_out


async def _through_http(url: str, settings: ChatSettings, requests: Sequence[ChatRequest]) -> int:
    turn = asyncio.Semaphore(settings.concurrency)

    async def ask(session: aiohttp.ClientSession, request: ChatRequest) -> int:
        async with turn, session.post(f"{url}/chat/completions", json=request_body(request, settings)) as answer:
            answer.raise_for_status()
            return int((await answer.json())["usage"]["completion_tokens"])

    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(READY_S)) as session:
        return sum(await asyncio.gather(*(ask(session, request) for request in requests)))


def _summary(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    ratios = [result["pipeline"] / result["bare"] for result in results]
    return {
        "pipeline_tokens_per_s": [round(result["pipeline"], 1) for result in results],
        "bare_tokens_per_s": [round(result["bare"], 1) for result in results],
        "same_tokens": all(result["pipeline_tokens"] == result["bare_tokens"] for result in results),
        "ratio": round(statistics.median(ratios), 3),
        "ratios": [round(ratio, 3) for ratio in ratios],
    }


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    main()

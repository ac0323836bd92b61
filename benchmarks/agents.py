"""How well an evaluation by agents keeps questions under way: real searches, a scripted model with a fixed latency.

The model runs in a process of its own. It searches twice (two searches a turn), ends the drafting, curates and answers,
each after `--latency` seconds: five calls for a question. Two figures say how well questions are kept under way:
`in_flight_share` is the mean number of questions that were begun and not answered, of those allowed; `share_of_ideal`
is calls x latency / in flight / wall time, which reaches 1 only where neither side spends any time of its own. With the
CPU time that both processes spent, `bound_s` is the least that all cores together could have taken.

    python -m benchmarks.agents --root memories --wearer A1_JAKE --questions A1_JAKE.json
    python -m benchmarks.agents --root memories --wearer A1_JAKE --questions A1_JAKE.json --latency 0.5 --profile
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import itertools
import json
import os
import pstats
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from jobs.answering import load_encoder
from jobs.exams import Asked
from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.evaluation.one_core import products_on_one_core
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.evaluation.runner import Evaluation, evaluate_many
from ray_tasks.index.memory import WearerMemory
from ray_tasks.index.opening import open_wearer
from ray_tasks.retrieval.registry import make_method
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.types import Answer, AsyncMethod, Method, Question
from ray_tasks.scheduling.asking_source import chat_opener, check_encoder
from ray_tasks.storage.local import LocalStore
from ray_tasks.storage.manifests import current_manifest
from ray_tasks.storage.store import open_store
from tests.chat_server import ChatServer, Reply, schema_of

AGENTS = RetrievalSettings(draft="llm", curate="llm", respond="llm")
_ASKED = re.compile(r'"question": ?"([^"]{0,200})')


def main() -> None:
    """Measures and prints one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", help="where the memory is")
    parser.add_argument("--wearer", help="whose memory is asked")
    parser.add_argument("--questions", type=Path, help="a question file of EgoLifeQA's form")
    parser.add_argument("--count", type=int, default=512, help="questions of a run (default 512)")
    parser.add_argument("--latency", type=float, default=0.05, help="seconds before each answer (default 0.05)")
    parser.add_argument("--in-flight", type=int, default=64, help="questions under way at once (default 64)")
    parser.add_argument("--profile", action="store_true", help="where the CPU time of the event loop goes")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.latency)
        return
    if not (given.root and given.wearer and given.questions):
        parser.error("--root, --wearer and --questions are needed")
    with model_server(given.latency) as (url, process), tempfile.TemporaryDirectory() as scratch:
        settings = ChatSettings(model="test-model", urls=(url,), concurrency=given.in_flight)
        store = open_store(given.root)
        manifest = current_manifest(store)
        embed = check_encoder(load_encoder(manifest.embedding_model), manifest).queries
        # Replies are kept, as always, but not in the root: a second run would find them there.
        chat = chat_opener(settings, LocalStore(Path(scratch)))
        method = make_method("egocite", embed, AGENTS, model=settings, chat=chat)
        memory = open_wearer(store, manifest, given.wearer)
        file = Asked.read(given.questions, given.wearer).file.questions
        turns = enumerate(itertools.islice(itertools.cycle(file), given.count + given.in_flight))
        entries = [replace(entry, question=replace(entry.question, question_id=str(turn))) for turn, entry in turns]
        run(method, memory, entries[given.count :], given.in_flight)  # opens all connections
        profiler = cProfile.Profile(time.thread_time) if given.profile else None
        found = measure(method, memory, entries[: given.count], given.in_flight, process, profiler)
        found = {**found, **shares(found, given.latency, given.in_flight)}
    sys.stdout.write(json.dumps(found, indent=1) + "\n")
    if profiler:
        pstats.Stats(profiler).sort_stats("tottime").print_stats(40)


def serve(latency_s: float) -> None:
    """Prints the server's URL on one line and serves until the input ends."""
    with ChatServer(script, latency_s=latency_s, keep_requests=False) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        sys.stdin.read()


def script(body: dict[str, Any]) -> Reply | dict[str, Any]:
    """What the model says: two turns of searches, the end of drafting, a curation, an answer."""
    if body.get("tools"):
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        asked = next(message["content"] for message in body["messages"] if message["role"] == "user")
        found = _ASKED.search(asked)
        words = found.group(1) if found else asked[:100]
        if turn == 0:
            return Reply(None, [call("search_action_utterance", words), call("search_activity", words)])
        if turn == 1:
            return Reply(None, [call("search_action_utterance", f"I {words}"), call("search_conversation", words)])
        return Reply(None, [("answer", "{}")])
    names = set((schema_of(body) or {}).get("properties", {}))
    if "keep" in names:
        return {"qualifier": "last", "keep": list(range(1, 16))}
    return {"reason": "It is told there.", "answer": "A", "cited": []}


def call(tool: str, query: str) -> tuple[str, str]:
    """A search as a model writes it."""
    return tool, json.dumps({"query": query})


@contextmanager
def model_server(latency_s: float) -> Iterator[tuple[str, int]]:
    """The URL and the process of the scripted model."""
    command = [sys.executable, "-m", "benchmarks.agents", "--serve", "--latency", str(latency_s)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        yield process.stdout.readline().strip(), process.pid
        process.stdin.close()


class Watched:
    """A method that books how many of its questions are under way, over time."""

    def __init__(self, method: Method) -> None:
        assert isinstance(method, AsyncMethod)
        self._method = method
        self.name = method.name
        self.under_way, self.area, self._since = 0, 0.0, time.perf_counter()
        self.answer, self.answer_many = method.answer, method.answer_many

    def _change(self, by: int) -> None:
        now = time.perf_counter()
        self.area += self.under_way * (now - self._since)
        self.under_way, self._since = self.under_way + by, now

    async def answer_async(self, question: Question, memory: WearerMemory, counts: CallCounts) -> Answer:
        """See AsyncMethod."""
        self._change(1)
        try:
            return await self._method.answer_async(question, memory, counts)
        finally:
            self._change(-1)


def run(method: Method, memory: WearerMemory, entries: list[BenchmarkQuestion], in_flight: int) -> Evaluation:
    """The evaluation of some questions, whose answers are not stored."""
    coroutine = evaluate_many(
        entries, memory, method, keep=lambda _: None, in_flight=in_flight, clock=time.perf_counter
    )
    with products_on_one_core():
        return asyncio.run(coroutine)


def measure(
    method: Method,
    memory: WearerMemory,
    entries: list[BenchmarkQuestion],
    in_flight: int,
    server: int,
    profiler: cProfile.Profile | None,
) -> dict[str, Any]:
    """What a run came to."""
    watched = Watched(method)
    begun, own, theirs = time.perf_counter(), time.process_time(), cpu_seconds(server)
    with profiler or nullcontext():
        evaluation = run(watched, memory, entries, in_flight)
    seconds, own, theirs = time.perf_counter() - begun, time.process_time() - own, cpu_seconds(server) - theirs
    calls = evaluation.calls.answered
    return {
        "questions": len(entries),
        "failed": sum(answer.error is not None for answer in evaluation.answers),
        "calls": calls,
        "in_flight": in_flight,
        "seconds": round(seconds, 2),
        "in_flight_share": round(watched.area / seconds / in_flight, 3),
        "cpu_ms_per_call": round(1000 * own / calls, 2),
        "server_cpu_ms_per_call": round(1000 * theirs / calls, 2),
        "bound_s": round((own + theirs) / len(os.sched_getaffinity(0)), 2),
    }


def shares(found: dict[str, Any], latency_s: float, in_flight: int) -> dict[str, float]:
    """The wall time against the ideal one."""
    ideal = found["calls"] * latency_s / in_flight
    return {"ideal_s": round(ideal, 2), "share_of_ideal": round(ideal / found["seconds"], 3)}


def cpu_seconds(process: int) -> float:
    """CPU seconds that a process has used (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()

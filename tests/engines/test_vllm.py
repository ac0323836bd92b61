"""The way of production on a machine without a GPU: Ray Serve LLM, vLLM, a real Gemma, and the chat client."""

from __future__ import annotations

import json
import os
import signal
import threading
import urllib.request
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Literal

import pytest
import srt
from pydantic import BaseModel

from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import discover
from ray_tasks.engines.client import ChatClient
from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import ChatRequest, Message, Sampling, TruncatedError
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.rows import Atom, Caption, Row, from_table
from ray_tasks.scheduling.build import Build, BuildOutcome
from ray_tasks.scheduling.selection import select
from ray_tasks.scheduling.tasks import ShardResult, ShardTask, WorkerSettings
from ray_tasks.storage.cache import ShardCache
from ray_tasks.storage.shards import Shard
from ray_tasks.storage.store import LocalStore
from sample_week import write_sample_week
from tests.engines.live import served
from tests.scheduling.inline import InlineExecutor, SilentReporter

__all__ = ["served"]
KILL_AFTER_S = 10.0
HOUR = "B1_MARA/DAY1/10"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


class Place(BaseModel):
    """A small schema whose every reply comes to an end."""

    kind: Literal["town", "river", "hill"]
    near_water: bool


def test_the_model_continues_a_sentence_sensibly(served: ChatSettings) -> None:
    body = {"model": served.model, "prompt": "The capital of France is", "max_tokens": 24, "temperature": 0}
    text = str(_post(f"{served.urls[0]}/completions", body)["choices"][0]["text"])  # type: ignore[index]
    assert "France" in text or "Paris" in text
    assert any(word in text.split() for word in ("the", "a", "of"))


def test_a_reply_is_json_of_the_schema_without_white_space_for_filling(served: ChatSettings) -> None:
    counts = CallCounts()
    with ChatClient(served) as client:
        reply = client.run(client.ask(_request("Tell of the place where Mara swims."), counts))
    assert isinstance(reply.parsed, Place)
    assert "\n" not in reply.text
    assert "  " not in reply.text
    assert counts.answered == 1
    assert 0 < counts.tokens_out < 40


def test_words_that_do_not_end_are_a_counted_failure(served: ChatSettings) -> None:
    counts = CallCounts()
    endless = ChatRequest((Message("user", "Go on."),), "test", sampling=Sampling(max_tokens=4))
    with ChatClient(served) as client, pytest.raises(TruncatedError):
        client.run(client.ask(endless, counts))
    assert counts.balanced


def test_an_hour_of_the_sample_week_is_extracted_though_the_replica_is_killed(
    served: ChatSettings, tmp_path: Path
) -> None:
    """Every line ends as a valid atom or in the books; the kill, in the middle of the calls, only delays them.

    The model is too small to follow instructions, so most of what it says falls back to the lines' own words. Two cores
    read 400 tokens a second, so the hour ends after its first five clips unless DAYBOOK_WHOLE_HOUR is set.
    """
    week = write_sample_week(tmp_path / "week")
    if "DAYBOOK_WHOLE_HOUR" not in os.environ:
        _cut_short(week.corpus, clips=5)
    layout, _, selection = select(discover(week.corpus), [HOUR])
    patient = served.model_copy(update={"max_tokens": 64, "reply_attempts": 1, "attempts": 60})
    store = LocalStore(tmp_path / "root")
    config = BuildConfig(engine="llm", llm=patient)
    executor = KillingExecutor(served.urls[0].split("/")[-2])
    build = Build(store, config, executor, SilentReporter(), 1, "run-1", selection=selection)
    outcome = build.run(layout)
    assert not outcome.failures, [result.failure for result in outcome.failures]
    extract, segment = outcome.totals["extract"], outcome.totals["segment"]
    for totals in (extract, segment):
        totals.ledger.check("after the kill")
        assert totals.calls.balanced
    assert extract.calls.retries.total() > 0, "the kill came when nothing was under way"
    assert extract.ledger.taken == sum(len(caption.lines) for caption in _rows(store, outcome, "caption", Caption))
    assert segment.ledger.taken == len(_rows(store, outcome, "caption", Caption))
    captions = {caption.caption_id for caption in _rows(store, outcome, "caption", Caption)}
    for stage, views in (("extract", {"action", "utterance"}), ("segment", {"activity", "conversation"})):
        atoms = _rows(store, outcome, stage, Atom)
        assert atoms and {atom.view for atom in atoms} <= views
        assert all(atom.text.strip() and set(atom.caption_ids) <= captions for atom in atoms)
        assert all(atom.engine == patient.identity and atom.start_ms < atom.end_ms for atom in atoms)


def _cut_short(corpus: Path, clips: int) -> None:
    """Leaves the first clips of the hour, and what was said in them."""
    wearer, day, hour = HOUR.split("/")
    sync = next((corpus / "EgoLifeCap/Sync").glob(f"{wearer}_{day}_{hour}*.json"))
    kept = json.loads(sync.read_text(encoding="utf-8"))[:clips]
    sync.write_text(json.dumps(kept, ensure_ascii=False), encoding="utf-8")
    spoken = next((corpus / "EgoLifeCap/Transcript" / wearer / day).glob(f"*_{hour}*.srt"))
    cues = [cue for cue in srt.parse(spoken.read_text(encoding="utf-8")) if cue.start < timedelta(seconds=30 * clips)]
    spoken.write_text(srt.compose(cues), encoding="utf-8")


def _rows(store: LocalStore, outcome: BuildOutcome, stage: str, row_type: type[Row]) -> list[Row]:
    """The rows of a stage for the hour."""
    cache = ShardCache(store)
    record = cache.find(stage, outcome.records[stage][Shard.parse(HOUR)].key)
    assert record
    return from_table(cache.read_table(record), row_type)


class KillingExecutor(InlineExecutor):
    """Kills the replica while the calls of an hour are under way."""

    def __init__(self, app: str) -> None:
        super().__init__()
        self._app = app

    def run(self, tasks: Sequence[ShardTask], settings: WorkerSettings) -> Iterator[ShardResult]:
        """See Executor.run."""
        if tasks[0].stage == "extract":
            threading.Timer(KILL_AFTER_S, lambda: os.kill(_replica(self._app), signal.SIGKILL)).start()
        yield from super().run(tasks, settings)


def _request(text: str, most: int = 40) -> ChatRequest:
    return ChatRequest((Message("user", text),), "test", schema=Place, sampling=Sampling(max_tokens=most))


def _post(url: str, body: dict[str, object]) -> dict[str, object]:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as answer:
        parsed: dict[str, object] = json.load(answer)
    return parsed


def _replica(app: str) -> int:
    """The process of the application's replica that holds the engine; Ray writes both names into its title."""
    for status in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            title = status.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has just ended
            continue
        if title.startswith(f"ray::ServeReplica:{app}:LLMServer"):
            return int(status.parent.name)
    raise AssertionError(f"no process of a replica of {app}")

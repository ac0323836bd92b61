"""Whole builds with a language model behind the chat server: books, faults, caches and keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import discover
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.rows import VIEWS
from ray_tasks.scheduling.build import Build, BuildOutcome, ModelGoneError
from ray_tasks.scheduling.estimate import plan_build
from ray_tasks.scheduling.selection import Recordings
from ray_tasks.storage.store import LocalStore
from tests.chat_server import ChatServer, Fault, FaultPlan
from tests.scheduling.corpus import small_corpus
from tests.scheduling.inline import InlineExecutor, SilentReporter
from tests.scheduling.model_script import passable

NOBODY = "http://127.0.0.1:9/v1"
ASKING = ("extract", "segment", "join")
SIX_WAYS: tuple[Fault, ...] = ("slow", "429", "500", "truncated", "wrong_json", "cut")


def config_for(server: ChatServer, **changes: Any) -> BuildConfig:
    llm = ChatSettings(model=server.model, urls=(server.url,), timeout_s=20, longest_wait_s=0.1, cache=False)
    return BuildConfig(engine="llm", llm=llm.model_copy(update=changes))


def build(corpus: Path, root: Path, config: BuildConfig) -> tuple[BuildOutcome, InlineExecutor]:
    executor = InlineExecutor()
    outcome = Build(LocalStore(root), config, executor, SilentReporter(), 1, "run-1").run(discover(corpus))
    return outcome, executor


def contents(outcome: BuildOutcome) -> dict[str, str]:
    return {
        f"{stage} {shard}": record.digest
        for stage, shards in outcome.records.items()
        for shard, record in shards.items()
    }


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def healthy(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, BuildOutcome, ChatServer]:
    root = tmp_path_factory.mktemp("root")
    with ChatServer(passable, keep_requests=False) as server:
        outcome, _ = build(corpus, root, config_for(server))
    return root, outcome, server


def test_every_caption_ends_as_atoms_of_the_model_or_as_a_counted_fallback(
    healthy: tuple[Path, BuildOutcome, ChatServer],
) -> None:
    _, outcome, _ = healthy
    assert not outcome.failures
    assert all(outcome.report.atoms[view] for view in VIEWS)
    extract = outcome.totals["extract"]
    assert extract.ledger.taken == outcome.totals["caption"].ledger.done
    assert extract.calls.calls >= outcome.totals["caption"].rows


def test_the_books_of_calls_are_the_servers(healthy: tuple[Path, BuildOutcome, ChatServer]) -> None:
    _, outcome, server = healthy
    calls = [outcome.totals[stage].calls for stage in ASKING]
    assert all(books.balanced for books in calls)
    assert sum(books.attempts for books in calls) == server.served.requests
    assert sum(books.tokens_in for books in calls) == server.served.tokens_in
    assert sum(books.tokens_out for books in calls) == server.served.tokens_out
    assert sum(outcome.totals[stage].tokens for stage in ASKING) == server.served.tokens_in + server.served.tokens_out


def test_a_build_among_faults_has_the_same_content_and_exact_books(
    corpus: Path, healthy: tuple[Path, BuildOutcome, ChatServer], tmp_path: Path
) -> None:
    with ChatServer(passable, faults=FaultPlan(share=0.2, kinds=SIX_WAYS, seed=3), keep_requests=False) as server:
        outcome, _ = build(corpus, tmp_path, config_for(server))
    assert set(server.served.faults) == set(SIX_WAYS)
    assert not outcome.failures
    assert contents(outcome) == contents(healthy[1])
    calls = [outcome.totals[stage].calls for stage in ASKING]
    assert all(books.balanced for books in calls)
    assert sum(books.attempts for books in calls) == server.served.requests
    assert sum(books.retries.total() for books in calls) == server.served.faults.total() - server.served.faults["slow"]
    assert sum(books.calls for books in calls) == sum(healthy[1].totals[stage].calls.calls for stage in ASKING)
    notes = [outcome.totals[stage].ledger.notes for stage in ASKING]
    assert notes == [healthy[1].totals[stage].ledger.notes for stage in ASKING]


def test_a_second_build_asks_nothing(corpus: Path, healthy: tuple[Path, BuildOutcome, ChatServer]) -> None:
    root, outcome, server = healthy
    gone = config_for(server, urls=(NOBODY,))
    again, executor = build(corpus, root, gone)
    assert executor.asked == []
    assert contents(again) == contents(outcome)


@pytest.mark.parametrize("change", [{"model": "another"}, {"revision": "b"}, {"temperature": 0.5}, {"max_tokens": 99}])
def test_another_model_revision_or_draw_extracts_again_and_reads_no_source(
    corpus: Path, healthy: tuple[Path, BuildOutcome, ChatServer], change: dict[str, Any]
) -> None:
    root, _, server = healthy
    changed = config_for(server, urls=(NOBODY,), attempts=1, outage_s=0, **change)
    plan = plan_build(Recordings(discover(corpus)), LocalStore(root), changed)
    to_do = {stage for stage, planned in plan.stages.items() if planned.to_do}
    assert to_do == {"extract", "segment", "join", "embed", "part", "index"}


def test_a_model_that_is_gone_ends_the_build_instead_of_falling_back(corpus: Path, tmp_path: Path) -> None:
    settings = ChatSettings(urls=(NOBODY,), attempts=1, outage_s=0)
    executor = InlineExecutor()
    build = Build(LocalStore(tmp_path), BuildConfig(engine="llm", llm=settings), executor, SilentReporter(), 1, "run-1")
    with pytest.raises(ModelGoneError, match="finished shards are kept"):
        build.run(discover(corpus))
    assert sum(asked.split()[0] in ASKING for asked in executor.asked) == 3

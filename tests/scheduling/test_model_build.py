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
from ray_tasks.scheduling.gates import balanced_books, fallbacks
from ray_tasks.scheduling.selection import Recordings
from ray_tasks.storage.store import LocalStore
from tests.chat_server import ChatServer, Fault, FaultPlan, Reply
from tests.scheduling.corpus import small_corpus, write_hour
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


def test_a_model_of_no_use_in_any_step_is_refused_by_its_gate(tmp_path: Path) -> None:
    """Every step keeps the rows it was given, so the memory is whole: only this gate can tell."""
    cues = [
        (f"{m:02d}:{s:02d}", f"{m:02d}:{s + 2:02d}", f"我把第{m}个箱子搬到{s}号棚里。")
        for m in range(9)
        for s in (2, 6, 10)
    ]
    write_hour(tmp_path / "corpus", "B1_MARA", 1, 9, cues, "DenseCaption")
    with ChatServer(lambda _: Reply(refusal="I will not."), keep_requests=False) as server:
        config = config_for(server).model_copy(update={"translate": "llm", "prose": "llm", "records": "llm"})
        outcome, _ = build(tmp_path / "corpus", tmp_path / "root", config)
    assert not outcome.failures
    assert balanced_books(outcome.by_wearer).passed
    for stage in ("translate", "narrate", "extract", "segment", "records"):
        (refused,) = fallbacks({stage: outcome.totals[stage]}, 20.0)
        assert refused.measured is not None and refused.measured >= 50, stage
    (refused,) = fallbacks(outcome.totals, 20.0)
    assert not refused.passed
    assert "translate: 27 of " in refused.words


def test_a_model_that_is_gone_ends_the_build_instead_of_falling_back(corpus: Path, tmp_path: Path) -> None:
    settings = ChatSettings(urls=(NOBODY,), attempts=1, outage_s=0)
    executor = InlineExecutor()
    build = Build(LocalStore(tmp_path), BuildConfig(engine="llm", llm=settings), executor, SilentReporter(), 1, "run-1")
    with pytest.raises(ModelGoneError, match="finished shards are kept"):
        build.run(discover(corpus))
    assert sum(asked.split()[0] in ASKING for asked in executor.asked) == 3


def test_a_model_that_knows_the_key_no_more_ends_the_build_and_leaves_no_shard_half_asked(
    corpus: Path, healthy: tuple[Path, BuildOutcome, ChatServer], tmp_path: Path
) -> None:
    answered = iter(range(100))

    def until_revoked(body: dict[str, Any]) -> str | dict[str, Any] | Reply:
        return passable(body) if next(answered, None) is not None else Reply(status=401, text="unknown key")

    with ChatServer(until_revoked, keep_requests=False) as server:
        with pytest.raises(ModelGoneError, match="daybook doctor"):
            build(corpus, tmp_path, config_for(server))
        revoked = server.served.requests
        server.reply = passable
        outcome, _ = build(corpus, tmp_path, config_for(server))
    assert revoked < healthy[2].served.requests
    assert contents(outcome) == contents(healthy[1])


def test_a_caption_that_is_too_long_for_the_model_and_alone_in_its_hour_keeps_its_own_words(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    write_hour(corpus, "B1_MARA", 1, 9, [("00:05", "00:09", "Tobi: the kettle is on the shelf.")])
    rejecting = Reply(status=400, text="This model's maximum context length is 512 tokens.")
    with ChatServer(lambda _: rejecting, keep_requests=False) as server:
        outcome, _ = build(corpus, tmp_path / "root", config_for(server))
    assert not outcome.failures
    assert outcome.totals["extract"].ledger.notes["fallback_rejected"] == 1

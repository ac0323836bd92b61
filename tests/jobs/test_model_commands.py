"""Commands with a language model, as a user runs them: real Ray, the chat server over HTTP."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chat_server import ChatServer
from tests.chat_server.replies import images_of
from tests.jobs.memories import THINGS, WEARERS, write_corpus, write_questions
from tests.jobs.test_commands import daybook, daybook_here
from tests.retrieval.llm.wire_model import obliging, purpose_of
from tests.scheduling.corpus import write_hour
from tests.scheduling.model_script import passable


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two hours with speech and captions."""
    for hour in (9, 10):
        cues = [(f"{m:02d}:05", f"{m:02d}:09", f"Tobi: the kettle {m} is on the shelf.") for m in range(0, 60, 3)]
        write_hour(tmp_path / "corpus", "B1_MARA", 1, hour, cues)
        seen = [(f"{m:02d}:10", f"{m:02d}:14", f"I carry the blue box {m} to the shed.") for m in range(0, 60, 3)]
        write_hour(tmp_path / "corpus", "B1_MARA", 1, hour, seen, "DenseCaption")
    return tmp_path / "corpus"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "llm.yaml"
    path.write_text(
        "engine: llm\nllm: {attempts: 2, outage_s: 0, prices: {input: 2.0, output: 8.0}}\n"
        "gates: {max_fallback_rate: 100}\n",
        encoding="utf-8",
    )
    return path


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(passable, keep_requests=False) as running:
        yield running


@pytest.mark.slow
def test_a_build_asks_its_model_publishes_and_is_paid_for_once(
    corpus: Path, config: Path, server: ChatServer, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    command = ("--corpus", corpus, "--root", root, "--config", config, "--llm-model", server.model)
    printed = daybook("build", *command, "--llm-url", server.url, "--json")
    built, _ = json.JSONDecoder().raw_decode(printed)  # progress, on the other stream, follows
    assert built["published"]
    calls = [built["stages"][stage]["calls"] for stage in ("extract", "segment", "join")]
    # One more request than the build's: that of the check before it.
    assert sum(each["attempts"] for each in calls) == server.served.requests - 1
    plan = json.loads(daybook("plan", *command, "--json"))
    assert plan["to_do"] == plan["tokens_in"] == 0
    again = daybook("build", *command, "--llm-url", server.url)
    assert "nothing to do" in again
    assert re.search(r"extract: [\d,]+ calls, .* tokens read, [\d,]+ written \(\d\.\d+ USD\)", again)
    other = json.loads(daybook("plan", *command, "--llm-model", "another", "--json"))
    assert other["stages"]["extract"]["to_do"] == 2
    assert other["tokens_in"] > 0
    assert other["token_cost"] == pytest.approx((2 * other["tokens_in"] + 8 * other["tokens_out"]) / 1e6, rel=1e-3)


def test_a_model_that_does_not_answer_is_told_before_any_work(corpus: Path, config: Path, tmp_path: Path) -> None:
    url = "http://127.0.0.1:9/v1"
    command = ("build", "--corpus", corpus, "--root", tmp_path / "root", "--config", config, "--llm-url", url)
    printed = daybook_here(*command, expect=1)
    assert url in printed
    assert "start the server, or mend the address" in printed
    assert not (tmp_path / "root" / "cache").exists()


def test_a_model_that_the_server_does_not_know_is_told_with_those_it_knows(
    corpus: Path, config: Path, server: ChatServer, tmp_path: Path
) -> None:
    command = ("build", "--corpus", corpus, "--root", tmp_path / "root", "--config", config, "--llm-url", server.url)
    assert server.model in daybook_here(*command, "--llm-model", "nobody", expect=1)


def test_a_build_with_a_model_but_no_address_says_what_to_set(corpus: Path, tmp_path: Path) -> None:
    printed = daybook_here("build", "--corpus", corpus, "--root", tmp_path / "root", "--engine", "llm", expect=2)
    assert "--llm-url" in printed
    assert "serve" in printed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((), "--corpus DIR"), (("--identities", "people"), "--corpus DIR"), (("--video", "nowhere"), "no such folder")],
)
def test_a_build_of_nothing_says_what_is_missing(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    assert words in daybook_here("build", "--root", tmp_path / "root", *arguments, expect=2)


def test_doctor_asks_the_model_that_sees_about_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "both.yaml"
    with ChatServer(passable) as words, ChatServer(passable, model="eyes") as eyes:
        path.write_text(
            f"engine: llm\nllm: {{model: {words.model}, urls: [{words.url}]}}\n"
            f"vlm: {{model: eyes, urls: [{eyes.url}]}}\n",
            encoding="utf-8",
        )
        printed = daybook_here("doctor", "--root", tmp_path / "root", "--config", path)
        assert [len(images_of(body)) for body in words.requests] == [0]
        assert [len(images_of(body)) for body in eyes.requests] == [1]
    assert f"eyes at {eyes.url} answered" in printed


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_questions_are_answered_by_a_model_on_ray(tmp_path: Path) -> None:
    """Two wearers and two methods at once; an endpoint that goes away and comes back costs nothing but another run."""
    root, out = tmp_path / "root", tmp_path / "out.json"
    daybook("build", "--corpus", write_corpus(tmp_path / "corpus"), "--root", root)
    questions = write_questions(tmp_path / "questions.json")
    config = tmp_path / "short.yaml"
    config.write_text("llm: {model: test-model, attempts: 2, outage_s: 0, longest_wait_s: 0.05}\n", encoding="utf-8")
    files = [argument for wearer in WEARERS for argument in ("--questions", f"{wearer}={questions}")]
    steps = ("--set", "draft=llm", "--set", "curate=llm", "--set", "respond=llm")
    methods = ("--method", "egocite", "--method", "caption-rag")
    command = ("evaluate", "--root", root, *files, *methods, *steps, "--config", config, "--cpus", 2, "--json", out)
    daybook(*command, "--llm-url", "http://127.0.0.1:9/v1", expect=1)
    away = json.loads(out.read_text(encoding="utf-8"))
    assert [result["statuses"] for result in away] == [{"error": len(THINGS)}] * 4
    with ChatServer(obliging, latency_s=0.05) as server:
        daybook(*command, "--llm-url", server.url)
        results = json.loads(out.read_text(encoding="utf-8"))
        assert [(result["wearer"], result["method"]) for result in results] == [
            (wearer, method) for wearer in WEARERS for method in ("egocite", "caption-rag")
        ]
        assert all(result["statuses"] == {"answered": len(THINGS)} for result in results)
        # Equal requests at the same time are sent once by each of the actors, and never again once one is answered.
        asked = Counter(map(purpose_of, server.requests))
        assert asked["respond"] <= 4 * len(THINGS) and asked["draft"] <= 2 * 3 * len(THINGS)
        assert server.served.most_at_once > 4
        before = server.served.requests
        again = daybook(*command, "--llm-url", server.url)
        assert "are kept" in again and server.served.requests == before

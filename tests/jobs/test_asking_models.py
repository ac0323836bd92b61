"""`ask`, `evaluate` and `trace` with a language model, as a user types them: exit codes, words, and what is asked."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from jobs import answering
from jobs.cli import app
from ray_tasks.storage.manifests import publish
from tests.chat_server import ChatServer, FaultPlan, Reply
from tests.chat_server.replies import Script
from tests.jobs.memories import THINGS, WEARERS, build_memory, write_corpus, write_questions
from tests.jobs.quick_encoder import QuickEncoder
from tests.retrieval.llm.wire_model import obliging, purpose_of

LLM = ("--set", "draft=llm", "--set", "curate=llm", "--set", "respond=llm")
ANSWERS_ONLY = ("--method", "caption-rag", "--set", "respond=llm")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a published memory in `root`, and questions."""
    folder = tmp_path_factory.mktemp("place")
    store, _, manifest = build_memory(write_corpus(folder / "corpus"), folder / "root")
    publish(store, manifest, None)
    write_questions(folder / "questions.json")
    return folder


@dataclass
class Place:
    """A root of one's own over the same memory, and a server, as arguments of commands."""

    folder: Path
    root: Path
    server: ChatServer
    timeout_s: float = 5

    def run(self, command: str, *arguments: object, expect: int = 0) -> str:
        """Runs `ask`, `evaluate` or `trace` on a question that the memory can answer; gives what it printed."""
        given: dict[str, tuple[object, ...]] = {
            "ask": ("Where did I put the basket?", "--at", "DAY1 10300000", "--choice", "In the yard"),
            "evaluate": ("--questions", self.folder / "questions.json", "--json", self.root / "out.json"),
            "trace": ("3", "--questions", self.folder / "questions.json"),
        }
        patience = "attempts: 2, reply_attempts: 2, outage_s: 0, longest_wait_s: 0.05"
        config = self.root / "config.yaml"
        config.write_text(f"llm: {{{patience}, timeout_s: {self.timeout_s}}}\n", encoding="utf-8")
        whose = ("--root", self.root, "--wearer", WEARERS[0], "--config", config)
        url = () if "--llm-url" in arguments else ("--llm-url", self.server.url)
        typed = [command, *given[command], *whose, *url, "--llm-model", "test-model", *arguments]
        result = CliRunner().invoke(app, [*map(str, typed)], env={"COLUMNS": "240"})
        by_itself = result.exception is None or isinstance(result.exception, SystemExit)
        assert by_itself and result.exit_code == expect, f"{result.exception!r}\n{result.output}"
        return " ".join(result.output.split())

    def purposes(self) -> Counter[str]:
        """How often each agent has asked."""
        return Counter(map(purpose_of, self.server.requests))

    def result(self) -> dict[str, Any]:
        """What `evaluate` wrote."""
        found: dict[str, Any] = json.loads((self.root / "out.json").read_text(encoding="utf-8"))
        return found


@pytest.fixture
def place(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """Its server obliges."""
    monkeypatch.setattr(answering, "load_encoder", QuickEncoder)
    root = shutil.copytree(built / "root", tmp_path / "root")
    with ChatServer(obliging) as server:
        yield Place(built, root, server)


def test_ask_answers_by_a_model_with_its_reason(place: Place) -> None:
    printed = place.run("ask", *LLM, "--choice", "In the mill")
    assert printed.startswith("B. In the mill So it is told.")
    assert "DAY1 09:" in printed
    assert place.purposes()["draft"] == 3 and place.purposes()["respond"] == 1
    answer = json.loads(place.run("ask", *LLM, "--choice", "In the mill", "--json"))
    assert (answer["status"], answer["choice"], answer["answer"]) == ("answered", "B", "In the mill")
    assert answer["said"] == "So it is told."
    assert answer["calls"] == place.server.served.requests and answer["tokens_in"] > 0
    assert answer["error"] is None


def test_evaluate_asks_all_questions_and_once_only(place: Place) -> None:
    place.run("evaluate", *LLM)
    result = place.result()
    assert result["statuses"] == {"answered": len(THINGS)}
    assert {answer["predicted"] for answer in result["answers"]} == {"D"}
    asked = place.server.served.requests
    assert place.purposes()["respond"] == len(THINGS) and place.purposes()["draft"] == 3 * len(THINGS)
    assert "12 of 12 answers are kept" in place.run("evaluate", *LLM)
    # Asked again they are answered from the store of replies, and a trace shows what was evaluated.
    place.run("evaluate", *LLM, "--again")
    traced = place.run("trace", *LLM)
    assert place.server.served.requests == asked
    assert "round 1" in traced and "answer: D (answered) So it is told." in traced
    assert "search_activity 'Where did I put the basket?' 'DAY1 to now'" in traced


@pytest.mark.parametrize("command", ["ask", "evaluate", "trace"])
def test_the_baseline_is_answered_by_a_model_too(place: Place, command: str) -> None:
    printed = place.run(command, *ANSWERS_ONLY)
    questions = len(THINGS) if command == "evaluate" else 1
    assert place.purposes() == {"respond": questions}
    assert "So it is told." in printed or place.result()["statuses"] == {"answered": questions}


@pytest.mark.parametrize("command", ["ask", "evaluate", "trace"])
def test_a_baseline_without_a_step_for_a_model_needs_none(place: Place, command: str) -> None:
    place.run(command, "--method", "caption-rag", "--set", "draft=llm")
    assert place.server.requests == []


@pytest.mark.parametrize("command", ["ask", "evaluate", "trace"])
@pytest.mark.parametrize("more", [LLM, ANSWERS_ONLY], ids=["agents", "baseline"])
def test_a_model_without_an_address_is_asked_for(place: Place, command: str, more: tuple[str, ...]) -> None:
    config = place.folder / "nowhere.yaml"
    config.write_text("llm: {model: test-model}\n", encoding="utf-8")
    typed = {
        "ask": ["ask", "Where?", "--at", "DAY1 10300000"],
        "evaluate": ["evaluate", "--questions", str(place.folder / "questions.json")],
        "trace": ["trace", "3", "--questions", str(place.folder / "questions.json")],
    }[command]
    whose = ["--root", str(place.root), "--wearer", WEARERS[0], "--config", str(config)]
    result = CliRunner().invoke(app, [*typed, *whose, *more])
    assert result.exit_code == 2
    assert "--llm-url" in result.output


@pytest.mark.parametrize("command", ["ask", "trace"])
def test_one_question_starts_no_model(place: Place, command: str) -> None:
    config = place.root / "serving.yaml"
    config.write_text("llm: {model: test-model, serve: {gpus: 0}}\n", encoding="utf-8")
    where = ("--at", "DAY1 10300000") if command == "ask" else ("--questions", str(place.folder / "questions.json"))
    whose = ("--root", str(place.root), "--wearer", WEARERS[0], "--config", str(config))
    result = CliRunner().invoke(app, [command, "3", *where, *whose, *LLM])
    assert result.exit_code == 2
    assert "one question is not worth starting test-model" in " ".join(result.output.split())


@pytest.mark.parametrize("command", ["ask", "evaluate", "trace"])
@pytest.mark.parametrize(
    ("setting", "says"),
    [("draft=maybe", "draft"), ("draft_rounds=0", "draft_rounds"), ("views=smell", "views"), ("tune=1", "tune")],
)
def test_a_setting_that_cannot_be_is_named(place: Place, command: str, setting: str, says: str) -> None:
    assert says in place.run(command, "--set", setting, expect=2)
    assert place.server.requests == []


DOWN = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize("more", [LLM, ANSWERS_ONLY], ids=["agents", "baseline"])
@pytest.mark.parametrize("command", ["ask", "evaluate", "trace"])
def test_an_endpoint_that_is_down_ends_in_exit_code_1_with_its_address(
    place: Place, command: str, more: tuple[str, ...]
) -> None:
    printed = place.run(command, *more, "--llm-url", DOWN, expect=1)
    if command != "evaluate":
        assert DOWN in printed and "no usable answer in 2 requests" in printed
        return
    result = place.result()
    assert result["statuses"] == {"error": len(THINGS)}
    assert all(DOWN in answer["error"] or "could be reached" in answer["error"] for answer in result["answers"])
    # Nothing of it is kept: the same command asks again as soon as somebody answers.
    place.run("evaluate", *more)
    assert place.result()["statuses"] == {"answered": len(THINGS)}


@dataclass(frozen=True)
class Case:
    """A server that misbehaves, how commands end, and what they say."""

    script: Script
    code: int
    status: str
    says: str
    notes: tuple[str, ...] = ()
    faults: FaultPlan | None = None


def only(purpose: str, said: str | Reply) -> Script:
    """Obliges but for one agent."""

    def script(body: dict[str, Any]) -> Any:
        return said if purpose_of(body) == purpose else obliging(body)

    return script


CASES: dict[str, Case] = {
    "nonsense": Case(
        lambda _: "Bananas are yellow.",
        0,
        "unparsed",
        "no answer: the model's replies state none",
        ("no_call", "draft_invalid_json", "draft_fallback_empty_pool", "respond_invalid_json", "respond_unparsed"),
    ),
    "truncated": Case(
        only("respond", Reply('{"reason": "Because', finish_reason="length")),
        0,
        "unparsed",
        "no answer: the model's replies state none",
        ("respond_again", "respond_truncated", "respond_unparsed"),
    ),
    "refused": Case(
        only("respond", Reply(refusal="I would rather not.")),
        0,
        "declined",
        "The model declined to answer.",
        ("respond_refused",),
    ),
    "empty": Case(only("respond", ""), 0, "unparsed", "no answer", ("respond_empty", "respond_unparsed")),
    "rejected": Case(lambda _: Reply(status=400, text="too odd"), 1, "error", "the endpoint took none of"),
    "unknown model": Case(lambda _: Reply(status=404, text="no such model"), 1, "error", "no such model"),
    "no key": Case(lambda _: Reply(status=401, text="who are you"), 1, "error", "who are you"),
    "broken": Case(lambda _: Reply(status=500, text="Something broke."), 1, "error", "Something broke."),
    "hangs": Case(
        obliging, 1, "error", "no usable answer in 2 requests", faults=FaultPlan(1.0, ("hang",), in_a_row=99)
    ),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, place: Place) -> Iterator[Case]:
    """The server of the place misbehaves."""
    chosen = CASES[request.param]
    with ChatServer(chosen.script, faults=chosen.faults) as server:
        place.server = server
        place.timeout_s = 0.3 if chosen.faults else 5
        yield chosen


def test_ask_ends_and_says_what_the_endpoint_did(place: Place, case: Case) -> None:
    assert case.says in place.run("ask", *LLM, expect=case.code)
    if not case.code:
        answer = json.loads(place.run("ask", *LLM, "--json"))
        assert (answer["status"], answer["choice"], answer["answer"]) == (case.status, None, None)
        assert plain(answer["notes"]) >= set(case.notes)


def test_evaluate_ends_and_counts_what_the_endpoint_did(place: Place, case: Case) -> None:
    place.run("evaluate", *LLM, expect=case.code)
    result = place.result()
    assert result["statuses"] == {case.status: len(THINGS)}
    assert [answer["id"] for answer in result["answers"]] == list(range(len(THINGS)))
    for answer in result["answers"]:
        assert plain(answer["notes"]) >= set(case.notes)
        assert answer["predicted"] is None
        # Once nobody answers, those that have not been asked yet are not asked any more.
        told = answer["error"] or case.says
        assert case.says in told or "no endpoint of the language model could be reached" in told


def test_trace_ends_and_shows_what_the_endpoint_did(place: Place, case: Case) -> None:
    printed = place.run("trace", *LLM, expect=case.code)
    assert case.says in printed if case.code else f"answer: - ({case.status})" in printed
    assert all(note in printed for note in case.notes)


def plain(notes: list[str]) -> set[str]:
    """Notes without how often they apply."""
    return {note.partition(":")[0] for note in notes}

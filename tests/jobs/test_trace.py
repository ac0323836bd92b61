"""`daybook trace`: the way of one question, what the evaluation makes of it, and mistakes that name their remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from jobs.answering import Respondent
from jobs.cli import app
from jobs.exams import Asked
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.retrieval.registry import make_method
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.types import Embed
from ray_tasks.storage.manifests import Manifest, current_manifest, publish
from ray_tasks.storage.store import LocalStore, ObjectStore
from tests.index.builder import MemoryBuilder
from tests.jobs.memories import CountingMethod, build_memory, embed, respondent, write_corpus, write_questions


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a published memory in `root` and a question file."""
    folder = tmp_path_factory.mktemp("place")
    store, _, manifest = build_memory(write_corpus(folder / "corpus"), folder / "root")
    publish(store, manifest, None)
    write_questions(folder / "questions.json")
    return folder


@pytest.fixture(autouse=True)
def hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Methods over the hashing encoder that made the memory."""

    answer_with(monkeypatch, embed)


def answer_with(monkeypatch: pytest.MonkeyPatch, embedder: Embed) -> None:
    """Methods over an embedder."""

    def of(
        store: ObjectStore, manifest: Manifest, method: str, settings: RetrievalSettings, model: ChatSettings | None
    ) -> Respondent:
        return respondent(store, manifest, make_method(method, embedder, settings))

    monkeypatch.setattr(Respondent, "of", of)


def run(place: Path, *arguments: object, expect: int = 0) -> str:
    given = ("trace", *arguments, "--root", place / "root", "--questions", place / "questions.json")
    done = CliRunner().invoke(app, [*map(str, given), "--wearer", "B1_MARA"], env={"COLUMNS": "240"})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == expect, done.output
    return done.output


def test_the_way_of_a_question_is_shown_with_its_key(place: Path) -> None:
    text = run(place, 3)
    assert "Where did I put the basket?" in text
    assert "round 1" in text and "round 2" in text
    assert "S " in text and " + R " in text
    assert "pool: " in text
    assert "answer: " in text
    assert "key: A (" in text
    assert "target: DAY1 09:13:06; in the pool: " in text


@pytest.mark.parametrize("method", ["egocite", "caption-rag"])
def test_json_holds_the_answer_that_the_evaluation_gets(place: Path, method: str) -> None:
    document = json.loads(run(place, 3, "--method", method, "--json"))
    store = LocalStore(place / "root")
    entry = next(
        one for one in Asked.read(place / "questions.json", "B1_MARA").file.questions if one.question.question_id == "3"
    )
    asked = Respondent.of(store, current_manifest(store), method, RetrievalSettings(), None)
    answer = asked.method.answer(entry.question, asked.memory("B1_MARA"))
    assert document["answer"]["choice"] == answer.choice
    assert [item["item_id"] for item in document["curated"]] == [item.item_id for item in answer.evidence]
    assert document["verdict"]["correct"] == (answer.choice == "A")
    assert document["verdict"]["pool_hit"] or not document["verdict"]["hit"]
    assert document["method"] == method and document["memory_id"]
    found: list[dict[str, Any]] = [
        one for turn in document["rounds"] for call in turn["calls"] for one in call["found"]
    ]
    assert found
    for one in found:
        parts = (one["similarity"], one["relevance"])
        joined = parts[0] + parts[1] if one["joined"] == "+" else parts[0] * parts[1]
        assert one["item"]["score"] == pytest.approx(joined)
        assert document["pool"][one["number"] - 1]["item_id"] == one["item"]["item_id"]


def test_settings_reach_the_method(place: Path) -> None:
    assert "round 2" not in run(place, 3, "--set", "rounds=1")


def test_a_method_that_cannot_tell_its_way_shows_its_answer(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = CountingMethod(make_method("egocite", embed, RetrievalSettings()))
    monkeypatch.setattr(Respondent, "of", lambda store, manifest, *_: respondent(store, manifest, counting))
    text = run(place, 3)
    assert "round 1" not in text
    assert "answer: " in text and "pool: " in text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("99",), "has no question 99; it has 0, 1, 2"),
        (("3", "--benchmark", "other"), "known are egolifeqa, egor1, egomem"),
        (("3", "--set", "rounds"), "expected a name and a value"),
        (("3", "--set", "nothing=1"), "nothing"),
        (("3", "--method", "guess"), "choose one of"),
        (("3", "--config", "absent.yaml"), "absent.yaml: cannot be read"),
    ],
)
def test_mistakes_are_named(place: Path, arguments: tuple[str, ...], says: str) -> None:
    assert says in run(place, *arguments, expect=2)


def test_an_encoder_of_another_length_is_told_without_a_traceback(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer_with(monkeypatch, MemoryBuilder(dimension=8).embed)
    assert "those of the memory have 16 dimensions" in run(place, "3", expect=1)


def test_an_entry_that_cannot_be_asked_says_why(place: Path, tmp_path: Path) -> None:
    entries = json.loads((place / "questions.json").read_text())
    entries[0]["question"] = ""
    path = tmp_path / "questions.json"
    path.write_text(json.dumps(entries))
    done = CliRunner().invoke(
        app, ["trace", "0", "--root", str(place / "root"), "--questions", str(path), "--wearer", "B1_MARA"]
    )
    assert done.exit_code == 2
    assert "cannot be asked: no question text" in " ".join(done.output.split())

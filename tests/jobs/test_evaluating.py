"""Evaluations: their id, what is kept of them, and that they see one memory from start to end."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from jobs.evaluating import Asked, exam_of, has_errors, hits, run_evaluation, stored_or_run
from ray_tasks.errors import UsageError
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.types import Answer, Question
from ray_tasks.storage.manifests import Manifest, publish, read_pointer
from ray_tasks.storage.store import LocalStore
from tests.jobs.memories import WEARERS, CountingMethod, build_memory, respondent, write_corpus, write_questions

Place = tuple[LocalStore, Manifest, Path]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A published memory and a question file."""
    folder = tmp_path_factory.mktemp("place")
    store, _, manifest = build_memory(write_corpus(folder / "corpus"), folder / "root")
    publish(store, manifest, None)
    return store, manifest, write_questions(folder / "questions.json")


@pytest.fixture
def place(built: Place, tmp_path: Path) -> Place:
    """A copy of it, for a test that writes."""
    shutil.copytree(built[0].root, tmp_path / "root")
    return LocalStore(tmp_path / "root"), built[1], built[2]


class FallingMethod(CountingMethod):
    """A method that has no memory left for any question."""

    def answer(self, question: Question, memory: WearerMemory) -> Answer:
        """See Method."""
        raise RuntimeError("no more memory")

    def answer_many(self, questions: list[Question], memory: WearerMemory) -> list[Answer]:
        """See Method."""
        raise RuntimeError("no more memory")


def _timeless(result: dict[str, Any]) -> dict[str, Any]:
    answers = [{name: value for name, value in answer.items() if name != "seconds"} for answer in result["answers"]]
    return {"answers": answers, "hit": result["hit"], "accuracy": result["accuracy"], "config": result["config"]}


def test_a_second_evaluation_of_the_same_is_taken_from_the_store(place: Place) -> None:
    store, manifest, questions = place
    method = CountingMethod()
    asked = Asked.read(questions, "B1_MARA")
    first = stored_or_run(respondent(store, manifest, method), asked, "B1_MARA")
    again = stored_or_run(respondent(store, manifest, method), asked, "B1_MARA")
    assert (first.kept, again.kept, method.batches) == (False, True, 1)
    assert again.place == first.place and again.result == json.loads(json.dumps(first.result))
    assert hits(again.result)["0"] is True
    assert not has_errors(again.result)


def test_the_id_follows_the_content_of_the_questions_and_not_their_name(place: Place, tmp_path: Path) -> None:
    store, manifest, questions = place
    here = respondent(store, manifest)
    _, _, first = run_evaluation(here, Asked.read(questions, "B1_MARA"), "B1_MARA")
    renamed = tmp_path / "renamed.json"
    shutil.copy(questions, renamed)
    _, result, same = run_evaluation(here, Asked.read(renamed, "B1_MARA"), "B1_MARA")
    assert same == first and result["config"]["questions"] == "renamed.json"
    changed = tmp_path / questions.name
    changed.write_text(questions.read_text(encoding="utf-8").replace("kettle", "teapot"), encoding="utf-8")
    _, _, other = run_evaluation(here, Asked.read(changed, "B1_MARA"), "B1_MARA")
    assert other != first


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"{}", b"\xff", b'{"config": {}, "answers": []}'])
def test_a_damaged_result_is_made_again_from_the_answers(place: Place, damage: bytes) -> None:
    store, manifest, questions = place
    method = CountingMethod()
    asked = Asked.read(questions, "B1_MARA")
    first = stored_or_run(respondent(store, manifest, method), asked, "B1_MARA")
    (Path(first.place) / "result.json").write_bytes(damage)
    again = stored_or_run(respondent(store, manifest, method), asked, "B1_MARA")
    assert not again.kept and method.batches == 1
    assert _timeless(again.result) == _timeless(first.result)


def test_a_result_with_an_error_is_made_again(place: Place) -> None:
    store, manifest, questions = place

    asked = Asked.read(questions, "B1_MARA")
    broken = FallingMethod()
    failed = stored_or_run(respondent(store, manifest, broken), asked, "B1_MARA")
    assert has_errors(failed.result)
    mended = stored_or_run(respondent(store, manifest), asked, "B1_MARA")
    assert not mended.kept and not has_errors(mended.result)


def test_an_evaluation_sees_one_memory_also_when_another_is_published_meanwhile(place: Place, tmp_path: Path) -> None:
    store, manifest, questions = place
    undisturbed = [
        run_evaluation(respondent(store, manifest), Asked.read(questions, wearer), wearer)[1] for wearer in WEARERS
    ]
    assert all(result["hit"] == 100 for result in undisturbed)

    def publish_another() -> None:
        _, _, other = build_memory(write_corpus(tmp_path / "other", shift=5), store.root)
        seen = read_pointer(store)
        if seen and seen.memory_id == manifest.memory_id:
            publish(store, other, seen)

    disturbed = respondent(store, manifest, CountingMethod(before_each=publish_another))
    for wearer in WEARERS:
        exam_of(disturbed, Asked.read(questions, wearer), wearer).forget()
    results = [run_evaluation(disturbed, Asked.read(questions, wearer), wearer)[1] for wearer in WEARERS]
    pointer = read_pointer(store)
    assert pointer is not None and pointer.memory_id != manifest.memory_id
    assert [_timeless(result) for result in results] == [_timeless(result) for result in undisturbed]
    assert {result["config"]["memory_id"] for result in results} == {manifest.memory_id}


def test_a_file_that_is_not_there_and_a_form_that_is_unknown_are_named(built: Place, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"missing\.json"):
        Asked.read(tmp_path / "missing.json", "B1_MARA")
    with pytest.raises(UsageError, match="egolifeqa"):
        Asked.read(built[2], "B1_MARA", "quiz")

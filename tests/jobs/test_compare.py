"""`daybook compare`: where results come from, what is told of them, and mistakes that name their remedy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jobs.cli import app
from tests.evaluation.results import result


def run(*arguments: object, expect: int = 0) -> str:
    done = CliRunner().invoke(app, ["compare", *map(str, arguments)], env={"COLUMNS": "240"})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == expect, done.output
    return done.output


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with two evaluations of two methods."""
    for name, method, outcomes in (("one", "caption-rag", [False] * 8), ("two", "egocite", [True] * 8)):
        place = tmp_path / "root" / "evaluations" / f"egolifeqa-B1_MARA-{method}-{name}"
        place.mkdir(parents=True)
        (place / "result.json").write_text(json.dumps(result(outcomes, method=method).document))
    return tmp_path / "root"


def test_all_evaluations_of_a_root_are_compared(root: Path) -> None:
    text = run("--root", root)
    assert "question by question, against caption-rag" in text
    assert "EgoCITE-GPT [published, EgoCITE]" in text
    assert "compared: egolifeqa-B1_MARA-caption-rag-one, egolifeqa-B1_MARA-egocite-two" in text


def test_the_beginning_of_an_id_is_enough_and_json_is_one_document(root: Path) -> None:
    document = json.loads(run("--root", root, "egolifeqa-B1_MARA-ego", "egolifeqa-B1_MARA-cap", "--json"))
    found = document["benchmarks"]["egolifeqa"]
    assert [one["label"] for one in found["methods"]] == ["egocite", "caption-rag"]
    assert found["paired"][0]["against"] == "egocite"
    assert found["published"]


def test_files_need_no_root(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    documents = [dict(result([True] * 4, method=name).document) for name in ("a", "b")]
    path.write_text(json.dumps(documents))
    document = json.loads(
        run(path, "--root", tmp_path / "absent", "--against", f"{path}[1]", "--no-published", "--json")
    )
    found = document["benchmarks"]["egolifeqa"]
    assert [one["against"] for one in found["paired"]] == ["b"]
    assert found["published"] == [] and document["sources"] == {}


def test_a_day_narrows_the_questions(root: Path) -> None:
    document = json.loads(run("--root", root, "--until", "DAY3", "--json"))
    assert [one["n"] for one in document["benchmarks"]["egolifeqa"]["methods"]] == [3, 3]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nothing",), "there is no evaluation nothing"),
        (("egolifeqa-B1_MARA",), "begins several evaluations"),
        (("../up",), "there is no evaluation ../up"),
        (("absent.json",), "there is no such file"),
        (("x" * 300,), "File name too long"),
        (("--until", "soon"), "not a day label"),
        (("--benchmark", "egomem"), "they are of egolifeqa"),
        (("--against", "x"), "it is not among"),
        (("--wearer", "B9_NOBODY"), "no answers are left"),
    ],
)
def test_mistakes_are_named(root: Path, arguments: tuple[str, ...], says: str) -> None:
    assert says in run("--root", root, *arguments, expect=2)


def test_a_root_without_evaluations_says_how_to_make_one(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    assert "daybook evaluate" in run("--root", tmp_path / "root", expect=2)


def test_a_damaged_result_is_named(root: Path) -> None:
    (root / "evaluations" / "egolifeqa-B1_MARA-egocite-two" / "result.json").write_text('{"answers": 3')
    assert "egolifeqa-B1_MARA-egocite-two: not JSON" in run("--root", root, expect=2)


def test_a_file_that_is_nested_without_end_is_named(tmp_path: Path) -> None:
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 100_000)
    assert f"{deep}: it is nested too deeply" in run(deep, "--root", tmp_path, expect=2)


def test_help_has_an_example() -> None:
    assert "daybook compare --root memories" in " ".join(run("--help").split())

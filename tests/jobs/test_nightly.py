"""The whole night as its users run it: real Ray, real encoder, an hour of two wearers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.jobs.memories import write_corpus, write_questions
from tests.jobs.test_commands import daybook, daybook_here
from tests.scheduling.corpus import write_hour

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recordings of two hours and questions about the first."""
    folder = tmp_path_factory.mktemp("place")
    write_corpus(folder / "corpus")
    cues = [(f"{minute:02d}:00", f"{minute:02d}:04", f"Tobi: I feed goat {minute}.") for minute in range(1, 9)]
    write_hour(folder / "corpus", "B1_MARA", 1, 11, cues)
    write_questions(folder / "B1_MARA.json")
    return folder


def night(folder: Path, root: Path, *more: object, expect: int = 0) -> str:
    """Runs a night and gives what it printed."""
    return daybook(*night_arguments(folder, root, *more), expect=expect)


def night_arguments(folder: Path, root: Path, *more: object) -> tuple[object, ...]:
    """The command of a night with the questions about B1_MARA."""
    questions = f"B1_MARA={folder / 'B1_MARA.json'}"
    return ("nightly", "--corpus", folder / "corpus", "--root", root, "--questions", questions, *more)


def latest(root: Path) -> dict[str, Any]:
    """The summary of the latest night."""
    name = json.loads((root / "nights" / "latest.json").read_text(encoding="utf-8"))["night"]
    summary: dict[str, Any] = json.loads((root / "nights" / name / "summary.json").read_text(encoding="utf-8"))
    return summary


def test_three_nights_one_publishes_one_changes_nothing_one_is_refused(folder: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    printed = night(folder, root)
    first = latest(root)
    assert first["state"] == "published" and first["evaluations"]["B1_MARA"]["hit"] == 100.0
    assert {gate["name"]: gate["passed"] for gate in first["gates"]}["canary"]
    for words in ("shards to make", "published memory", "known questions", "B1_MARA (12)", "no earlier night"):
        assert words in printed, words

    printed = night(folder, root, "--json")
    second = latest(root)
    assert json.dumps(second, ensure_ascii=False, indent=2) in printed
    assert (second["state"], second["made_shards"]) == ("unchanged", 0)
    assert second["evaluations"]["B1_MARA"]["kept"] is True
    assert second["comparison"]["night"] == first["night"]
    changes = second["comparison"]["evaluations"]["B1_MARA"]["changes"]
    assert {change["verdict"] for change in changes} == {"same"}

    gone = next((folder / "corpus").rglob("*_11000000.srt"))
    kept_bytes = gone.read_bytes()
    gone.unlink()
    try:
        refused = night(folder, root, expect=1)
    finally:
        gone.write_bytes(kept_bytes)
    third = latest(root)
    assert (third["state"], third["evaluations"]) == ("refused", {})
    assert "nothing was published: coverage" in refused
    assert "B1_MARA: DAY1/11" in refused
    assert f"daybook publish {third['memory_id']}" in refused
    pointer = json.loads((root / "current.json").read_text(encoding="utf-8"))
    assert pointer["memory_id"] == first["memory_id"]
    manifest = json.loads((root / "memories" / third["memory_id"] / "manifest.json").read_text(encoding="utf-8"))
    assert [gate["name"] for gate in manifest["build"]["gates"] if not gate["passed"]] == ["coverage"]

    assert "is now the current one" in daybook("publish", third["memory_id"], "--root", root)


def test_a_night_that_is_out_of_time_says_so_and_publishes_nothing(folder: Path, tmp_path: Path) -> None:
    printed = night(folder, tmp_path / "root", "--deadline", 2, expect=1)
    assert "the deadline of" in printed and "run the same command again" in printed
    assert not (tmp_path / "root" / "current.json").exists()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--questions", "B1_MARA.json"), "WEARER=FILE"),
        (("--questions", "B2_TOBI=/no/such/file.json"), "/no/such/file.json"),
        (("--questions", "Z9_NOBODY={q}"), "questions for Z9_NOBODY, but recordings only of B1_MARA, B2_TOBI"),
        (("--questions", "B1_MARA={q}"), "B1_MARA has a question file already"),
        (("--config", "{missing}"), "cannot be read"),
        (("--wearer", "Z9_NOBODY"), "Z9_NOBODY"),
        (("--method", "magic"), "egocite"),
    ],
)
def test_mistakes_are_told_before_any_work(folder: Path, tmp_path: Path, more: tuple[str, ...], says: str) -> None:
    places = {"q": str(folder / "B1_MARA.json"), "missing": str(tmp_path / "missing.yaml")}
    arguments = night_arguments(folder, tmp_path / "root", *(argument.format(**places) for argument in more))
    assert says in daybook_here(*arguments, expect=2)
    assert not (tmp_path / "root" / "cache").exists()

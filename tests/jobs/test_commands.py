"""The commands as a user runs them: real Ray, real encoder, one day of the sample week."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jobs.cli import app
from sample_week import write_sample_week

pytestmark = pytest.mark.slow

STARTS = 4
"""Times that a command is begun anew where the machine was too busy for Ray to start."""


@dataclass
class Place:
    """A corpus with its questions, and the root that a build published to."""

    folder: Path
    root: Path
    first_build: str


def daybook(*arguments: object, expect: int = 0, cwd: Path | None = None) -> str:
    """Runs a command and gives what it printed, both streams; fails where it ends otherwise than expected."""
    command = [sys.executable, "-m", "jobs.cli", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": "160", "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    for _ in range(STARTS):
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=cwd, timeout=300, check=False
        )
        printed = done.stdout + done.stderr
        if "Ray did not start" not in printed:
            break
    assert done.returncode == expect, f"exit code {done.returncode} instead of {expect}:\n{printed}"
    assert "Traceback" not in printed, printed
    return printed


def daybook_here(*arguments: object, expect: int = 0) -> str:
    """The same within this process, for commands that end before they do any work."""
    result = CliRunner().invoke(app, [*map(str, arguments)])
    ended_by_itself = result.exception is None or isinstance(result.exception, SystemExit)
    assert ended_by_itself and result.exit_code == expect, f"{result.exception!r}\n{result.output}"
    return result.output


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("sample")
    write_sample_week(folder)
    root = tmp_path_factory.mktemp("memories")
    printed = daybook("build", "--corpus", folder, "--root", root, "--wearer", "B1_MARA", "--day", "1", "--day", "DAY2")
    return Place(folder, root, printed)


def test_a_build_says_what_it_made_and_what_it_left_out(place: Place) -> None:
    assert "published memory" in place.first_build
    assert "superseded_by_transcript" in place.first_build
    assert "atoms:" in place.first_build
    assert not [name for name in ("action", "utterance", "activity", "conversation") if name not in place.first_build]


def test_a_second_build_does_no_work_and_says_so(place: Place) -> None:
    printed = daybook(
        "build", "--corpus", place.folder, "--root", place.root, "--wearer", "B1_MARA", "--day", 1, "--day", 2
    )
    assert "nothing to do" in printed


def asking(place: Place, text: str) -> tuple[str | Path, ...]:
    """The command that asks Mara's memory on the second morning."""
    return ("ask", "--root", place.root, "--wearer", "B1_MARA", "--at", "DAY2 09300000", text)


def test_ask_answers_with_evidence_and_its_times(place: Place) -> None:
    asked = asking(place, "Where are my reading glasses?")
    choices = ("--choice", "In my coat pocket", "--choice", "On the roof")
    assert "DAY1" in daybook(*asked)
    answer = json.loads(daybook(*asked, *choices, "--json"))
    assert answer["choice"] in {"A", "B"}
    assert sum(answer["probabilities"].values()) == pytest.approx(1)
    asked_at = (24 + 9.5) * 3_600_000
    assert 0 < len(answer["evidence"]) <= 15
    assert all(item["end_ms"] <= asked_at for item in answer["evidence"])
    assert len(answer["best"]) == 3
    assert set(answer["best"]) <= {item["item_id"] for item in answer["evidence"]}
    assert 0 <= answer["found"] <= 1
    printed = daybook(*asked, *choices)
    assert f"{100 * answer['probabilities']['A']:.0f}%  A. In my coat pocket" in printed
    assert sum(line.startswith("  DAY") for line in printed.splitlines()) == 3


def test_ask_says_where_the_memory_holds_no_answer(place: Place) -> None:
    asked = asking(place, "Which zeppelin sank in Peru?")
    assert daybook(*asked).startswith("not found: ")
    assert "a guess: " in daybook(*asked, "--choice", "The red one", "--choice", "The blue one")
    answer = json.loads(daybook(*asked, "--json"))
    assert answer["not_found"] is True
    assert answer["found"] < 0.5


def test_ask_before_anything_was_recorded_finds_nothing(place: Place) -> None:
    printed = daybook("ask", "--root", place.root, "--wearer", "B1_MARA", "--at", "DAY1 00010000", "Where is the rope?")
    assert "nothing was recorded" in printed


def test_evaluate_writes_the_agreed_form(place: Place, tmp_path: Path) -> None:
    questions = place.folder / "questions" / "B1_MARA.json"
    out = tmp_path / "out.json"
    printed = daybook(
        "evaluate", "--root", place.root, "--benchmark", "egolifeqa", "--questions", questions,
        "--wearer", "B1_MARA", "--json", out,
    )  # fmt: skip
    assert "accuracy" in printed
    result = json.loads(out.read_text(encoding="utf-8"))
    agreed = {
        "n", "accuracy", "hit", "hit_first", "near_hit", "evidence_minutes", "unanswered", "by_category",
        "by_time_aware", "latency_ms", "tokens", "config", "answers",
    }  # fmt: skip
    assert agreed <= set(result)
    assert set(result["latency_ms"]) >= {"p50", "p95"}
    assert result["n"] == len(result["answers"]) == len(json.loads(questions.read_text(encoding="utf-8")))
    for answer in result["answers"]:
        assert set(answer) >= {"id", "predicted", "correct", "hit", "near_hit", "evidence"}
        assert all(len(item) == 4 for item in answer["evidence"])
    stored = list(place.root.glob("evaluations/*/answers.parquet"))
    assert len(stored) == 1


def test_caption_rag_runs_on_the_same_memory(place: Place) -> None:
    questions = place.folder / "questions" / "B1_MARA.json"
    arguments = ("--root", place.root, "--questions", questions, "--wearer", "B1_MARA", "--method", "caption-rag")
    assert "caption-rag" in daybook("evaluate", *arguments)


def test_inspect_and_status_show_the_memory(place: Place) -> None:
    printed = daybook("inspect", "--root", place.root)
    assert "B1_MARA" in printed and "DAY2" in printed and "conversation" in printed
    content = json.loads(daybook("inspect", "--root", place.root, "--json"))
    assert set(content["wearers"]["B1_MARA"]["days"]) == {"DAY1", "DAY2"}
    state = json.loads(daybook("status", "--root", place.root, "--json"))
    assert state["run"]["state"] == "finished"
    assert state["memory"]["memory_id"] == content["memory_id"]


def test_doctor_reports_on_recordings(place: Place) -> None:
    report = json.loads(daybook("doctor", "--corpus", place.folder, "--json"))
    assert report["files"]
    assert "ends before it starts" in daybook("doctor", "--corpus", place.folder)


def test_a_damaged_index_file_is_refused_and_built_again(place: Place, tmp_path: Path) -> None:
    root = tmp_path / "root"
    shutil.copytree(place.root, root)
    index = next(root.glob("cache/index/*/action.faiss"))
    index.write_bytes(index.read_bytes()[:-40])
    asked = ("ask", "--root", root, "--wearer", "B1_MARA", "--at", "DAY2 09300000", "Where are my glasses?")
    assert "build it again" in daybook(*asked, expect=1)
    daybook("build", "--corpus", place.folder, "--root", root, "--wearer", "B1_MARA", "--day", 1, "--day", 2)
    daybook(*asked)


def test_wearers_that_are_not_named_stay_in_the_memory(place: Place, tmp_path: Path) -> None:
    root = tmp_path / "root"
    shutil.copytree(place.root, root)
    daybook("build", "--corpus", place.folder, "--root", root, "--wearer", "B2_TOBI", "--day", 1)
    assert set(json.loads(daybook("inspect", "--root", root, "--json"))["wearers"]) == {"B1_MARA", "B2_TOBI"}


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("build", "--corpus", "{missing}", "--root", "{root}"), 2, "no such folder"),
        (("build", "--corpus", "{folder}/questions", "--root", "{root}"), 2, "EgoLifeCap"),
        (("build", "--corpus", "{folder}", "--root", "{root}", "--wearer", "Z9_NOBODY"), 2, "B1_MARA"),
        (("build", "--corpus", "{folder}", "--root", "{root}", "--day", "9"), 2, "DAY3"),
        (("build", "--corpus", "{folder}", "--root", "{root}", "--engine", "magic"), 2, "engine"),
        (("build", "--corpus", "{folder}", "--root", "{root}", "--config", "{missing}"), 2, "cannot be read"),
        (("ask", "--root", "{missing}", "--wearer", "B1_MARA", "--at", "DAY1 12000000", "x"), 2, "daybook build"),
        (("ask", "--root", "{root}", "--wearer", "B1_MARA", "--at", "noon", "x"), 2, "DAY1 11094208"),
        (("ask", "--root", "{root}", "--wearer", "Z9_NOBODY", "--at", "DAY1 12000000", "x"), 2, "B1_MARA"),
        (("ask", "--root", "{root}", "--wearer", "B1_MARA", "--at", "DAY1 12000000", " "), 2, "empty"),
        (("ask", "--root", "{root}", "--wearer", "B1_MARA", "--at", "DAY1 12000000", "who \udcff"), 2, "UTF-8"),
        (
            ("ask", "--root", "{root}", "--wearer", "B1_MARA", "--at", "DAY1 12000000", "x", "--method", "y"),
            2,
            "egocite",
        ),
        (("evaluate", "--root", "{root}", "--questions", "{missing}", "--wearer", "B1_MARA"), 2, "missing"),
        (
            ("evaluate", "--root", "{root}", "--questions", "{q}", "--wearer", "B1_MARA", "--benchmark", "b"),
            2,
            "egolifeqa",
        ),
        (("evaluate", "--root", "{root}", "--questions", "{q}", "--wearer", "B1_MARA", "--json", "/no/x"), 2, "/no"),
        (("inspect", "--root", "{root}", "--memory", "abc"), 2, "holds no memory abc"),
        (("doctor", "--corpus", "{missing}"), 2, "no such folder"),
        (("build", "--corpus", "{folder}", "--root", "{root}", "--shard", "B1_MARA/DAY9/10"), 2, "B1_MARA/DAY3"),
        (("plan", "--corpus", "{folder}", "--root", "{root}", "--shard", "B1_MARA/x"), 2, "not a shard"),
        (("status", "--root", "{root}", "--run", "nobody"), 2, "knows no run"),
        (("gc", "--root", "{root}", "--keep", "0"), 2, "--keep 0"),
        (("gc", "--root", "{missing}"), 2, "no published memory"),
        (("retry-failed", "--root", "{missing}"), 2, "has seen no build"),
    ],
)
def test_mistakes_are_named(place: Place, tmp_path: Path, arguments: tuple[str, ...], code: int, says: str) -> None:
    places = {
        "missing": str(tmp_path / "missing"),
        "root": str(place.root),
        "folder": str(place.folder),
        "q": str(place.folder / "questions" / "B1_MARA.json"),
    }
    printed = daybook_here(*(argument.format(**places) for argument in arguments), expect=code)
    assert says in printed


def test_a_mistake_ends_the_process_with_its_code_and_no_traceback(tmp_path: Path) -> None:
    printed = daybook("build", "--corpus", tmp_path / "missing", "--root", tmp_path / "root", expect=2)
    assert "no such folder" in printed


@pytest.mark.parametrize(
    "command",
    [
        *("", "demo", "plan", "build", "retry-failed", "evaluate", "ask", "inspect", "status", "publish", "rollback"),
        *("gc", "doctor", "nightly", "compare", "trace"),
    ],
)
def test_help_has_an_example(command: str) -> None:
    printed = daybook_here(*([command] if command else []), "--help")
    assert not command or f"daybook {command}" in printed


def test_the_program_helps(tmp_path: Path) -> None:
    assert "nightly" in daybook("--help", cwd=tmp_path)

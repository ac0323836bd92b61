"""The command `evaluate`: its forms, several evaluations in one run, and going on after a SIGKILL."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from jobs import answering, asking_progress
from jobs.cli import app
from jobs.question_options import answering_model, question_files, read_settings
from ray_tasks.errors import UsageError
from ray_tasks.storage.manifests import publish
from tests.jobs.memories import THINGS, WEARERS, build_memory, write_corpus, write_questions
from tests.jobs.slow_evaluate import SlowEncoder

COPIES = 20
"""Of each question, in the long files; 240 questions in all."""


@dataclass
class Place:
    """A published memory, a question file, and one that is longer."""

    root: Path
    questions: Path
    long: Path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A memory of two wearers."""
    store, _, manifest = build_memory(write_corpus(tmp_path / "corpus"), tmp_path / "root")
    publish(store, manifest, None)
    questions = write_questions(tmp_path / "questions.json")
    entries = json.loads(questions.read_text(encoding="utf-8"))
    longer = [
        {**entry, "ID": f"{copy}-{entry['ID']}", "question": f"{entry['question']} ({copy})"}
        for copy in range(COPIES)
        for entry in entries
    ]
    (tmp_path / "long.json").write_text(json.dumps(longer), encoding="utf-8")
    return Place(store.root, questions, tmp_path / "long.json")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of this process embed with the encoder of the tests."""
    monkeypatch.setattr(answering, "load_encoder", SlowEncoder)


def evaluate(*arguments: object, expect: int = 0) -> str:
    """Runs the command in this process."""
    result = CliRunner().invoke(app, ["evaluate", *map(str, arguments)])
    assert result.exit_code == expect, f"{result.exception!r}\n{result.output}"
    return result.output


def timeless(result: dict[str, Any]) -> dict[str, Any]:
    """A result without what may differ from run to run."""
    left_out = ("seconds", "latency_ms", "kept", "answers", "failed_batches", "batch_size")
    answers = [{name: value for name, value in answer.items() if name != "seconds"} for answer in result["answers"]]
    return {"answers": answers, **{name: value for name, value in result.items() if name not in left_out}}


@pytest.mark.usefixtures("quick")
def test_several_wearers_and_methods_in_one_run_are_a_list(place: Place, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    both = [argument for wearer in WEARERS for argument in ("--questions", f"{wearer}={place.questions}")]
    evaluate("--root", place.root, *both, "--method", "egocite", "--method", "caption-rag", "--json", out)
    results = json.loads(out.read_text(encoding="utf-8"))
    made = [(result["wearer"], result["method"], result["n"]) for result in results]
    assert made == [(wearer, method, len(THINGS)) for wearer in WEARERS for method in ("egocite", "caption-rag")]
    # The first of them alone, in the form that has always been there, is the same document.
    again = evaluate("--root", place.root, "--questions", place.questions, "--wearer", WEARERS[0], "--json", out)
    assert "12 of 12 answers are kept" in again
    assert json.loads(out.read_text(encoding="utf-8")) == results[0]


@pytest.mark.usefixtures("quick")
def test_progress_counts_the_questions_of_all_evaluations(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking_progress, "LOG_EVERY_SECONDS", 0.0)
    first = ("--root", place.root, "--questions", f"{WEARERS[0]}={place.questions}")
    evaluate(*first)
    told = evaluate(
        *first, "--questions", f"{WEARERS[1]}={place.long}", "--method", "egocite", "--method", "caption-rag"
    )
    assert "12 of 504 answers are kept" in " ".join(told.split())
    counted = [int(count) for count in re.findall(r"(\d+)/504 questions", told)]
    # Batches of 32: one of twelve by the second method, then twice seven full ones and the rest.
    one_file = [*range(32, 240, 32), 240]
    assert counted == [24, *(24 + more for more in one_file), *(264 + more for more in one_file)]


@pytest.mark.usefixtures("quick")
def test_asking_again_asks_and_gives_the_same(place: Place, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    form = ("--root", place.root, "--questions", place.questions, "--wearer", WEARERS[0], "--json", out)
    evaluate(*form)
    first = json.loads(out.read_text(encoding="utf-8"))
    printed = evaluate(*form, "--again")
    assert "kept" not in printed
    assert timeless(json.loads(out.read_text(encoding="utf-8"))) == timeless(first)


@pytest.mark.usefixtures("quick")
def test_a_setting_is_part_of_the_id_and_of_the_result(place: Place, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    form = ("--root", place.root, "--questions", place.questions, "--wearer", WEARERS[0], "--json", out)
    evaluate(*form)
    evaluate(*form, "--set", "rounds=1", "--set", "decay=0.9")
    result = json.loads(out.read_text(encoding="utf-8"))
    assert (result["config"]["settings"]["rounds"], result["config"]["settings"]["decay"]) == (1, 0.9)
    assert len(list(place.root.glob("evaluations/*/result.json"))) == 2


@pytest.mark.usefixtures("quick")
def test_several_values_of_settings_are_all_evaluated_and_compared(place: Place, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    form = ("--root", place.root, "--questions", place.questions, "--wearer", WEARERS[0], "--json", out)
    sweep = ("rounds=1", "rounds=3", "decay=0.9", "decay=0.99", "decay=0.9", "views=action,utterance")
    printed = evaluate(*form, *(argument for text in sweep for argument in ("--set", text)))
    results = json.loads(out.read_text(encoding="utf-8"))
    made = [(result["config"]["settings"]["rounds"], result["config"]["settings"]["decay"]) for result in results]
    assert made == [(1, 0.9), (1, 0.99), (3, 0.9), (3, 0.99)]
    assert all(result["config"]["settings"]["views"] == ["action", "utterance"] for result in results)
    assert "egocite decay=0.9 rounds=1 views=action,utterance: answers are in" in " ".join(printed.split())
    compared = CliRunner().invoke(app, ["compare", "--root", str(place.root), "--json"])
    methods = json.loads(compared.stdout)["benchmarks"]["egolifeqa"]["methods"]
    assert len({method["label"] for method in methods}) == 4
    assert all("rounds=" in method["label"] and "decay=" in method["label"] for method in methods)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--set", "rouns=1"), "rounds"),
        (("--set", "rounds"), "rounds=2"),
        (("--set", "rounds=many"), "rounds"),
        (("--method", "guess"), "caption-rag"),
        (("--set", "draft=llm"), "--llm-url"),
        (("--wearer", "C3_NOBODY"), "C3_NOBODY"),
        (("--config", "absent.yaml"), "absent.yaml: cannot be read"),
        (("--json", "."), "it is a folder"),
        (("--json", "absent/out.json"), "there is no folder"),
        (("--json", "x" * 300), "File name too long"),
        (("--questions", "y" * 300), "File name too long"),
    ],
)
@pytest.mark.usefixtures("quick")
def test_what_is_at_fault_is_named(place: Place, arguments: tuple[str, ...], named: str) -> None:
    wearer = () if "--wearer" in arguments else ("--wearer", WEARERS[0])
    printed = evaluate("--root", place.root, "--questions", place.questions, *wearer, *arguments, expect=2)
    assert named in " ".join(printed.split())


@pytest.mark.usefixtures("quick")
def test_a_result_that_cannot_be_written_costs_no_answer(place: Place, tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no disk that is always full")
    form = ("--root", place.root, "--questions", place.questions, "--wearer", WEARERS[0], "--json")
    assert "every answer is kept" in " ".join(evaluate(*form, full, expect=1).split())
    assert "12 of 12 answers are kept" in evaluate(*form, tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["n"] == len(THINGS)


def test_files_go_to_their_wearers(tmp_path: Path) -> None:
    odd = tmp_path / "a=b.json"
    odd.write_text("[]", encoding="utf-8")
    assert question_files(["MARA=x.json", "TOBI=y.json", "MARA=x.json"], []) == [
        ("MARA", Path("x.json")),
        ("TOBI", Path("y.json")),
    ]
    assert question_files(["folder"], ["MARA", "TOBI"]) == [("MARA", Path("folder")), ("TOBI", Path("folder"))]
    assert question_files([str(odd)], ["MARA"]) == [("MARA", odd)]
    with pytest.raises(UsageError, match="whose are they"):
        question_files(["x.json"], [])


def test_settings_and_the_model_are_read(tmp_path: Path) -> None:
    assert read_settings(["rounds=2", "use_choices=no", "rounds=2"]).rounds == 2
    with pytest.raises(UsageError, match="several values"):
        read_settings(["rounds=2", "rounds=3"])
    config = tmp_path / "config.yaml"
    config.write_text("llm: {model: large, urls: ['http://large:1/v1']}\nagents: {model: small}\n", encoding="utf-8")
    asked = answering_model(config, ["http://small:1/v1"], None, asks=True)
    assert asked and asked.model == "small"
    with pytest.raises(UsageError, match="nothing says where small answers"):
        answering_model(config, None, None, asks=True)
    assert answering_model(config, None, None, asks=False) is None
    with pytest.raises(UsageError, match="cannot be read"):
        answering_model(tmp_path / "none.yaml", None, None, asks=False)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_an_evaluation_that_is_killed_again_and_again_loses_and_repeats_nothing(place: Place, tmp_path: Path) -> None:
    rounds = random.Random(20)
    out = tmp_path / "out.json"
    files = [argument for wearer in WEARERS for argument in ("--questions", f"{wearer}={place.long}")]
    command = [sys.executable, "-m", "tests.jobs.slow_evaluate", "--root", place.root, *files, "--json", out]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}

    def parts() -> int:
        return len(list(place.root.glob("evaluations/*/parts/*.parquet")))

    kills = 0
    while kills < 5:
        process = subprocess.Popen(
            [*map(str, command)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        goal = parts() + rounds.randint(1, 3)
        while process.poll() is None and parts() < goal:
            time.sleep(0.01)
        time.sleep(rounds.uniform(0, 0.1))
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
    assert kills
    done = subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results = json.loads(out.read_text(encoding="utf-8"))
    expected = [entry["ID"] for entry in json.loads(place.long.read_text(encoding="utf-8"))]
    assert [[answer["id"] for answer in result["answers"]] for result in results] == [expected] * 2
    assert results[0]["kept"] > 0 and not parts()
    # What was asked in several runs is what is asked in one.
    subprocess.run([*map(str, command), "--again"], env=environment, capture_output=True, check=True)
    fresh = json.loads(out.read_text(encoding="utf-8"))
    assert [timeless(result) for result in fresh] == [timeless(result) for result in results]

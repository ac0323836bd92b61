"""The command `tune`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from jobs import tune
from jobs.cli import app
from ray_tasks.retrieval.weights import FusionWeights, load_weights
from ray_tasks.storage.manifests import publish
from tests.jobs.memories import WEARERS, build_memory, write_corpus, write_questions
from tests.jobs.slow_evaluate import SlowEncoder


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A published memory of two wearers, asked with the encoder of the tests."""
    monkeypatch.setattr(tune, "load_encoder", SlowEncoder)
    store, _, manifest = build_memory(write_corpus(tmp_path / "corpus"), tmp_path / "root")
    publish(store, manifest, None)
    return str(store.root)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return write_questions(tmp_path / "questions.json")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["tune", *arguments])


def test_weights_are_learned_from_several_wearers_written_and_used(root: str, questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.json"
    asked = [part for wearer in WEARERS for part in ("--questions", f"{wearer}={questions}")]
    result = run("--root", root, *asked, "--repeats", "1", "--folds", "2", "--out", str(out), "--ablate", "--json")
    assert result.exit_code == 0, result.output
    told: dict[str, Any] = json.loads(result.stdout)
    weights = load_weights(str(out))
    assert FusionWeights.from_json(json.dumps(told["weights"])) == weights
    assert weights.training["questions"] == 24
    assert weights.training["wearers"] == 2
    assert {"untrained", tune.LEARNED} == set(told["judged"])
    assert len(told["judged"][tune.LEARNED]["hit"]) == 3
    assert len(told["judged"][tune.LEARNED]["folds"]) == 2
    assert "signal dense" in told["without"]
    written = out.read_text(encoding="utf-8")
    assert not any(wearer in written for wearer in WEARERS)


def test_the_report_for_people_names_rates_and_weights(root: str, questions: Path) -> None:
    asked = [part for wearer in WEARERS for part in ("--questions", f"{wearer}={questions}")]
    result = run("--root", root, *asked, "--repeats", "1", "--folds", "2")
    assert result.exit_code == 0, result.output
    assert "untrained" in result.stdout
    assert "with_choice" in result.stdout


def test_what_cannot_be_learned_from_or_written_is_an_error_that_says_so(
    root: str, questions: Path, tmp_path: Path
) -> None:
    few = run("--root", root, "--questions", str(questions), "--wearer", WEARERS[0])
    assert few.exit_code == 2
    assert "only 12 questions" in few.output
    nowhere = run("--root", root, "--questions", f"{WEARERS[0]}={questions}", "--out", str(tmp_path / "no" / "w.json"))
    assert nowhere.exit_code == 2
    assert "no folder" in nowhere.output
    missing = run("--root", root, "--questions", f"{WEARERS[0]}={tmp_path / 'none.json'}")
    assert missing.exit_code == 2
    assert "none.json" in missing.output
    table = run("--root", root, "--questions", f"{WEARERS[0]}={questions}", "--against", "magic.json")
    assert table.exit_code == 2
    assert "magic.json" in table.output

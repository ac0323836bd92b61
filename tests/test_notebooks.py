"""The notebooks run from top to bottom, over a small memory, and hold no output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ray_tasks.storage.manifests import publish
from tests.jobs.memories import build_memory, write_corpus

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def cells_of(path: Path) -> list[dict[str, Any]]:
    """The code cells."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return [cell for cell in document["cells"] if cell["cell_type"] == "code"]


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_output(path: Path) -> None:
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells_of(path))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store, _, manifest = build_memory(write_corpus(tmp_path / "corpus"), tmp_path / "root")
    publish(store, manifest, None)
    evaluation = {"n": 2, "accuracy": 50.0, "hit": 100.0, "near_hit": 100.0}
    store.write("evaluations/egolifeqa-one/result.json", json.dumps(evaluation).encode())
    monkeypatch.setenv("DAYBOOK_ROOT", str(tmp_path / "root"))
    names: dict[str, Any] = {}
    for cell in cells_of(path):
        exec("".join(cell["source"]), names)
    printed = capsys.readouterr().out
    assert manifest.memory_id in printed
    assert "DAY1:" in printed
    assert "egolifeqa-one: n 2, accuracy 50.0" in printed

"""The agents with a real engine on the CPU: the way through all three steps; the quality of its words is no matter."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from jobs import answering
from jobs.cli import app
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.storage.manifests import publish
from sample_week import write_sample_week
from tests.engines.live import served
from tests.jobs.memories import build_memory
from tests.jobs.quick_encoder import QuickEncoder

__all__ = ["served"]

WEARER, QUESTIONS = "B1_MARA", 5
SMALL = {
    "draft": "llm",
    "curate": "llm",
    "respond": "llm",
    "draft_rounds": 2,
    "k_fine": 8,
    "k_activity": 4,
    "k_conversation": 4,
    "evidence": 3,
    "pool_per_round": 15,
    "context_tokens": 1500,
}
"""Few words to read, of which two cores take in some hundreds in a second: a minute or two for all questions."""


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_five_questions_of_the_sample_week_go_all_the_way(
    served: ChatSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From `evaluate` to stored answers. The engine has no parser for tools, so it writes a JSON action instead."""
    monkeypatch.setattr(answering, "load_encoder", QuickEncoder)
    week = write_sample_week(tmp_path / "week")
    store, _, manifest = build_memory(week.corpus, tmp_path / "root")
    publish(store, manifest, None)
    questions, config, out = (tmp_path / name for name in ("five.json", "config.yaml", "out.json"))
    entries = json.loads(week.questions[WEARER].read_text(encoding="utf-8"))
    questions.write_text(json.dumps(entries[:QUESTIONS]), encoding="utf-8")
    model = served.model_copy(update={"max_tokens": 128, "reply_attempts": 1, "serve": None, "transcripts": True})
    config.write_text(json.dumps({"llm": model.model_dump(mode="json")}), encoding="utf-8")
    command = ["evaluate", "--root", store.root, "--questions", questions, "--wearer", WEARER, "--config", config]
    changes = [argument for name, value in SMALL.items() for argument in ("--set", f"{name}={value}")]
    done = CliRunner().invoke(app, [*map(str, command), *changes, "--json", str(out)])
    assert done.exit_code == 0, f"{done.exception!r}\n{done.output}"
    result: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    assert sum(result["statuses"].values()) == QUESTIONS
    assert result["statuses"].get("answered", 0) > 0 and "error" not in result["statuses"]
    for answer in result["answers"]:
        assert 0 < len(answer["evidence"]) <= 3
        assert answer["tokens_in"] > 0 and "tools_not_taken" in answer["notes"]
    talks = [json.loads(path.read_bytes()) for path in tmp_path.glob("root/evaluations/transcripts/**/*.json")]
    usable = Counter(talk["purpose"] for talk in talks if talk["failure"] is None)
    assert all(usable[purpose] > 0 for purpose in ("draft", "curate", "respond"))

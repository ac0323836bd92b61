"""The steps of a night that need no build."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from jobs.evaluating import Asked
from jobs.night import Night
from jobs.request import BuildRequest
from ray_tasks.storage.manifests import Manifest
from ray_tasks.storage.store import LocalStore
from tests.jobs.memories import write_corpus, write_questions


def test_a_deadline_while_evaluating_leaves_what_was_asked_and_says_what_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_corpus(tmp_path / "corpus")
    write_questions(tmp_path / "questions.json")
    asked = Asked.read(tmp_path / "questions.json", "B1_MARA")
    known = {"B1_MARA": asked, "B2_TOBI": asked}
    monkeypatch.setattr(Night, "_check_wearers", lambda _: None)
    night = Night(LocalStore(tmp_path / "root"), BuildRequest(tmp_path / "corpus"), known, "egocite", 3.0)

    def ask(_night: Night, _manifest: Manifest, _asked: Asked, wearer: str) -> dict[str, Any]:
        if wearer == "B2_TOBI":
            time.sleep(60)
        return {"hit": 100.0}

    monkeypatch.setattr(Night, "_ask", ask)
    entries = night.evaluate(Manifest({}, "encoder", "model"))
    assert entries["B1_MARA"] == {"hit": 100.0}
    assert "the deadline has passed" in entries["B2_TOBI"]["fault"]

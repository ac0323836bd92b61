"""`daybook inspect --method imprint`: what recurs, wearers without any record, and memories built without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jobs.cli import app
from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import discover
from ray_tasks.scheduling.assembly import assemble_manifest
from ray_tasks.scheduling.build import Build
from ray_tasks.storage.manifests import publish
from ray_tasks.storage.store import LocalStore
from tests.scheduling.corpus import write_hour
from tests.scheduling.inline import InlineExecutor, SilentReporter


def published(folder: Path, config: BuildConfig) -> Path:
    """The root of a memory of two wearers, one of whom only says Hm."""
    write_hour(folder / "corpus", "B1_MARA", 1, 9, [("01:00", "01:05", "Hm.")])
    write_hour(folder / "corpus", "B2_TOBI", 1, 9, [("01:00", "01:05", "Mara: I carry the box to the shed.")])
    store = LocalStore(folder / "root")
    outcome = Build(store, config, InlineExecutor(), SilentReporter(), 1, "run-1").run(discover(folder / "corpus"))
    manifest, _ = assemble_manifest(outcome, config, None, "corpus")
    publish(store, manifest, None)
    return store.root


def inspect(*arguments: object, expect: int = 0) -> str:
    done = CliRunner().invoke(app, ["inspect", "--method", "imprint", *map(str, arguments)], env={"COLUMNS": "240"})
    assert done.exit_code == expect, f"{done.exception!r}\n{done.output}"
    return done.output


def test_a_wearer_without_a_record_hides_no_other(tmp_path: Path) -> None:
    root = published(tmp_path, BuildConfig(records="rules"))
    text = inspect("--root", root)
    assert "nothing in the recordings makes an interaction record" in text
    assert "B2_TOBI: 1 records, 1 kept in 1 entries" in text
    content = json.loads(inspect("--root", root, "--json"))["wearers"]
    assert (content["B1_MARA"]["records"], content["B2_TOBI"]["records"]) == (0, 1)


@pytest.mark.parametrize("wearer", ["B1_MARA", "B2_TOBI"])
def test_a_memory_built_without_records_says_how_to_make_them(tmp_path: Path, wearer: str) -> None:
    root = published(tmp_path, BuildConfig())
    assert "records: rules" in inspect("--root", root, "--wearer", wearer, expect=2)

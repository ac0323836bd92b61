"""The same recordings give the same bytes in another process, whose sets and dictionaries are hashed otherwise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from sample_week import write_sample_week

SCRIPT = """
import json, sys
from pathlib import Path
from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import discover
from ray_tasks.scheduling.build import Build
from ray_tasks.storage.store import LocalStore
from tests.scheduling.inline import InlineExecutor, SilentReporter

corpus, root = map(Path, sys.argv[1:])
build = Build(LocalStore(root), BuildConfig(), InlineExecutor(), SilentReporter(), 1, "run-1")
outcome = build.run(discover(corpus, ["B1_MARA"]))
print(json.dumps({f"{s} {shard}": r.digest for s, rs in outcome.records.items() for shard, r in rs.items()}))
"""


def _digests(corpus: Path, root: Path, seed: str) -> dict[str, str]:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    command = [sys.executable, "-c", SCRIPT, str(corpus), str(root)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, timeout=300)
    digests: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return digests


def test_builds_do_not_depend_on_the_order_of_hashes(tmp_path: Path) -> None:
    write_sample_week(tmp_path / "week")
    first = _digests(tmp_path / "week", tmp_path / "first", "1")
    second = _digests(tmp_path / "week", tmp_path / "second", "2")
    assert len(first) > 50
    assert {shard for shard in first if first[shard] != second.get(shard)} == set()

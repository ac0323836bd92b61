"""Counters of a build, read where Prometheus reads them: at the metrics port of a Ray node."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

pytestmark = pytest.mark.slow

BUILD = """
import sys, time, ray
from ray_tasks.ledger import Ledger
from ray_tasks.scheduling.metrics import MeteredReporter
from ray_tasks.scheduling.tasks import ShardFailure, ShardResult
from ray_tasks.storage.shards import DoneRecord, Shard
from tests.scheduling.inline import SilentReporter

ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, _metrics_export_port=int(sys.argv[1]))
reporter = MeteredReporter(SilentReporter())
shard = Shard("B1_MARA", 1, 9)
ledger = Ledger(taken=10, done=7)
ledger.filtered["empty"] = 3
record = DoneRecord("extract", str(shard), "k", 7, 1.5, ledger, {"data.parquet": ("0", 400)}, {}, 60)
reporter.wave_started("extract", 5, 2)
reporter.shard_finished(ShardResult("extract", shard, "k", "done", record))
reporter.shard_finished(ShardResult("extract", shard, "l", "failed", failure=ShardFailure("ValueError", "no", "")))
print("counted", flush=True)
sys.stdin.read()
"""

EXPECTED = {
    ("ray_daybook_shards_total", "outcome", "cached"): 2,
    ("ray_daybook_shards_total", "outcome", "done"): 1,
    ("ray_daybook_shards_total", "outcome", "failed"): 1,
    ("ray_daybook_rows_total", "stage", "extract"): 7,
    ("ray_daybook_lost_rows_total", "reason", "empty"): 3,
    ("ray_daybook_bytes_total", "stage", "extract"): 400,
    ("ray_daybook_tokens_total", "stage", "extract"): 60,
    ("ray_daybook_shard_seconds_total", "stage", "extract"): 1.5,
    ("ray_daybook_shards_to_do", "wave", "extract"): 1,
}


def test_what_a_build_counts_is_exported_to_prometheus() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", BUILD, str(port)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as build:
        assert build.stdout is not None
        assert build.stdout.readline() == "counted\n"
        until = time.monotonic() + 240
        while (found := _exported(port)) != EXPECTED and time.monotonic() < until:
            time.sleep(1)
        build.communicate("")
    assert found == EXPECTED


def _exported(port: int) -> dict[tuple[str, str, str], float]:
    """The counters of EXPECTED that the node exports so far."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            text = answer.read().decode()
    except (urllib.error.URLError, OSError):
        return {}
    found = {}
    for name, tag, value in EXPECTED:
        line = re.search(rf'^{name}{{[^}}]*\b{tag}="{value}"[^}}]*}} (\S+)$', text, re.MULTILINE)
        if line:
            found[name, tag, value] = float(line[1])
    return found

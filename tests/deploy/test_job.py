"""`ray job submit` as README.md has it: followed, stopped in the middle, refused under its old id, and resumed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ray_tasks.storage.run_records import RunRecord, read_run
from ray_tasks.storage.store import LocalStore
from tests.deploy.documents import ROOT
from tests.jobs.memories import write_corpus

pytestmark = pytest.mark.slow

WAIT_S = 200.0


class Jobs:
    """A Ray of this machine and its job commands."""

    def __init__(self, folder: Path) -> None:
        # A short path: Ray makes sockets below it, whose names may not be long.
        self.temp = Path("/tmp") / f"daybook-{uuid.uuid4().hex[:8]}"
        token = folder / "token"
        token.write_text(uuid.uuid4().hex, encoding="utf-8")
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("RAY_")},
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(token),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        self.port = free_port()
        command = ["ray", "start", "--head", "--block", "--disable-usage-stats", "--num-cpus=2"]
        ports = {"port": free_port(), "dashboard-port": self.port, "dashboard-agent-listen-port": free_port()}
        ports["ray-client-server-port"] = free_port()
        command += [f"--{name}={value}" for name, value in ports.items()]
        command += [f"--temp-dir={self.temp}", "--object-store-memory=200000000"]
        self._ray = subprocess.Popen(
            command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )

    def run(self, *arguments: str, expect: int = 0) -> str:
        """`ray job` with these arguments; gives what it printed."""
        name, *rest = arguments
        command = ["ray", "job", name, "--address", f"http://127.0.0.1:{self.port}", *rest]
        done = subprocess.run(
            command, env=self.environment, cwd=ROOT, capture_output=True, text=True, timeout=WAIT_S, check=False
        )
        assert done.returncode == expect, done.stdout + done.stderr
        return done.stdout + done.stderr

    def wait(self) -> None:
        """Until the job server answers."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline and self._ray.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.5)
        pytest.fail("ray start --head did not come up")

    def close(self) -> None:
        """Ends this Ray, and no other."""
        self._ray.send_signal(signal.SIGTERM)
        try:
            self._ray.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self._ray.pid, signal.SIGKILL)
            self._ray.wait(30)
        shutil.rmtree(self.temp, ignore_errors=True)


def free_port() -> int:
    """A port that nobody uses just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Jobs]:
    ray = Jobs(tmp_path)
    try:
        ray.wait()
        yield ray
    finally:
        ray.close()


def submission(night: str, corpus: Path, root: Path) -> tuple[list[str], list[str]]:
    """The arguments of README.md's `ray job submit`: the options, and the entrypoint."""
    options = ["--submission-id", night, "--runtime-env", "deploy/runtime_env.yaml"]
    options += ["--metadata-json", json.dumps({"run": night, "commit": "f00dface"})]
    entrypoint = ["--", "python", "-m", "jobs.nightly", "--corpus", str(corpus), "--root", str(root)]
    return ["submit", *options], entrypoint


def wait_for_wave(store: LocalStore) -> RunRecord:
    """Until the build works on shards."""
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        run = read_run(store)
        if run and run.waves:
            return run
        time.sleep(0.2)
    pytest.fail("the build did not begin")


def test_a_job_is_followed_stopped_refused_and_resumed(jobs: Jobs, tmp_path: Path) -> None:
    corpus, root = write_corpus(tmp_path / "corpus"), tmp_path / "root"
    store = LocalStore(root)
    head, entrypoint = submission("night-1", corpus, root)
    jobs.run(*head, "--no-wait", *entrypoint)
    begun = wait_for_wave(store)
    assert (begun.state, begun.holder.submission_id, begun.holder.commit) == ("running", "night-1", "f00dface")

    jobs.run("stop", "night-1")
    stopped = read_run(store)
    assert stopped is not None and stopped.state == "interrupted" and "SIGTERM" in str(stopped.error)
    assert not (root / "current.json").exists()
    assert "run the same command again" in jobs.run("logs", "night-1")
    assert "already exists" in jobs.run(*head, "--no-wait", *entrypoint, expect=1)

    head, entrypoint = submission("night-1-2", corpus, root)
    printed = jobs.run(*head, *entrypoint)
    assert "published memory" in printed and "succeeded" in printed
    latest = json.loads(store.read("nights/latest.json"))["night"]
    summary: dict[str, Any] = json.loads(store.read(f"nights/{latest}/summary.json"))
    assert summary["state"] == "published"
    assert (summary["job"]["submission_id"], summary["job"]["commit"]) == ("night-1-2", "f00dface")
    ended = read_run(store)
    assert ended is not None and (ended.state, ended.command, ended.published) == ("finished", "nightly", True)

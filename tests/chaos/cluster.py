"""A Ray cluster of several nodes on this machine, each started by `ray start` in a session of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from tests.chaos.builds import REPOSITORY, STARTS, ray_folder
from tests.chaos.processes import kill, node_processes, wait_until

SLOWEST_START_S: Final = 300.0
"""A busy machine takes its time."""
OPEN_TO_ALL: Final = {"RAY_AUTH_MODE": "disabled"}
"""Ray's tokens lie in the user's home, where other clusters of this user may change them."""


@contextmanager
def ray_cluster(nodes: int, logs: Path) -> Iterator[tuple[dict[str, str], list[int]]]:
    """Variables by which a driver joins the cluster, and each node's process, the head first; two CPUs for each."""
    from ray.util import get_node_ip_address

    with ExitStack() as stack:
        folder, port = stack.enter_context(ray_folder()), _free_port()
        address = f"{get_node_ip_address()}:{port}"  # type: ignore[no-untyped-call]
        head = ["--head", f"--port={port}", f"--ray-client-server-port={_free_port()}", f"--temp-dir={folder}"]
        starts = [[*head, "--include-dashboard=false"], *([f"--address={address}"] for _ in range(1, nodes))]
        logs_of = [logs / f"node{number}.log" for number in range(nodes)]
        # One after the other: who joins needs the head.
        pids = [stack.enter_context(_node(start, log)) for start, log in zip(starts, logs_of, strict=True)]
        yield {"RAY_ADDRESS": address, **OPEN_TO_ALL}, pids


@contextmanager
def _node(arguments: list[str], log: Path) -> Iterator[int]:
    """A node, as soon as it is up; killed with all that it started at the end."""
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats", *arguments]
    command += ["--num-cpus=2", f"--object-store-memory={128 << 20}", "--min-worker-port=0", "--max-worker-port=0"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    environment |= OPEN_TO_ALL
    for _ in range(STARTS):
        with log.open("wb") as sink:
            node = subprocess.Popen(
                command, cwd=REPOSITORY, env=environment, stdout=sink, stderr=sink, start_new_session=True
            )
        try:
            wait_until(lambda: node.poll() is not None or _is_up(node.pid, log), SLOWEST_START_S, every=0.5)  # noqa: B023
            if _is_up(node.pid, log):
                yield node.pid
                return
        finally:
            kill(node_processes(node.pid))
            node.wait()
    raise AssertionError(f"did not start:\n{log.read_text(encoding='utf-8', errors='replace')}")


def _is_up(pid: int, log: Path) -> bool:
    """Whether a node says so, and has its agents, which are started last."""
    said = "Ray runtime started" in log.read_text(encoding="utf-8", errors="replace")
    return said and any("RuntimeEnvAgent" in each.command for each in node_processes(pid))


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port

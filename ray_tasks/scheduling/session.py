"""A Ray session: joining or starting a cluster, and what a build may use of it."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import ray
import ray.data
from ray.data import DataContext
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from ray_tasks.errors import DaybookError, UsageError
from ray_tasks.storage.preflight import probe_key
from ray_tasks.storage.store import ObjectStore, StoreError, open_store

OBJECT_STORE_BYTES: Final = 256 << 20
"""Shards pass through files, only descriptors through Ray, so a small object store is enough on one machine."""

MOST_WORKERS: Final = 64
"""How far a build asks a cluster to grow that shows no CPUs yet, where --cpus does not say."""

MOST_ENCODERS: Final = 16
"""How many encoders a build asks for on a cluster that shows no machine for one yet."""


UNSEEN_CPUS: Final = 4
"""What an encoder takes of a machine that has not started yet; the head's own CPUs say nothing about it."""

IDLE_WORKERS_LIVE_MS: Final = 15 * 60 * 1000
"""How long workers of a Ray that a build starts for itself wait for the next wave."""

CONNECT_S: Final = 10.0
"""How long a cluster that is to be joined may take to answer."""


class ClusterError(DaybookError):
    """Ray did not start or answer, or it ended in the middle of a build."""


@dataclass(frozen=True)
class Cluster:
    """What a build may use of a Ray cluster.

    cpus: how many CPUs at once. encoder_cpus, encoder_gpus: what one encoder takes. encoders: how many of them at most.
    joined: a cluster that others started, and that may grow with the work. limited: `cpus` was asked for, and is a
    bound.
    """

    cpus: int
    encoder_cpus: int
    encoder_gpus: float
    encoders: int
    joined: bool
    limited: bool = False


@contextmanager
def ray_session(cpus: int | None = None, encoder_gpus: float | None = None) -> Iterator[Cluster]:
    """A Ray cluster for the length of a block.

    Joins the cluster of RAY_ADDRESS, which `ray job submit` sets; otherwise starts one on this machine and stops it.
    `encoder_gpus` (None: one where the cluster has any) has to be said on a cluster whose GPU machines start on demand.
    """
    joined = os.environ.get("RAY_ADDRESS", "local") not in ("", "local")
    # Ray's C++ core warns on the terminal that Ray Data's own actor arguments live in the object store. The
    # driver holds them there and a user has nothing to mend, so only its log files keep such lines.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    # Ray ends workers that idle for a second, and the stages after embedding would start and import everything anew.
    os.environ.setdefault("RAY_idle_worker_killing_time_threshold_ms", str(IDLE_WORKERS_LIVE_MS))
    logging.getLogger("ray").setLevel(logging.ERROR)
    options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if not joined:
        options |= {
            "address": "local",  # else Ray joins a cluster that somebody has started on this machine
            "num_cpus": cpus or os.cpu_count(),
            "include_dashboard": False,
            "object_store_memory": OBJECT_STORE_BYTES,
        }
    _start(options)
    try:
        _quieten_ray_data()
        machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
        yield share_out(machines, joined=joined, cpus=cpus, encoder_gpus=encoder_gpus)
    finally:
        ray.shutdown()


def _start(options: Mapping[str, Any]) -> None:
    """Starts or joins Ray; raises ClusterError, saying what to look for, where it does not come up."""
    address = os.environ.get("RAY_ADDRESS", "local")
    remedy = "look for `ray` processes left over (ray stop --force), free memory, and space in /tmp"
    if options.get("address") != "local":
        remedy = f"is the cluster of RAY_ADDRESS={address} up? Unset it to start Ray on this machine"
        _check_address(address, remedy)
    try:
        with _silent_stderr():
            ray.init(**options)
    except Exception as error:  # Ray raises bare exceptions of many kinds here
        said = str(error).strip().splitlines()
        reason = f"{type(error).__name__}: {said[0] if said else 'no reason given'}"
        raise ClusterError(f"Ray did not start ({reason}); {remedy}") from error


def _check_address(address: str, remedy: str) -> None:
    """Raises ClusterError within seconds where nobody listens, for which Ray itself waits for many minutes."""
    if address.startswith("http"):
        raise ClusterError(
            f"RAY_ADDRESS={address} is a dashboard's, which `ray job submit` takes; a build joins a cluster at the "
            f"address that `ray start` prints, for example 10.0.0.1:6379"
        )
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return  # such as "auto", which Ray looks up for itself
    try:
        socket.create_connection((host, int(port)), CONNECT_S).close()
    except OSError as error:
        raise ClusterError(f"nobody answers at {host}:{port} ({error}); {remedy}") from error


def share_out(
    machines: Sequence[Mapping[str, float]], *, joined: bool, cpus: int | None, encoder_gpus: float | None
) -> Cluster:
    """What a build may use of these machines (Ray's resources of each), within --cpus.

    An encoder takes all CPUs of one machine, or a GPU and one CPU to feed it. A cluster that scales from nothing shows
    no machine before somebody asks for it.
    """
    present = int(sum(machine.get("CPU", 0) for machine in machines))
    all_cpus, limited = cpus or present or MOST_WORKERS, cpus is not None
    gpus = sum(machine.get("GPU", 0) for machine in machines)
    wanted = min(gpus, 1.0) if encoder_gpus is None else encoder_gpus
    if wanted:
        encoders = max(1, int(gpus / wanted)) if gpus else MOST_ENCODERS
        return Cluster(all_cpus, 1, wanted, encoders, joined, limited)
    largest = int(max((machine.get("CPU", 0) for machine in machines), default=0)) or UNSEEN_CPUS
    each = min(largest, all_cpus)
    return Cluster(all_cpus, each, 0.0, max(1, all_cpus // each), joined, limited)


@contextmanager
def _silent_stderr() -> Iterator[None]:
    """Standard error of native code goes nowhere; Python's exceptions come out afterwards as usual."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _quieten_ray_data() -> None:
    """Progress and results are reported by the command, once, so Ray Data's own bars and summaries are switched off."""
    context = DataContext.get_current()
    context.enable_progress_bars = False
    context.enable_operator_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)


def check_shared(store: ObjectStore) -> None:
    """Raises UsageError where a machine of the cluster does not see what the driver writes to the store.

    A folder is a root for several machines only if all of them mount it; else one wave would not find what the wave
    before has left on another machine.
    """
    key = probe_key()
    store.write(key, key.encode(), durable=False)
    try:
        machines = [
            node["NodeID"]
            for node in ray.nodes()  # type: ignore[no-untyped-call]
            if node["Alive"] and node["Resources"].get("CPU", 0)
        ]
        there = [_sees.options(scheduling_strategy=_at(machine)).remote(store.url, key) for machine in machines]
        blind = [host for host in ray.get(there) if host]
    finally:
        store.delete(key)
    if blind:
        raise UsageError(
            f"{', '.join(blind)} does not see the root {store.url}; on a cluster, use a folder that every machine "
            f"mounts, or s3://bucket/prefix"
        )


def _at(machine: str) -> NodeAffinitySchedulingStrategy:
    return NodeAffinitySchedulingStrategy(machine, soft=True)


@ray.remote(num_cpus=0)
def _sees(root: str, key: str) -> str:
    """The name of this machine if it does not see a probe, which holds its own key; nothing if it does."""
    try:
        return "" if open_store(root).read(key) == key.encode() else socket.gethostname()
    except StoreError:
        return socket.gethostname()

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from ray_tasks.errors import UsageError
from ray_tasks.ledger import Ledger
from ray_tasks.storage.cache import ShardCache
from ray_tasks.storage.manifests import Manifest, WearerEntry, publish, read_manifest, read_pointer, timestamp
from ray_tasks.storage.retention import RunningBuildError, collect_garbage, is_running
from ray_tasks.storage.store import LocalStore, MissingObjectError


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


def _publish(store: LocalStore, night: int) -> Manifest:
    """A memory whose index and one hour are its own, beside an hour that all nights share."""
    cache = ShardCache(store)
    for stage, key in (("index", f"i{night}"), ("caption", f"c{night}"), ("caption", "shared")):
        cache.commit(stage, "W", key, {"data": str(night).encode()}, rows=0, seconds=0, ledger=Ledger())
    shards = {"caption": {"W/DAY1/09": "shared", "W/DAY1/10": f"c{night}"}}
    entry = WearerEntry("W", "W", {"data": (f"cache/index/i{night}/data", "s")}, {}, {}, shards)
    manifest = Manifest({"W": entry}, "m", "m")
    publish(store, manifest, read_pointer(store))
    return manifest


def _run(**changes: Any) -> dict[str, Any]:
    state = {
        "state": "running",
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "started": "x",
        "updated": timestamp(),
    }
    return {**state, **changes}


def test_the_latest_memories_and_all_they_need_stay(store: LocalStore) -> None:
    nights = [_publish(store, night) for night in range(4)]
    collected = collect_garbage(store, 2, None)
    assert collected.kept_memories == (nights[3].memory_id, nights[2].memory_id)
    assert set(collected.removed_memories) == {nights[0].memory_id, nights[1].memory_id}
    assert collected.removed_shards == 4
    assert read_manifest(store, nights[2].memory_id) == nights[2]
    with pytest.raises(MissingObjectError):
        read_manifest(store, nights[0].memory_id)
    left = {key.rsplit("/", 1)[0] for key in store.list_keys("cache")}
    assert left == {f"cache/{name}" for name in ("caption/shared", "caption/c2", "caption/c3", "index/i2", "index/i3")}


def test_collecting_twice_finds_nothing_more(store: LocalStore) -> None:
    for night in range(3):
        _publish(store, night)
    collect_garbage(store, 1, None)
    again = collect_garbage(store, 2, None)
    assert (again.removed_memories, again.removed_shards) == ((), 0)


def test_what_an_interrupted_build_left_is_taken_away(store: LocalStore) -> None:
    _publish(store, 0)
    store.write("cache/extract/half/data.parquet", b"x")
    assert collect_garbage(store, 1, _run(state="failed")).removed_shards == 1
    assert not store.exists("cache/extract/half/data.parquet")


def test_nothing_is_taken_from_a_running_build(store: LocalStore) -> None:
    _publish(store, 0)
    store.write("cache/extract/new/data.parquet", b"x")
    with pytest.raises(RunningBuildError):
        collect_garbage(store, 1, _run())
    assert store.exists("cache/extract/new/data.parquet")


def test_a_dead_process_or_a_silent_host_is_not_running() -> None:
    assert is_running(_run())
    assert not is_running(_run(pid=2**22 + 1))
    assert is_running(_run(host="elsewhere"))
    assert not is_running(_run(host="elsewhere", updated="2020-01-01T00:00:00Z"))
    assert not is_running(_run(state="finished"))


def test_keeping_nothing_is_refused(store: LocalStore) -> None:
    with pytest.raises(UsageError):
        collect_garbage(store, 1, None)
    _publish(store, 0)
    with pytest.raises(UsageError, match="--keep 0"):
        collect_garbage(store, 0, None)

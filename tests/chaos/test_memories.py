"""The watcher of these tests sees what is not whole."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from ray_tasks.storage.store import ObjectStore, open_store
from tests.chaos.memories import Watcher, Wholeness, content

FILE = "cache/index/k1/action.faiss"


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    """A store with a whole memory of one file."""
    store = open_store(tmp_path)
    sha = hashlib.sha256(b"vectors").hexdigest()
    entry = {"files": {"action.faiss": {"key": FILE, "sha256": sha}}, "shards": {"index": {"B1_MARA": "k1"}}}
    store.write(FILE, b"vectors")
    store.write("cache/index/k1/done.json", json.dumps({"files": {}, "rows": 1, "seconds": 1}).encode())
    manifest = {"memory_id": "m1", "encoder": "tiny", "wearers": {"B1_MARA": entry}}
    store.write("memories/m1/manifest.json", json.dumps(manifest).encode())
    store.write("current.json", b'{"memory_id": "m1"}')
    return store


def test_a_whole_memory_has_no_fault(store: ObjectStore) -> None:
    assert Wholeness(store).fault() is None


@pytest.mark.parametrize("missing", [FILE, "cache/index/k1/done.json", "memories/m1/manifest.json"])
def test_a_missing_file_is_a_fault(store: ObjectStore, missing: str) -> None:
    wholeness = Wholeness(store, again_s=0)
    assert wholeness.fault() is None
    store.delete(missing)
    assert missing in (wholeness.fault() or "")


@pytest.mark.parametrize("damaged", [FILE, "memories/m1/manifest.json", "current.json"])
def test_a_damaged_file_is_a_fault(store: ObjectStore, damaged: str) -> None:
    wholeness = Wholeness(store, again_s=0)
    assert wholeness.fault() is None
    store.write(damaged, b"{")
    assert wholeness.fault()


def test_a_watcher_keeps_what_it_sees(store: ObjectStore) -> None:
    with Watcher(store, 0.001) as watcher:
        store.write("current.json", b'{"memory_id": "m2"}')
        while not watcher.faults:
            pass
    assert "m2" in watcher.faults[0]


def test_contents_differ_by_data_and_not_by_seconds(store: ObjectStore) -> None:
    before = content(store)
    store.write("cache/index/k1/done.json", json.dumps({"files": {}, "rows": 1, "seconds": 2}).encode())
    assert content(store).differences(before) == []
    store.write(FILE, b"others")
    assert content(store).differences(before) == [FILE]

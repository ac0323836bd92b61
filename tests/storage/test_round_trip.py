"""A memory is committed, published, opened and searched the same on every store."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

from ray_tasks.index.opening import open_wearer
from ray_tasks.ledger import Ledger
from ray_tasks.storage.cache import ShardCache
from ray_tasks.storage.manifests import Manifest, WearerEntry, current_manifest, publish, read_pointer
from ray_tasks.storage.store import ObjectStore, StoreError
from tests.index.builder import BuiltFiles, MemoryBuilder

MINUTE = 60_000


def _built() -> BuiltFiles:
    builder = MemoryBuilder()
    for minute in range(20):
        builder.add(minute * MINUTE, action=[f"Mara waters plant {minute}."], object=[f"plant {minute}"])
    return builder.build()


def _publish(store: ObjectStore, built: BuiltFiles) -> Manifest:
    extra = json.loads(json.dumps({"counts": dict(built.counts), "day_bounds": dict(built.day_bounds)}))
    record = ShardCache(store).commit(
        "index", "B1_MARA", "k1", built.files, rows=20, seconds=0.1, ledger=Ledger(taken=20, done=20), extra=extra
    )
    entry = WearerEntry.from_index(record, {"caption": {"B1_MARA/DAY1/00": "c1"}})
    publish(store, Manifest({"B1_MARA": entry}, "hash-8", "hash-8"), read_pointer(store))
    return current_manifest(store)


def test_a_published_memory_is_opened_elsewhere(store: ObjectStore, open_again: Callable[[], ObjectStore]) -> None:
    built = _built()
    manifest = _publish(store, built)
    memory = open_wearer(open_again(), manifest, "B1_MARA")
    actions = memory.views["action"]
    assert actions.texts.to_pylist() == [f"Mara waters plant {minute}." for minute in range(20)]
    assert np.asarray(actions.vectors).shape == (20, 8)
    assert np.allclose(np.linalg.norm(actions.vectors, axis=1), 1)
    found = ShardCache(open_again()).find("index", "k1")
    assert found is not None
    assert {name: size for name, (_, size) in found.files.items()} == {
        name: len(data) for name, data in built.files.items()
    }


def test_publishing_the_same_again_changes_no_file(store: ObjectStore) -> None:
    first = _publish(store, _built())
    versions = {key: store.version(key) for key in store.list_keys("memories")}
    again = _publish(store, _built())
    assert again.memory_id == first.memory_id
    assert {key: store.version(key) for key in store.list_keys("memories")} == versions


def test_a_file_that_is_not_the_manifests_is_not_opened(store: ObjectStore) -> None:
    manifest = _publish(store, _built())
    key = "cache/index/k1/action.faiss"
    data = store.read(key)
    store.write(key, data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(StoreError, match=key):
        open_wearer(store, manifest, "B1_MARA")
    store.delete(key)
    with pytest.raises(StoreError, match=r"lacks action\.faiss"):
        open_wearer(store, manifest, "B1_MARA")
    store.write(key, data)
    assert open_wearer(store, manifest, "B1_MARA").views["action"].vectors.shape == (20, 8)

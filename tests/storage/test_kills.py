"""Writers killed in the middle of whatever they do leave a store that reads well."""

from __future__ import annotations

import multiprocessing
import random
import time

import pytest

from ray_tasks.ledger import Ledger
from ray_tasks.storage.cache import ShardCache
from ray_tasks.storage.manifests import Manifest, WearerEntry, publish, read_manifest, read_pointer
from ray_tasks.storage.s3 import S3Store
from ray_tasks.storage.store import ObjectStore, open_store
from ray_tasks.storage.wholeness import damaged_files
from tests.storage.s3_server import FAST, SMALL_PART

KILLS = 4
FILES = 3


def _work(url: str, seed: int) -> None:
    """Commits and publishes one small memory after another until it is killed."""
    store = S3Store(url, FAST, part_bytes=SMALL_PART) if url.startswith("s3://") else open_store(url)
    cache = ShardCache(store)
    for night in range(1000):
        content = f"{seed} {night} ".encode() * (SMALL_PART // 4)
        files = {f"file{number}": content + bytes([number]) for number in range(FILES)}
        record = cache.commit(
            "index", "W", f"k{seed}-{night}", files, rows=1, seconds=0, ledger=Ledger(taken=1, done=1),
            extra={"counts": {}, "day_bounds": {}},
        )  # fmt: skip
        memory = Manifest({"W": WearerEntry.from_index(record, {"caption": {}})}, "m", "m")
        publish(store, memory, read_pointer(store))


@pytest.mark.slow
def test_whatever_moment_a_writer_is_killed_at_the_current_memory_is_whole(store: ObjectStore) -> None:
    generator = random.Random(1)
    context = multiprocessing.get_context("spawn")
    published: set[str] = set()
    for seed in range(KILLS):
        process = context.Process(target=_work, args=(store.url, seed))
        process.start()
        before = read_pointer(store)
        for _ in range(6000):  # until it is at work
            if read_pointer(store) != before:
                break
            time.sleep(0.05)
        time.sleep(generator.uniform(0, 0.3))
        process.kill()
        process.join()
        pointer = read_pointer(store)
        assert pointer is not None and pointer != before
        assert damaged_files(store, read_manifest(store, pointer.memory_id)) == []
        published.add(pointer.memory_id)
        keys = {(key.split("/")[1], key.split("/")[2]) for key in store.list_keys("cache") if key.endswith("done.json")}
        assert set(ShardCache(store).find_many(sorted(keys))) == keys
    assert len(published) == KILLS
    store.remove_abandoned(-1)
    assert store.remove_abandoned(-1) == 0
    pointer = read_pointer(store)
    assert pointer is not None
    assert damaged_files(store, read_manifest(store, pointer.memory_id)) == []

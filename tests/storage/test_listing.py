"""Listings with sizes and times, in a folder and on S3."""

from __future__ import annotations

import time
from itertools import groupby

import pytest

from ray_tasks.storage.s3 import S3Store
from ray_tasks.storage.store import ObjectStore


def test_a_listing_tells_sizes_and_times(store: ObjectStore) -> None:
    before = time.time() - 2  # S3 gives whole seconds
    store.write("cache/a/k/data.parquet", b"12345")
    store.write("cache/a/k/done.json", b"")
    store.write("runs/latest.json", b"{}")
    found = {entry.key: entry for entry in store.list_objects("cache")}
    assert {key: entry.size for key, entry in found.items()} == {"cache/a/k/data.parquet": 5, "cache/a/k/done.json": 0}
    assert all(before <= entry.modified <= time.time() + 2 for entry in found.values())
    assert {entry.key for entry in store.list_objects("")} == {*found, "runs/latest.json"}


def test_objects_of_one_folder_come_together(store: ObjectStore) -> None:
    for stage in ("b", "a"):
        for key in ("k2", "k1", "k1-x"):
            for name in ("done.json", "a.bin"):
                store.write(f"cache/{stage}/{key}/{name}", b"")
    folders = [folder for folder, _ in groupby(entry.key.rpartition("/")[0] for entry in store.list_objects("cache"))]
    assert len(folders) == len(set(folders)) == 6


def test_a_prefix_is_a_folder_and_not_the_beginning_of_a_name(store: ObjectStore) -> None:
    store.write("runs/r1/run.json", b"")
    store.write("runs/r10/run.json", b"")
    assert [entry.key for entry in store.list_objects("runs/r1")] == ["runs/r1/run.json"]
    assert list(store.list_objects("nothing")) == []


def test_objects_may_be_deleted_while_they_are_listed(store: ObjectStore) -> None:
    for number in range(20):
        store.write(f"cache/a/k{number}/done.json", b"")
    for entry in store.list_objects("cache"):
        store.delete(entry.key)
    assert list(store.list_objects("cache")) == []


def test_a_long_listing_comes_page_by_page(s3_store: S3Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        s3_store.write(f"cache/a/k{number}/done.json", b"")
    client = s3_store._client
    list_page, pages = client.list_objects_v2, []

    def short(**where: object) -> object:
        pages.append(where)
        return list_page(**where, MaxKeys=2)

    monkeypatch.setattr(client, "list_objects_v2", short)
    assert [entry.key for entry in s3_store.list_objects("cache")] == [f"cache/a/k{n}/done.json" for n in range(5)]
    assert len(pages) == 3

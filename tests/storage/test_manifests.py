from __future__ import annotations

import pytest

from ray_tasks.errors import UsageError
from ray_tasks.storage.manifests import (
    POINTER,
    Manifest,
    WearerEntry,
    current_manifest,
    manifest_key,
    publish,
    read_manifest,
    read_pointer,
)
from ray_tasks.storage.store import ConflictError, ObjectStore, StoreError


def _manifest(sha: str = "s1", encoder: str = "m@1") -> Manifest:
    files = {"action.faiss": ("cache/index/k/action.faiss", sha)}
    entry = WearerEntry("B1_MARA", "Mara", files, {"action": 3}, {1: (5, 9)}, {"caption": {"B1_MARA/DAY1/09": "k1"}})
    return Manifest({"B1_MARA": entry}, encoder, "m", "2030-01-01T00:00:00Z", {"corpus": "c"})


def test_the_id_is_the_content_and_not_the_moment() -> None:
    first = _manifest()
    later = Manifest(first.wearers, first.encoder, "m", "2031-01-01T00:00:00Z", {})
    assert first.memory_id == later.memory_id
    assert first.memory_id != _manifest("s2").memory_id
    assert first.memory_id != _manifest(encoder="m@2").memory_id


def test_what_is_published_is_read_back(store: ObjectStore) -> None:
    manifest = _manifest()
    publish(store, manifest, None)
    pointer = read_pointer(store)
    assert pointer is not None and pointer.memory_id == manifest.memory_id
    assert current_manifest(store) == manifest


def test_without_a_publication_the_error_says_how_to_make_one(store: ObjectStore) -> None:
    assert read_pointer(store) is None
    with pytest.raises(UsageError, match="daybook build"):
        current_manifest(store)


def test_of_two_publishers_that_saw_the_same_pointer_the_second_is_told(store: ObjectStore) -> None:
    publish(store, _manifest("s1"), None)
    seen = read_pointer(store)
    publish(store, _manifest("s2"), seen)
    with pytest.raises(ConflictError):
        publish(store, _manifest("s3"), seen)
    assert current_manifest(store) == _manifest("s2")


def test_the_pointer_remembers_the_way_back(store: ObjectStore) -> None:
    for sha in ("s1", "s2", "s3", "s1"):
        publish(store, _manifest(sha), read_pointer(store))
    pointer = read_pointer(store)
    assert pointer is not None
    assert pointer.history == (_manifest("s3").memory_id, _manifest("s2").memory_id)


def test_a_damaged_manifest_or_pointer_is_named(store: ObjectStore) -> None:
    manifest = _manifest()
    publish(store, manifest, None)
    key = manifest_key(manifest.memory_id)
    store.write(key, store.read(key).replace(b'"s1"', b'"s9"'))
    with pytest.raises(StoreError, match="describes memory"):
        read_manifest(store, manifest.memory_id)
    store.write(key, b"{")
    with pytest.raises(StoreError, match=r"manifest\.json"):
        read_manifest(store, manifest.memory_id)
    store.write(POINTER, b"[]")
    with pytest.raises(StoreError, match=r"current\.json"):
        current_manifest(store)


def test_hours_are_those_with_captions() -> None:
    assert _manifest().entry("B1_MARA").hours == ("DAY1/09",)


def test_an_unknown_wearer_is_answered_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"B2_TOBI.*B1_MARA"):
        _manifest().entry("B2_TOBI")

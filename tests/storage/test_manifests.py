from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from ray_tasks.errors import UsageError
from ray_tasks.storage.manifests import (
    POINTER,
    DamagedManifestError,
    DamagedPointerError,
    LostRaceError,
    Manifest,
    Pointer,
    WearerEntry,
    current_manifest,
    manifest_key,
    memory_before,
    pointer_to_replace,
    publish,
    read_manifest,
    read_pointer,
    write_manifest,
)
from ray_tasks.storage.store import ConflictError, ObjectStore
from tests.test_strict_json import MALFORMED


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


DAMAGES = [*MALFORMED.values(), b"[]", b"null", b"{}", b'{"memory_id": 3, "history": []}']


@pytest.mark.parametrize("data", [*DAMAGES, b'{"memory_id": "0123456789abcdef", "history": [{}]}'])
def test_a_damaged_pointer_is_named_with_what_mends_it(store: ObjectStore, data: bytes) -> None:
    manifest = _manifest()
    publish(store, manifest, None)
    store.write(POINTER, data)
    for attempt in (read_pointer, current_manifest):
        with pytest.raises(DamagedPointerError, match=rf"current\.json.*daybook publish.*{manifest.memory_id}"):
            attempt(store)


@pytest.mark.parametrize("data", [*DAMAGES, b'{"wearers": {}, "encoder": 3}', b'{"wearers": {"W": []}}'])
def test_a_damaged_manifest_is_named_with_what_mends_it(store: ObjectStore, data: bytes) -> None:
    manifest = _manifest()
    publish(store, manifest, None)
    store.write(manifest_key(manifest.memory_id), data)
    with pytest.raises(DamagedManifestError, match=r"manifest\.json.*damaged.*build the memory again"):
        read_manifest(store, manifest.memory_id)


@pytest.mark.parametrize("field", ["created", "encoder", "embedding_model", "wearers", "build", "memory_id"])
@pytest.mark.parametrize("value", [None, 3, "x", [], {"B1_MARA": 3}])
def test_a_manifest_that_was_changed_is_damaged(store: ObjectStore, field: str, value: object) -> None:
    manifest = _manifest()
    write_manifest(store, manifest)
    key = manifest_key(manifest.memory_id)
    store.write(key, json.dumps({**json.loads(store.read(key)), field: value}).encode())
    with pytest.raises(DamagedManifestError):
        read_manifest(store, manifest.memory_id)


def test_a_manifest_of_another_memory_is_not_taken_for_this_ones(store: ObjectStore) -> None:
    for sha in ("s1", "s2"):
        write_manifest(store, _manifest(sha))
    other = store.read(manifest_key(_manifest("s2").memory_id))
    store.write(manifest_key(_manifest("s1").memory_id), other)
    with pytest.raises(DamagedManifestError, match="describes memory"):
        read_manifest(store, _manifest("s1").memory_id)


def test_writing_a_manifest_mends_a_damaged_one(store: ObjectStore) -> None:
    manifest = _manifest()
    store.write(manifest_key(manifest.memory_id), b"{")
    write_manifest(store, manifest)
    assert read_manifest(store, manifest.memory_id) == manifest


def test_a_pointer_to_a_memory_that_is_gone_says_so(store: ObjectStore) -> None:
    publish(store, _manifest(), None)
    store.delete(manifest_key(_manifest().memory_id))
    with pytest.raises(DamagedManifestError, match="is gone; build"):
        current_manifest(store)


def _publish_three(store: ObjectStore) -> list[str]:
    for night, sha in enumerate(("s1", "s2", "s3")):
        manifest = _manifest(sha)
        publish(store, replace(manifest, created=f"2030-01-0{night + 1}T00:00:00Z"), read_pointer(store))
    return [_manifest(sha).memory_id for sha in ("s3", "s2", "s1")]


@pytest.mark.parametrize("damage", ["truncated", "emptied", "overwritten", "changed type"])
def test_a_damaged_pointer_is_replaced_and_its_history_kept(store: ObjectStore, damage: str) -> None:
    memories = _publish_three(store)
    data = store.read(POINTER)
    damaged = {
        "truncated": data[: data.rindex(b'"') - 4],  # in the middle of the oldest id
        "emptied": b"",
        "overwritten": b"\0" * len(data),
        "changed type": data.replace(b'"history": [', b'"history": ["", '),
    }[damage]
    store.write(POINTER, damaged)
    pointer, notes = pointer_to_replace(store)
    assert pointer is not None and pointer.damaged
    assert pointer.version == store.version(POINTER)
    assert [pointer.memory_id, *pointer.history] == (memories[:2] if damage == "truncated" else memories)
    assert len(notes) == 1 and "damaged and will be replaced" in notes[0]
    before, more = memory_before(store, pointer)
    assert before is not None and before.memory_id == memories[0]
    assert more == []
    publish(store, _manifest("s4"), pointer)
    mended = read_pointer(store)
    assert mended is not None and mended.history == (pointer.memory_id, *pointer.history)


def test_a_damaged_pointer_with_nothing_to_recover_is_replaced_all_the_same(store: ObjectStore) -> None:
    store.write(POINTER, b"{")
    pointer, notes = pointer_to_replace(store)
    assert pointer is not None and (pointer.memory_id, pointer.history) == ("", ())
    assert "no earlier memory" in notes[0]
    assert memory_before(store, pointer) == (None, [])
    publish(store, _manifest(), pointer)
    assert read_pointer(store) == replace(_read(store), history=())


def _read(store: ObjectStore) -> Pointer:
    pointer = read_pointer(store)
    assert pointer is not None
    return pointer


def test_a_sound_pointer_is_replaced_without_a_note(store: ObjectStore) -> None:
    assert pointer_to_replace(store) == (None, [])
    assert memory_before(store, None) == (None, [])
    publish(store, _manifest(), None)
    assert pointer_to_replace(store) == (read_pointer(store), [])
    assert memory_before(store, _read(store)) == (_manifest(), [])


def test_a_damaged_pointer_that_another_mends_first_wins_no_race(store: ObjectStore) -> None:
    publish(store, _manifest("s1"), None)
    store.write(POINTER, b"{")
    seen, _ = pointer_to_replace(store)
    publish(store, _manifest("s2"), pointer_to_replace(store)[0])
    with pytest.raises(LostRaceError):
        publish(store, _manifest("s3"), seen)
    assert current_manifest(store) == _manifest("s2")


@pytest.mark.parametrize("data", [b"{", None])
def test_the_memory_before_is_the_latest_that_can_be_read(store: ObjectStore, data: bytes | None) -> None:
    memories = _publish_three(store)
    key = manifest_key(memories[0])
    if data is None:
        store.delete(key)
    else:
        store.write(key, data)
    before, notes = memory_before(store, _read(store))
    assert before is not None and before.memory_id == memories[1]
    assert key in notes[0] and memories[1] in notes[1]
    for memory_id in memories:
        store.write(manifest_key(memory_id), b"{")
    before, notes = memory_before(store, _read(store))
    assert before is None and len(notes) == 1


def test_who_loses_a_race_is_told_what_won_and_what_can_be_done(store: ObjectStore) -> None:
    publish(store, _manifest("s1"), None)
    seen = read_pointer(store)
    publish(store, _manifest("s2"), seen)
    winner = _read(store)
    loser = _manifest("s3").memory_id
    with pytest.raises(LostRaceError) as caught:
        publish(store, _manifest("s3"), seen)
    message = str(caught.value)
    assert caught.value.exit_code == 1
    for part in (winner.memory_id, winner.by, winner.published, "kept", f"daybook publish {loser} --root {store.url}"):
        assert part in message
    assert str(os.getpid()) in winner.by
    assert read_manifest(store, loser) == _manifest("s3")


def test_losing_to_the_identical_memory_is_no_loss(store: ObjectStore) -> None:
    publish(store, _manifest("s1"), None)
    seen = read_pointer(store)
    publish(store, _manifest("s2"), seen)
    winner = _read(store)
    publish(store, _manifest("s2"), seen)
    assert read_pointer(store) == winner


@pytest.mark.parametrize(("after", "says"), [(None, "removed"), (b"{", "damaged now"), (b"again", "written again")])
def test_a_pointer_that_is_gone_or_rewritten_meanwhile_is_told(
    store: ObjectStore, after: bytes | None, says: str
) -> None:
    publish(store, _manifest("s1"), None)
    seen = read_pointer(store)
    if after is None:
        store.delete(POINTER)
    elif after == b"again":
        store.write(POINTER, store.read(POINTER) + b"\n")
    else:
        store.write(POINTER, after)
    with pytest.raises(LostRaceError, match=says):
        publish(store, _manifest("s2"), seen)


def test_hours_are_those_with_captions() -> None:
    assert _manifest().entry("B1_MARA").hours == ("DAY1/09",)


def test_an_unknown_wearer_is_answered_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"B2_TOBI.*B1_MARA"):
        _manifest().entry("B2_TOBI")

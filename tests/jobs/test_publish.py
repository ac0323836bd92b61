from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from jobs.publish import publish, rollback
from ray_tasks.ledger import Ledger
from ray_tasks.storage.cache import ShardCache
from ray_tasks.storage.manifests import POINTER, Manifest, WearerEntry, manifest_key, read_pointer, write_manifest
from ray_tasks.storage.manifests import publish as swap_pointer
from ray_tasks.storage.store import LocalStore


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "root")


def _memory(store: LocalStore, night: int) -> Manifest:
    books = Ledger(taken=1, done=1)
    record = ShardCache(store).commit(
        "index", "B1_MARA", f"k{night}", {"action.faiss": f"night {night}".encode()}, rows=1, seconds=0, ledger=books,
        extra={"counts": {}, "day_bounds": {}},
    )  # fmt: skip
    manifest = Manifest({"B1_MARA": WearerEntry.from_index(record, {"caption": {}})}, "m", "m")
    write_manifest(store, manifest)
    return manifest


def _nights(store: LocalStore, count: int) -> list[str]:
    """Publishes so many memories; their ids, latest first."""
    memories = [_memory(store, night) for night in range(count)]
    for manifest in memories:
        swap_pointer(store, manifest, read_pointer(store))
    return [manifest.memory_id for manifest in reversed(memories)]


def _current(store: LocalStore) -> str | None:
    pointer = read_pointer(store)
    return pointer.memory_id if pointer else None


def _fails(code: int, capsys: pytest.CaptureFixture[str], command: object, *arguments: str) -> str:
    assert callable(command)
    capsys.readouterr()
    with pytest.raises(typer.Exit) as caught:
        command(*arguments)
    assert caught.value.exit_code == code
    return re.sub(r"\s+", " ", capsys.readouterr().err)


def test_a_rollback_goes_to_the_memory_before_and_back(store: LocalStore) -> None:
    last, before, _ = _nights(store, 3)
    rollback(store.url)
    assert _current(store) == before
    rollback(store.url)
    assert _current(store) == last


def test_publishing_what_is_current_changes_nothing(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    last, _ = _nights(store, 2)
    version = store.version(POINTER)
    publish(last, store.url)
    assert "current one already" in capsys.readouterr().out
    assert store.version(POINTER) == version


@pytest.mark.parametrize("damage", [b"", b"{", b"\0" * 64, b"[[[", b'{"memory_id": null, "history": 3}'])
def test_publishing_mends_a_damaged_pointer(
    store: LocalStore, capsys: pytest.CaptureFixture[str], damage: bytes
) -> None:
    last, before = _nights(store, 2)
    store.write(POINTER, damage)
    assert last in _fails(1, capsys, rollback, store.url)
    publish(last, store.url)
    assert "is damaged and will be replaced" in re.sub(r"\s+", " ", capsys.readouterr().err)
    pointer = read_pointer(store)
    assert pointer is not None and (pointer.memory_id, pointer.history) == (last, (before,))


def test_a_memory_that_is_gone_is_told_with_those_there_are(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    last, before = _nights(store, 2)
    assert last in _fails(2, capsys, publish, "0123456789abcdef", store.url)
    assert "not a valid object key" in _fails(2, capsys, publish, "../../etc", store.url)
    store.delete(manifest_key(before))
    assert f"holds no memory {before}" in _fails(2, capsys, rollback, store.url)
    assert _current(store) == last


@pytest.mark.parametrize("damage", ["changed", "truncated", "missing", "record missing and changed"])
def test_a_memory_that_is_not_whole_is_not_published(
    store: LocalStore, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    last, before = _nights(store, 2)
    key = "cache/index/k0/action.faiss"
    if damage.startswith("record"):
        store.delete("cache/index/k0/done.json")
    if damage == "missing":
        store.delete(key)
    else:
        store.write(key, b"night" if damage == "truncated" else b"night x")
    message = _fails(1, capsys, rollback, store.url)
    assert key in message and "not whole" in message
    assert _current(store) == last
    assert key in _fails(1, capsys, publish, before, store.url)


def test_a_whole_memory_needs_no_record_to_be_published(store: LocalStore) -> None:
    _, before = _nights(store, 2)
    store.delete("cache/index/k0/done.json")
    rollback(store.url)
    assert _current(store) == before


def test_without_an_earlier_memory_there_is_no_way_back(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no earlier memory" in _fails(2, capsys, rollback, store.url)
    _nights(store, 1)
    assert "no earlier memory" in _fails(2, capsys, rollback, store.url)

"""What every store does; each test runs on a local folder and on S3."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ray_tasks.errors import UsageError
from ray_tasks.storage.s3 import S3Store
from ray_tasks.storage.store import ConflictError, LocalStore, MissingObjectError, ObjectStore, is_key
from tests.storage.s3_server import S3Server


def test_reads_back_what_was_written(store: ObjectStore) -> None:
    store.write("a/b/c.txt", b"one")
    store.write("a/b/c.txt", b"two")
    assert store.read("a/b/c.txt") == b"two"
    assert store.exists("a/b/c.txt")
    assert store.local_path("a/b/c.txt").read_bytes() == b"two"


def test_empty_objects_are_objects(store: ObjectStore) -> None:
    store.write("empty", b"")
    assert store.exists("empty")
    assert store.read("empty") == b""
    assert store.local_path("empty").read_bytes() == b""


def test_missing_objects_are_named(store: ObjectStore) -> None:
    with pytest.raises(MissingObjectError, match=r"a/nothing"):
        store.read("a/nothing")
    with pytest.raises(MissingObjectError, match=r"a/nothing"):
        store.local_path("a/nothing")
    assert store.version("a/nothing") is None
    assert not store.exists("a/nothing")


def test_deleting_twice_is_no_error(store: ObjectStore) -> None:
    store.write("a/x", b"1")
    store.delete("a/x")
    assert not store.exists("a/x")
    store.delete("a/x")


@pytest.mark.parametrize(
    "key", ["", "../x", "a/../../x", "/etc/passwd", "a//b", "a/./b", "a b", "a\0b", "a/", ".hidden", "a/.b/c", "a\n"]
)
def test_keys_cannot_leave_the_store(store: ObjectStore, key: str) -> None:
    for attempt in (store.read, store.exists, store.version, store.delete, store.local_path):
        with pytest.raises(UsageError):
            attempt(key)
    with pytest.raises(UsageError):
        store.write(key, b"x")
    with pytest.raises(UsageError):
        store.write_if_version(key, b"x", None)
    assert not is_key(key)


@pytest.mark.parametrize("key", ["Größe/été-1", "a=1/b@2/c+d:e", "..".join("abc"), "x" * 200])
def test_unusual_keys_come_back_as_they_were(store: ObjectStore, key: str) -> None:
    store.write(f"odd/{key}", key.encode())
    assert list(store.list_keys("odd")) == [f"odd/{key}"]
    assert store.read(f"odd/{key}") == key.encode()
    assert store.local_path(f"odd/{key}").read_bytes() == key.encode()


def _fill(store: ObjectStore, server: S3Server, keys: Iterable[str]) -> None:
    """Adds empty objects behind the store's back, much faster than through it."""
    if isinstance(store, S3Store):
        prefix = store.url.partition(f"{store.bucket}/")[2]
        server.put_empty(store.bucket, (f"{prefix}/{key}" for key in keys))
    elif isinstance(store, LocalStore):
        for key in keys:
            (store.root / key).touch()


def test_listing_sees_what_others_add_and_has_no_page_limit(
    store: ObjectStore, open_again: Callable[[], ObjectStore], s3_server: S3Server
) -> None:
    store.write("p/0000", b"")
    assert list(store.list_keys("p")) == ["p/0000"]
    _fill(open_again(), s3_server, (f"p/{number:04d}" for number in range(1, 1002)))
    assert list(store.list_keys("p")) == [f"p/{number:04d}" for number in range(1002)]


def test_listing_is_of_folders_and_sorted(store: ObjectStore) -> None:
    for key in ("p/b", "p/a/z", "p/a-b", "pq/x", "p2"):
        store.write(key, b"")
    assert list(store.list_keys("p")) == list(store.list_keys("p/")) == ["p/a-b", "p/a/z", "p/b"]
    assert list(store.list_keys("p/a")) == ["p/a/z"]
    assert list(store.list_keys("p/b")) == []
    assert list(store.list_keys("")) == ["p/a-b", "p/a/z", "p/b", "p2", "pq/x"]
    assert list(store.list_keys("none")) == []
    with pytest.raises(UsageError):
        list(store.list_keys("../p"))


def test_a_version_changes_with_the_content(store: ObjectStore) -> None:
    store.write("v", b"1")
    first = store.version("v")
    assert first is not None and store.version("v") == first
    store.write("v", b"2")
    assert store.version("v") not in {None, first}


def test_a_write_returns_the_version_and_a_read_can_too(store: ObjectStore, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"two")
    assert store.write("v", b"one") == store.version("v")
    assert store.write("v", b"three", durable=False) == store.version("v")
    assert store.write_file("v", tmp_path / "file", durable=False) == store.version("v")
    assert store.write_file("v", tmp_path / "file") == store.version("v")
    assert store.read_versioned("v") == (b"two", store.version("v"))
    with pytest.raises(MissingObjectError):
        store.read_versioned("nothing")


def test_what_an_object_holds_is_told_with_and_without_its_version(store: ObjectStore) -> None:
    data = b"content" * 1000
    sha = hashlib.sha256(data).hexdigest()
    version = store.write("k", data)
    for known in (version, "", "another"):
        assert store.holds("k", sha, len(data), known)
        assert not store.holds("k", sha, len(data) + 1, known)
        assert not store.holds("gone", sha, len(data), known)
    assert not store.holds("k", hashlib.sha256(b"else").hexdigest(), len(data))
    store.write("k", data[:-1] + b"x")
    assert not store.holds("k", sha, len(data), version)
    store.write("k", data[:-1])
    assert not store.holds("k", sha, len(data), version)


def test_objects_are_made_durable_whether_they_are_there_or_not(store: ObjectStore) -> None:
    store.write("a/b/c", b"1", durable=False)
    store.make_durable(["a/b/c", "a/nothing"])
    assert store.read("a/b/c") == b"1"


def test_a_conditional_write_wants_the_version_that_was_seen(store: ObjectStore) -> None:
    first = store.write_if_version("current", b"1", None)
    with pytest.raises(ConflictError, match="current"):
        store.write_if_version("current", b"2", None)
    second = store.write_if_version("current", b"2", first)
    assert second == store.version("current")
    with pytest.raises(ConflictError, match="current"):
        store.write_if_version("current", b"3", first)
    assert store.read("current") == b"2"


def test_a_conditional_write_to_what_was_deleted_is_a_conflict(store: ObjectStore) -> None:
    version = store.write_if_version("current", b"1", None)
    store.delete("current")
    with pytest.raises(ConflictError, match="current"):
        store.write_if_version("current", b"2", version)
    assert not store.exists("current")


@pytest.mark.parametrize("exists_before", [False, True])
def test_of_many_conditional_writers_exactly_one_wins(
    store: ObjectStore, open_again: Callable[[], ObjectStore], exists_before: bool
) -> None:
    version = store.write_if_version("current", b"start", None) if exists_before else None

    def wins(number: int) -> bool:
        try:
            open_again().write_if_version("current", str(number).encode(), version)
        except ConflictError:
            return False
        return True

    with ThreadPoolExecutor(12) as pool:
        won = [number for number, result in enumerate(pool.map(wins, range(12))) if result]
    assert len(won) == 1
    assert store.read("current") == str(won[0]).encode()


def test_a_store_can_be_sent_to_another_process(store: ObjectStore) -> None:
    store.write("a", b"1")
    sent = pickle.loads(pickle.dumps(store))
    assert sent.url == store.url
    assert sent.read("a") == b"1"


def test_nothing_young_is_taken_for_abandoned(store: ObjectStore) -> None:
    store.write("p/x", b"1")
    assert store.remove_abandoned(3600) == 0
    assert store.remove_abandoned(0) == 0
    assert store.read("p/x") == b"1"

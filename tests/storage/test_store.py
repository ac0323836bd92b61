from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ray_tasks.errors import UsageError
from ray_tasks.storage.store import ConflictError, LocalStore, MissingObjectError, open_store


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "root")


def test_reads_back_what_was_written(store: LocalStore) -> None:
    store.write("a/b/c.txt", b"one")
    store.write("a/b/c.txt", b"two")
    assert store.read("a/b/c.txt") == b"two"
    assert store.exists("a/b/c.txt")
    assert store.local_path("a/b/c.txt").read_bytes() == b"two"


def test_missing_objects_are_named(store: LocalStore) -> None:
    with pytest.raises(MissingObjectError, match=r"a/nothing"):
        store.read("a/nothing")
    with pytest.raises(MissingObjectError):
        store.local_path("a/nothing")
    assert store.version("a/nothing") is None
    store.delete("a/nothing")


@pytest.mark.parametrize("key", ["", "../x", "a/../../x", "/etc/passwd", "a//b", "a/./b", "a b", "a\0b", "a/"])
def test_keys_cannot_leave_the_store(store: LocalStore, key: str) -> None:
    with pytest.raises(UsageError):
        store.write(key, b"x")


def test_listing_sees_what_others_add_and_has_no_page_limit(store: LocalStore) -> None:
    store.write("p/0000", b"")
    assert list(store.list_keys("p")) == ["p/0000"]
    other = LocalStore(store.root)
    for number in range(1, 1001):
        other.write(f"p/{number:04d}", b"")
    assert len(list(store.list_keys("p"))) == 1001


def test_listing_leaves_out_locks_and_temporary_files(store: LocalStore) -> None:
    store.write_if_version("p/x", b"1", None)
    (store.root / "p" / ".write-abandoned").write_bytes(b"half")
    assert list(store.list_keys("p")) == ["p/x"]


def test_a_conditional_write_wants_the_version_that_was_seen(store: LocalStore) -> None:
    first = store.write_if_version("current", b"1", None)
    with pytest.raises(ConflictError):
        store.write_if_version("current", b"2", None)
    second = store.write_if_version("current", b"2", first)
    assert second == store.version("current")
    with pytest.raises(ConflictError):
        store.write_if_version("current", b"3", first)
    assert store.read("current") == b"2"


def test_of_many_conditional_writers_exactly_one_wins(store: LocalStore) -> None:
    version = store.write_if_version("current", b"start", None)
    won: list[int] = []

    def race(number: int) -> None:
        try:
            LocalStore(store.root).write_if_version("current", str(number).encode(), version)
            won.append(number)
        except ConflictError:
            pass

    threads = [threading.Thread(target=race, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert store.read("current") == str(won[0]).encode()


def test_a_failed_write_leaves_the_old_object_and_no_litter(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write("a", b"old")

    def refuse(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(KeyboardInterrupt):
        store.write("a", b"new")
    assert store.read("a") == b"old"
    assert [path.name for path in store.root.iterdir()] == ["a"]


def test_other_schemes_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match="gopher"):
        open_store("gopher://x/y")


def test_a_root_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="file"):
        open_store(tmp_path / "file")

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

import pytest

from ray_tasks.errors import UsageError
from ray_tasks.storage.local_copies import LocalCopies
from ray_tasks.storage.store import StoreError

ROOMY = 1 << 30


def _download(data: bytes, calls: list[int] | None = None) -> Callable[[BinaryIO], None]:
    def download(sink: BinaryIO) -> None:
        if calls is not None:
            calls.append(len(data))
        sink.write(data)

    return download


def _age(path: Path, seconds: float) -> None:
    moment = time.time() - seconds
    os.utime(path.parent, (moment, moment))


def test_a_copy_is_fetched_once_for_each_version(tmp_path: Path) -> None:
    copies = LocalCopies(tmp_path, ROOMY)
    calls: list[int] = []
    first = copies.path_of("s b k v1", "a/k.faiss", 3, _download(b"one", calls))
    again = copies.path_of("s b k v1", "a/k.faiss", 3, _download(b"one", calls))
    other = copies.path_of("s b k v2", "a/k.faiss", 4, _download(b"four", calls))
    assert first == again and first.read_bytes() == b"one" and first.name.endswith("-k.faiss")
    assert other.read_bytes() == b"four"
    assert calls == [3, 4]


@pytest.mark.parametrize("damage", [b"", b"onf", b"longer"])
def test_a_damaged_copy_is_fetched_again(tmp_path: Path, damage: bytes) -> None:
    copies = LocalCopies(tmp_path, ROOMY)
    path = copies.path_of("i", "k", 3, _download(b"one"))
    path.chmod(0o600)
    path.write_bytes(damage)
    assert copies.path_of("i", "k", 3, _download(b"one")).read_bytes() == b"one"


def test_a_failed_download_leaves_nothing(tmp_path: Path) -> None:
    copies = LocalCopies(tmp_path, ROOMY)

    def broken(sink: BinaryIO) -> None:
        sink.write(b"ha")
        raise StoreError("cut")

    with pytest.raises(StoreError, match="cut"):
        copies.path_of("i", "k", 4, broken)
    with pytest.raises(StoreError, match="2 bytes instead of 4"):
        copies.path_of("i", "k", 4, _download(b"ha"))
    assert list((tmp_path / "copies").iterdir()) == []


def test_what_a_killed_process_left_is_no_copy(tmp_path: Path) -> None:
    copies = LocalCopies(tmp_path, ROOMY)
    path = copies.path_of("i", "k", 3, _download(b"one"))
    path.rename(path.parent / "part")
    assert copies.path_of("i", "k", 3, _download(b"one")).read_bytes() == b"one"


def test_those_unused_for_longest_make_room(tmp_path: Path) -> None:
    copies = LocalCopies(tmp_path, 100)
    paths = {name: copies.path_of(name, name, 40, _download(name.encode() * 40)) for name in "ab"}
    _age(paths["a"], 9000)
    _age(paths["b"], 5000)
    copies.path_of("a", "a", 40, _download(b"a" * 40))  # asked for again, so b is now the older one
    _age(paths["a"], 4000)
    copies.path_of("c", "c", 40, _download(b"c" * 40))
    assert paths["a"].exists() and not paths["b"].exists()


def test_one_that_was_just_handed_out_is_kept_beyond_the_bound(tmp_path: Path) -> None:
    copies = LocalCopies(tmp_path, 50)
    paths = [copies.path_of(name, name, 40, _download(b"x" * 40)) for name in "abc"]
    assert all(path.exists() for path in paths)


def test_a_removed_copy_stays_readable_while_it_is_open(tmp_path: Path) -> None:
    copies = LocalCopies(tmp_path, 50, grace_s=0)
    with copies.path_of("a", "a", 40, _download(b"a" * 40)).open("rb") as stream:
        time.sleep(0.01)
        copies.path_of("b", "b", 40, _download(b"b" * 40))
        assert len(list((tmp_path / "copies").iterdir())) == 1
        assert stream.read() == b"a" * 40


def test_threads_that_want_the_same_copy_share_one_download(tmp_path: Path) -> None:
    copies = LocalCopies(tmp_path, ROOMY)
    calls: list[int] = []

    def slow(sink: BinaryIO) -> None:
        calls.append(1)
        time.sleep(0.05)
        sink.write(b"one")

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: copies.path_of("i", "k", 3, slow).read_bytes(), range(8)))
    assert (len(calls), found) == (1, [b"one"] * 8)


def _use_many(folder: Path, seed: int) -> None:
    """Asks for ten copies over and over in a folder with room for three of them."""
    copies = LocalCopies(folder, 3000, grace_s=0.2)
    for step in range(60):
        name = str((step * 7 + seed) % 10)
        content = name.encode() * 1000
        if copies.path_of(name, name, 1000, _download(content)).read_bytes() != content:
            raise SystemExit(3)
        time.sleep(0.002)


def test_processes_share_a_folder_that_is_too_small_for_them(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_use_many, args=(tmp_path, seed)) for seed in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    time.sleep(0.25)
    LocalCopies(tmp_path, 3000, grace_s=0.2).path_of("last", "last", 1000, _download(b"l" * 1000))
    assert sum(path.stat().st_size for path in (tmp_path / "copies").rglob("*-*")) <= 3000


def test_a_folder_that_cannot_be_used_is_named_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match=r"file.*DAYBOOK_CACHE_DIR"):
        LocalCopies(tmp_path / "file", ROOMY).path_of("i", "k", 1, _download(b"x"))


def test_folder_and_size_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAYBOOK_CACHE_DIR", str(tmp_path / "named"))
    monkeypatch.setenv("DAYBOOK_CACHE_GIB", "0.5")
    assert LocalCopies.from_environment() == LocalCopies(tmp_path / "named", 1 << 29)
    monkeypatch.delenv("DAYBOOK_CACHE_DIR")
    monkeypatch.delenv("DAYBOOK_CACHE_GIB")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert LocalCopies.from_environment() == LocalCopies(tmp_path / "daybook", 20 << 30)
    monkeypatch.setenv("DAYBOOK_CACHE_GIB", "much")
    with pytest.raises(UsageError, match="DAYBOOK_CACHE_GIB=much"):
        LocalCopies.from_environment()

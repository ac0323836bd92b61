"""What only a folder does: temporary files and locks, full disks and forbidden places, roots as people write them."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ray_tasks.errors import UsageError
from ray_tasks.storage.s3 import S3Store
from ray_tasks.storage.store import ConflictError, LocalStore, StoreError, open_store


@pytest.fixture
def folder(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "root")


def test_a_folder_lists_neither_locks_nor_half_written_files(folder: LocalStore) -> None:
    folder.write_if_version("p/x", b"1", None)
    (folder.root / "p" / ".write-abandoned").write_bytes(b"half")
    assert list(folder.list_keys("p")) == list(folder.list_keys("")) == ["p/x"]
    assert folder.remove_abandoned(3600) == 0
    assert folder.remove_abandoned(-1) == 1
    assert not (folder.root / "p" / ".write-abandoned").exists()


def test_a_failed_write_leaves_the_old_object_and_no_litter(
    folder: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write("a", b"old")

    def refuse(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(KeyboardInterrupt):
        folder.write("a", b"new")
    assert folder.read("a") == b"old"
    assert [path.name for path in folder.root.iterdir()] == ["a"]


def test_what_a_folder_cannot_do_is_a_store_error(folder: LocalStore) -> None:
    folder.write("a/b", b"1")
    with pytest.raises(StoreError, match="cannot write a "):
        folder.write("a", b"x")
    with pytest.raises(StoreError, match="cannot write a/b/c "):
        folder.write("a/b/c", b"x")
    with pytest.raises(StoreError, match="cannot delete a "):
        folder.delete("a")


def test_emptied_folders_of_shards_are_removed_and_no_others(folder: LocalStore) -> None:
    full, empty = f"cache/x/{'a' * 32}", f"cache/x/{'b' * 32}"
    folder.write(f"{full}/data", b"1")
    folder.write(f"{empty}/data", b"1")
    folder.delete(f"{empty}/data")
    (folder.root / "own" / "empty").mkdir(parents=True)
    assert folder.remove_abandoned(3600) == folder.remove_abandoned(-1) == 0
    assert (folder.root / full).is_dir() and (folder.root / "own" / "empty").is_dir()
    assert not (folder.root / empty).exists()


def test_writers_and_deleters_of_one_folder_do_not_hinder_each_other(folder: LocalStore) -> None:
    def work(name: int) -> None:
        for _ in range(200):
            folder.write(f"notes/{name}", b"1", durable=False)
            assert folder.read(f"notes/{name}") == b"1"
            folder.delete(f"notes/{name}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


def test_objects_can_be_read_by_others_as_the_mask_allows(folder: LocalStore) -> None:
    before = os.umask(0o022)
    try:
        folder.write("a", b"1")
    finally:
        os.umask(before)
    assert (folder.root / "a").stat().st_mode & 0o777 == 0o644


def test_a_full_disk_is_told_and_leaves_the_old_object_and_no_litter(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: the write breaks off in the middle just the same."""
    script = """
import resource, signal, sys
from pathlib import Path
from ray_tasks.storage.store import LocalStore, StoreError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = LocalStore(Path(sys.argv[1]))
store.write("a/x", b"old")
Path(sys.argv[2]).write_bytes(b"y" * 100_000)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
for attempt in (lambda: store.write("a/x", b"x" * 100_000), lambda: store.write_file("a/x", Path(sys.argv[2]))):
    try:
        attempt()
        print("written")
    except StoreError as error:
        print(error)
"""
    command = [sys.executable, "-c", script, str(tmp_path / "root"), str(tmp_path / "source")]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    printed = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, timeout=60).stdout
    assert printed.count("cannot write a/x in") == printed.count("choose another --root") == 2, printed
    assert [path.name for path in (tmp_path / "root" / "a").iterdir()] == ["x"]
    assert (tmp_path / "root" / "a" / "x").read_bytes() == b"old"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_may_not_be_written_to_is_told(folder: LocalStore) -> None:
    folder.write("a/x", b"1")
    (folder.root / "a").chmod(0o500)
    try:
        with pytest.raises(StoreError, match=r"cannot write a/y .*grant access"):
            folder.write("a/y", b"1")
        assert folder.read("a/x") == b"1"
    finally:
        (folder.root / "a").chmod(0o700)


def test_other_schemes_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match="gopher"):
        open_store("gopher://x/y")


def test_a_root_opens_the_store_of_its_kind(tmp_path: Path) -> None:
    assert isinstance(open_store(tmp_path), LocalStore)
    assert open_store(f"file://{tmp_path}").url == str(tmp_path)
    remote = open_store("s3://bucket/some/prefix/")
    assert isinstance(remote, S3Store)
    assert remote.url == "s3://bucket/some/prefix"


def test_a_root_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="file"):
        open_store(tmp_path / "file")


@pytest.mark.parametrize("name", ["with space", "Größe-日記", "trailing/", "a/../b", "x=1&y", "e\u0301te\u0301"])
def test_a_root_may_have_any_name_that_a_folder_can_have(tmp_path: Path, name: str) -> None:
    store = open_store(f"{tmp_path}/{name}")
    store.write("a/x", b"1")
    assert list(store.list_keys("")) == ["a/x"]
    assert open_store(store.url).read("a/x") == b"1"


def test_a_root_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    open_store(tmp_path / "link").write("a/x", b"1")
    assert open_store(tmp_path / "real").read("a/x") == b"1"
    with pytest.raises(ConflictError):
        open_store(tmp_path / "link").write_if_version("a/x", b"2", None)


def test_a_root_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in (f"{tmp_path}/loop", "a\0b", "~nobody-of-this-name/x"):
        with pytest.raises(UsageError, match="as a root"):
            open_store(name)


@pytest.mark.parametrize(
    "url", ["s3:/bucket/x", "s3:bucket", "s3//bucket/x", "S3://bucket/x", "s3a://bucket/x", "", " "]
)
def test_a_slip_in_a_url_makes_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"s3://bucket/prefix"):
        open_store(url)
    assert not list(tmp_path.iterdir())

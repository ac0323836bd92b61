"""What only an S3 store does: its URL, the client's configuration, uploads in parts, abandoned uploads."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ray_tasks.errors import UsageError
from ray_tasks.storage.s3 import S3Store
from ray_tasks.storage.s3_client import s3_client
from ray_tasks.storage.s3_errors import StoreAccessError
from ray_tasks.storage.s3_upload import version_in_place
from ray_tasks.storage.store import MissingObjectError, StoreError
from tests.storage.s3_server import BUCKET, FAST, SMALL_PART, S3Server


@pytest.mark.parametrize(
    ("url", "bucket", "normal"),
    [
        ("s3://bucket", "bucket", "s3://bucket"),
        ("s3://bucket/", "bucket", "s3://bucket"),
        ("s3://my.bucket-1/a/b/", "my.bucket-1", "s3://my.bucket-1/a/b"),
    ],
)
def test_a_url_names_bucket_and_prefix(url: str, bucket: str, normal: str) -> None:
    store = S3Store(url)
    assert (store.bucket, store.url) == (bucket, normal)


@pytest.mark.parametrize(
    "url", ["s3://", "s3:///x", "s3://b", "s3://bucket/../x", "s3://bucket/a//b", "s3a://bucket/x"]
)
def test_a_url_that_names_no_place_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="s3://bucket/daybook"):
        S3Store(url)


def test_a_whole_bucket_can_be_a_root(s3_environment: S3Server) -> None:
    s3_environment.make_bucket("whole-bucket")
    store = S3Store("s3://whole-bucket", FAST)
    store.write("a/x", b"1")
    assert list(store.list_keys("")) == ["a/x"]
    assert store.read("a/x") == b"1"


def test_roots_in_one_bucket_do_not_see_each_other(s3_store: S3Store) -> None:
    neighbour = S3Store(f"{s3_store.url}-2", FAST)
    neighbour.write("x", b"1")
    assert list(s3_store.list_keys("")) == []
    assert not s3_store.exists("x")


def test_folder_markers_of_other_tools_are_not_listed(s3_store: S3Store, s3_environment: S3Server) -> None:
    prefix = s3_store.url.partition(f"{BUCKET}/")[2]
    s3_environment.put_empty(BUCKET, [f"{prefix}/", f"{prefix}/p/", f"{prefix}/p/.hidden", f"{prefix}/p/x y"])
    s3_store.write("p/x", b"1")
    assert list(s3_store.list_keys("")) == list(s3_store.list_keys("p")) == ["p/x"]


@pytest.mark.parametrize("size", [SMALL_PART, SMALL_PART + 1, 2 * SMALL_PART + 17])
def test_large_objects_go_up_in_parts_and_come_back_whole(s3_store: S3Store, size: int) -> None:
    store = S3Store(s3_store.url, FAST, part_bytes=SMALL_PART)
    data = bytes(range(251)) * (size // 251 + 1)
    store.write("large", data[:size])
    assert store.read("large") == data[:size]
    assert store.local_path("large").stat().st_size == size
    version = store.version("large") or ""
    assert ("-" in version) == (size > SMALL_PART)


def test_abandoned_uploads_are_aborted_when_they_are_old(s3_store: S3Store) -> None:
    client: Any = s3_client(FAST)
    prefix = s3_store.url.partition(f"{BUCKET}/")[2]
    for name in (f"{prefix}/a", f"{prefix}/b/c", f"{prefix}-2/other"):
        client.create_multipart_upload(Bucket=BUCKET, Key=name)
    century = 100 * 365 * 86400  # the server dates every upload to the year 2010
    assert s3_store.remove_abandoned(century) == 0
    assert s3_store.remove_abandoned(3600) == 2
    left = [upload["Key"] for upload in client.list_multipart_uploads(Bucket=BUCKET)["Uploads"]]
    assert left == [f"{prefix}-2/other"]


def test_a_copy_belongs_to_one_version_of_one_object(s3_store: S3Store) -> None:
    s3_store.write("k", b"one")
    first = s3_store.local_path("k")
    assert s3_store.local_path("k") == first
    s3_store.write("k", b"two")
    assert s3_store.local_path("k").read_bytes() == b"two"
    assert first.read_bytes() == b"one"


def test_a_missing_bucket_is_not_taken_for_a_missing_object(s3_environment: S3Server) -> None:
    store = S3Store("s3://nobody-made-this/x", FAST)
    for attempt in (store.exists, store.version, store.read, store.local_path):
        with pytest.raises(StoreAccessError, match=r"(?i)bucket.*create"):
            attempt("current.json")
    with pytest.raises(StoreAccessError, match="create the bucket"):
        store.write("a", b"x")


def test_a_store_is_used_by_many_threads(s3_store: S3Store) -> None:
    def work(number: int) -> None:
        s3_store.write(f"t/{number}", str(number).encode())
        assert s3_store.read(f"t/{number}") == str(number).encode()

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(work, range(12)))
    assert len(list(s3_store.list_keys("t"))) == 12


def test_a_forked_child_does_not_use_the_clients_of_its_parent(s3_store: S3Store) -> None:
    s3_store.write("a", b"1")
    mine = id(s3_client(FAST))
    assert id(s3_client(FAST)) == mine
    receiver, sender = multiprocessing.Pipe(duplex=False)

    def child() -> None:
        sender.send((os.getpid(), id(s3_client(FAST)) != mine))

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    pid, other = receiver.recv()
    process.join(30)
    assert pid != os.getpid()
    assert other


@pytest.mark.parametrize(
    ("endpoint", "variable", "file", "style"),
    [
        (None, None, None, None),
        ("http://127.0.0.1:9", None, None, "path"),
        ("http://127.0.0.1:9", "0", None, "virtual"),
        ("http://127.0.0.1:9", None, "virtual", "virtual"),
        (None, "1", None, "path"),
        (None, None, "path", "path"),
    ],
)
def test_buckets_are_addressed_by_path_at_other_servers_unless_told_otherwise(
    s3_environment: S3Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    endpoint: str | None,
    variable: str | None,
    file: str | None,
    style: str | None,
) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL_S3")
    if endpoint:
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    if variable:
        monkeypatch.setenv("DAYBOOK_S3_PATH_STYLE", variable)
    if file:
        (tmp_path / "config").write_text(f"[default]\ns3 =\n    addressing_style = {file}\n")
        monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    client = s3_client(FAST)
    assert client.meta.endpoint_url == (endpoint or "https://s3.amazonaws.com")
    assert (client.meta.config.s3 or {}).get("addressing_style") == style


def test_an_unusable_configuration_is_named(s3_environment: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAYBOOK_S3_PATH_STYLE", "perhaps")
    with pytest.raises(UsageError, match="DAYBOOK_S3_PATH_STYLE=perhaps"):
        S3Store("s3://bucket/x").read("a")
    monkeypatch.delenv("DAYBOOK_S3_PATH_STYLE")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "not a url")
    with pytest.raises(UsageError, match="AWS_ENDPOINT_URL_S3"):
        S3Store("s3://bucket/x").read("a")


def test_an_upload_that_another_replaced_is_reported(s3_store: S3Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store = S3Store(s3_store.url, FAST, part_bytes=SMALL_PART)
    monkeypatch.setattr("ray_tasks.storage.s3_upload.version_in_place", lambda *_: None)
    with pytest.raises(StoreError, match=r"large.*not what was uploaded"):
        store.write("large", b"x" * (SMALL_PART + 1))


def test_an_object_that_vanishes_before_its_copy_is_missing(s3_store: S3Store) -> None:
    with pytest.raises(MissingObjectError, match="gone"):
        s3_store.local_path("gone")


@pytest.mark.parametrize("content", [b"mine" * 10, b"else" * 10, b"short"])
def test_an_upload_is_verified_by_its_content_where_the_server_keeps_no_metadata(
    s3_store: S3Store, content: bytes
) -> None:
    s3_store.write("plain", content)  # written in one piece, so without the metadata of an upload in parts
    where = {"Bucket": BUCKET, "Key": f"{s3_store.url.partition(f'{BUCKET}/')[2]}/plain"}
    sha = hashlib.sha256(b"mine" * 10).hexdigest()
    version = version_in_place(s3_client(FAST), where, 40, sha)
    assert version == (s3_store.version("plain") if content == b"mine" * 10 else None)

"""Weights come to a machine once, whole, and as they were when they were looked for."""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from ray_tasks.engines.weights import LISTING, WeightsError, fetch_weights, find_weights
from ray_tasks.errors import UsageError
from ray_tasks.storage.s3 import S3Store
from ray_tasks.storage.store import StoreError
from tests.storage.s3_server import S3Server

FILES = {"config.json": b"{}", "model.safetensors": bytes(range(256)) * 2000, "sub/tokenizer.json": b"[]"}


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    """An S3 server for the tests here."""
    running = S3Server()
    yield running
    running.close()


@pytest.fixture
def bucket(server: S3Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> S3Store:
    """A bucket with a model, and an empty folder for local copies."""
    for name, value in {
        "AWS_ENDPOINT_URL": server.url,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "DAYBOOK_CACHE_DIR": str(tmp_path / "copies"),
    }.items():
        monkeypatch.setenv(name, value)
    name = f"weights-{uuid.uuid4().hex}"
    server.make_bucket(name)
    store = S3Store(f"s3://{name}/models/gemma")
    for name, data in FILES.items():
        store.write(name, data)
    return store


def test_weights_in_a_bucket_come_whole_with_a_list_of_their_sizes(bucket: S3Store) -> None:
    folder = fetch_weights(find_weights(bucket.url, ""))
    assert {name: (folder / name).read_bytes() for name in FILES} == FILES
    assert json.loads((folder / LISTING).read_text()) == {name: len(data) for name, data in FILES.items()}


def test_weights_are_fetched_once(bucket: S3Store) -> None:
    weights = find_weights(bucket.url, "")
    folder = fetch_weights(weights)
    for name in FILES:
        bucket.delete(name)
    assert fetch_weights(weights) == folder


def test_several_processes_of_a_machine_fetch_once(bucket: S3Store, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = find_weights(bucket.url, "")
    fetched: list[str] = []
    original = S3Store.download_version

    def counting(store: S3Store, key: str, *rest: object) -> None:
        fetched.append(key)
        original(store, key, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(S3Store, "download_version", counting)
    threads = [threading.Thread(target=fetch_weights, args=(weights,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(fetched) == sorted(FILES)


def test_a_fetch_that_broke_off_is_not_taken_for_weights_and_goes_on(
    bucket: S3Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = find_weights(bucket.url, "")
    fetched: list[str] = []
    original = S3Store.download_version

    def breaking(store: S3Store, key: str, *rest: object) -> None:
        if key == "model.safetensors" and "model.safetensors" not in fetched:
            fetched.append(key)
            raise StoreError("the line was cut")
        fetched.append(key)
        original(store, key, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(S3Store, "download_version", breaking)
    with pytest.raises(StoreError, match="cut"):
        fetch_weights(weights)
    assert not weights.folder.exists()
    fetched_before = list(fetched)
    folder = fetch_weights(weights)
    assert {name: (folder / name).read_bytes() for name in FILES} == FILES
    assert "config.json" in fetched_before
    assert fetched.count("config.json") == 1, "what had come whole was fetched again"


@pytest.mark.parametrize("damage", ["shorter", "gone"])
def test_damaged_weights_are_fetched_again(bucket: S3Store, damage: str) -> None:
    weights = find_weights(bucket.url, "")
    victim = fetch_weights(weights) / "model.safetensors"
    if damage == "gone":
        victim.unlink()
    else:
        victim.write_bytes(b"short")
    assert (fetch_weights(weights) / "model.safetensors").read_bytes() == FILES["model.safetensors"]


def test_new_content_gets_a_folder_of_its_own(bucket: S3Store) -> None:
    before = fetch_weights(find_weights(bucket.url, ""))
    bucket.write("model.safetensors", b"other")
    after = fetch_weights(find_weights(bucket.url, ""))
    assert after != before
    assert (after / "model.safetensors").read_bytes() == b"other"


def test_content_that_changed_after_it_was_listed_is_refused(bucket: S3Store) -> None:
    weights = find_weights(bucket.url, "")
    bucket.write("model.safetensors", b"other")
    with pytest.raises(StoreError, match="replaced"):
        fetch_weights(weights)
    assert not weights.folder.exists()


def test_a_bucket_without_a_model_is_refused(bucket: S3Store) -> None:
    bucket.delete("config.json")
    with pytest.raises(WeightsError, match=r"no config\.json in s3://"):
        find_weights(bucket.url, "")


def test_a_full_disk_is_noticed_before_the_fetch(bucket: S3Store, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = find_weights(bucket.url, "")
    usage = type("Usage", (), {"free": 10})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(WeightsError, match="DAYBOOK_CACHE_DIR"):
        fetch_weights(weights)


def test_a_folder_is_used_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert fetch_weights(find_weights(str(tmp_path), "")) == tmp_path


def test_a_folder_that_a_machine_lacks_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="every machine"):
        fetch_weights(find_weights(str(tmp_path / "absent"), ""))


def test_a_hub_has_to_be_pinned() -> None:
    with pytest.raises(UsageError, match="revision"):
        find_weights("owner/model", "")


@pytest.mark.parametrize("source", ["models/../gemma", "gs://bucket/x", "a/b/c", ""])
def test_other_sources_are_refused(source: str) -> None:
    with pytest.raises(UsageError):
        find_weights(source, "r")


def test_a_hub_is_asked_for_the_pinned_revision(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DAYBOOK_CACHE_DIR", str(tmp_path))
    asked: dict[str, object] = {}

    def download(name: str, *, revision: str, local_dir: Path, ignore_patterns: list[str]) -> str:
        asked.update(name=name, revision=revision, ignored=ignore_patterns)
        (local_dir / "config.json").write_text("{}")
        (local_dir / ".cache").mkdir()
        (local_dir / ".cache" / "notes").write_text("of the hub")
        return str(local_dir)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    folder = fetch_weights(find_weights("owner/model", "abc123"))
    assert (asked["name"], asked["revision"]) == ("owner/model", "abc123")
    assert "*.gguf" in str(asked["ignored"])
    assert json.loads((folder / LISTING).read_text()) == {"config.json": 2}
    assert find_weights("owner/model", "other").folder != folder


def test_a_hub_that_cannot_be_reached_is_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from huggingface_hub.errors import OfflineModeIsEnabled

    def download(*args: object, **options: object) -> str:
        raise OfflineModeIsEnabled("no way out")

    monkeypatch.setenv("DAYBOOK_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    with pytest.raises(WeightsError, match=r"serve\.source"):
        fetch_weights(find_weights("owner/model", "abc123"))


def test_folders_are_named_after_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAYBOOK_CACHE_DIR", str(tmp_path))
    digest = hashlib.sha256(b"owner/My.Model\nabc").hexdigest()[:16]
    assert find_weights("owner/My.Model", "abc").folder == tmp_path / "weights" / f"My-Model-{digest}"

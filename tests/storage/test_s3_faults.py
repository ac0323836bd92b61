"""S3 behind a proxy that answers 503, cuts connections, loses answers and hangs."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from urllib.parse import unquote

import boto3
import pytest

from ray_tasks.ledger import Ledger
from ray_tasks.storage.cache import LIST_FROM, ShardCache
from ray_tasks.storage.manifests import Manifest, memory_before, pointer_to_replace, publish, read_pointer
from ray_tasks.storage.preflight import conditional_write_fault
from ray_tasks.storage.retrying import RetryPolicy
from ray_tasks.storage.s3 import S3Store
from ray_tasks.storage.store import ConflictError, MissingObjectError, StoreError
from tests.storage.faulty_proxy import Decide, Fault, FaultyProxy, Request, once, random_faults
from tests.storage.s3_server import BUCKET, FAST, SMALL_PART, S3Server

Faulty = Callable[[Decide], AbstractContextManager[FaultyProxy]]


@pytest.fixture
def faulty(s3_environment: S3Server, monkeypatch: pytest.MonkeyPatch) -> Faulty:
    """Puts a proxy with the given faults before the server."""

    @contextmanager
    def behind(decide: Decide) -> Iterator[FaultyProxy]:
        with FaultyProxy(s3_environment.url, decide) as proxy:
            monkeypatch.setenv("AWS_ENDPOINT_URL_S3", proxy.url)
            try:
                yield proxy
            finally:
                monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3_environment.url)

    return behind


def _is(method: str, part: str = "") -> Callable[[Request], bool]:
    return lambda request: request.method == method and part in request.path


def test_everything_comes_through_an_unreliable_store(s3_store: S3Store, faulty: Faulty) -> None:
    with faulty(random_faults(0.10, 0.02, seed=3)) as proxy:
        for number in range(12):
            s3_store.write(f"f/{number:02d}", bytes([number]) * 1000)
        for number in range(12):
            assert s3_store.read(f"f/{number:02d}") == bytes([number]) * 1000
            assert s3_store.version(f"f/{number:02d}") is not None
            assert not s3_store.exists(f"g/{number:02d}")
            s3_store.delete(f"g/{number:02d}")
        assert len(list(s3_store.list_keys("f"))) == 12
        assert s3_store.local_path("f/07").read_bytes() == b"\x07" * 1000
        assert proxy.count("503") >= 4
        assert sum(proxy.count(cut) for cut in ("cut request", "lose answer", "cut body")) >= 1


def test_shards_and_large_objects_come_through_an_unreliable_store(
    s3_store: S3Store, faulty: Faulty, tmp_path: Path
) -> None:
    large = bytes(range(251)) * (5 * SMALL_PART // 251)
    (tmp_path / "large").write_bytes(large)
    store = S3Store(s3_store.url, FAST, part_bytes=SMALL_PART)
    cache = ShardCache(store)
    with faulty(random_faults(0.10, 0.02, seed=5)) as proxy:
        wanted = [("extract", f"{number:02x}") for number in range(LIST_FROM)]
        for stage, key in wanted:
            cache.commit(stage, "W", key, {"data": key.encode()}, rows=1, seconds=0, ledger=Ledger(taken=1, done=1))
        assert list(cache.find_many([*wanted, ("extract", "gone")])) == wanted
        version = store.write_file("index/large", tmp_path / "large")
        assert store.read_versioned("index/large") == (large, version)
        assert store.local_path("index/large").read_bytes() == large
        assert store.holds("index/large", hashlib.sha256(large).hexdigest(), len(large), "another version")
        assert store.remove_abandoned(0) == 0
        assert proxy.count("503") >= 4
        assert sum(proxy.count(cut) for cut in ("cut request", "lose answer", "cut body")) >= 1


def test_publishing_comes_through_an_unreliable_store(s3_store: S3Store, faulty: Faulty) -> None:
    ids: list[str] = []
    with faulty(random_faults(0.10, 0.05, seed=9)):
        for night in range(6):
            manifest = Manifest({}, f"encoder-{night}", "m")
            publish(s3_store, manifest, pointer_to_replace(s3_store)[0])
            ids.insert(0, manifest.memory_id)
            pointer = read_pointer(s3_store)
            assert pointer is not None and [pointer.memory_id, *pointer.history] == ids
            assert memory_before(s3_store, pointer)[0] == manifest


@pytest.mark.parametrize("when", ["first", "later"])
def test_a_large_object_that_is_replaced_while_its_copy_is_made_is_told(
    s3_store: S3Store, faulty: Faulty, when: str
) -> None:
    store = S3Store(s3_store.url, FAST, part_bytes=SMALL_PART)
    store.write("large", b"a" * (3 * SMALL_PART))
    replaced: list[str] = []

    def replace(request: Request) -> Fault | None:
        begins = request.headers.get("Range", "")
        wanted = "bytes=0-" if when == "first" else f"bytes={2 * SMALL_PART}-"
        if request.method == "GET" and begins.startswith(wanted) and not replaced:
            replaced.append(request.path)
            s3_store.write("large", b"b" * (3 * SMALL_PART))
        return None

    with faulty(replace), pytest.raises(StoreError, match="was replaced while it was read"):
        store.local_path("large")
    assert store.local_path("large").read_bytes() == b"b" * (3 * SMALL_PART)


@pytest.mark.parametrize("seed", range(2))
def test_no_entry_is_lost_or_doubled_by_writers_that_lose_answers(s3_store: S3Store, faulty: Faulty, seed: int) -> None:
    s3_store.write("log", b"[]")

    def add(name: str) -> None:
        for number in range(4):
            entry = f"{name}{number}"
            while True:
                version = s3_store.version("log")
                entries = json.loads(s3_store.read("log"))
                if entry in entries:
                    break
                try:
                    s3_store.write_if_version("log", json.dumps([*entries, entry]).encode(), version)
                    break
                except ConflictError:
                    continue

    with faulty(random_faults(0.10, 0.15, seed)) as proxy:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(add, "ab"))
        assert proxy.count("lose answer") > 0
    expected = [f"{name}{number}" for name in "ab" for number in range(4)]
    assert sorted(json.loads(s3_store.read("log"))) == expected


@pytest.mark.parametrize("exists_before", [False, True])
def test_a_conditional_write_whose_answer_was_lost_is_no_conflict(
    s3_store: S3Store, faulty: Faulty, exists_before: bool
) -> None:
    seen = s3_store.write_if_version("current", b"old", None) if exists_before else None
    with faulty(once("lose answer", _is("PUT"))) as proxy:
        version = s3_store.write_if_version("current", b"mine", seen)
        assert proxy.count("lose answer") == 1
    assert version == s3_store.version("current")
    assert s3_store.read("current") == b"mine"


def test_a_conditional_write_that_was_overtaken_while_it_was_retried_is_a_conflict(
    s3_store: S3Store, faulty: Faulty, s3_environment: S3Server
) -> None:
    attempts: list[str] = []

    def decide(request: Request) -> Fault | None:
        if request.method != "PUT" or attempts:
            return None
        attempts.append(request.path)
        rival = boto3.client("s3", endpoint_url=s3_environment.url, region_name="us-east-1")
        rival.put_object(Bucket=BUCKET, Key=unquote(request.path.partition(f"{BUCKET}/")[2]), Body=b"theirs")
        return "cut request"

    with faulty(decide), pytest.raises(ConflictError, match="current"):
        s3_store.write_if_version("current", b"mine", None)
    assert s3_store.read("current") == b"theirs"


def test_a_server_that_refuses_quoted_etags_is_sent_bare_ones(s3_store: S3Store, faulty: Faulty) -> None:
    def decide(request: Request) -> Fault | None:
        return "412" if request.method == "PUT" and request.headers.get("If-Match", "").startswith('"') else None

    with faulty(decide) as proxy:
        first = s3_store.write_if_version("current", b"1", None)
        second = s3_store.write_if_version("current", b"2", first)
        assert second == s3_store.version("current") != first
        with pytest.raises(ConflictError):
            s3_store.write_if_version("current", b"3", first)
        assert conditional_write_fault(s3_store) is None
        assert proxy.count("412") >= 3
    assert s3_store.read("current") == b"2"


def test_a_cut_body_is_completed_and_not_begun_again(s3_store: S3Store, faulty: Faulty) -> None:
    data = bytes(range(256)) * 64
    s3_store.write("k", data)
    ranges: list[str | None] = []

    def cut_twice(request: Request) -> Fault | None:
        ranges.append(request.headers.get("Range"))
        return "cut body" if len(ranges) <= 2 else None

    with faulty(cut_twice):
        assert s3_store.read("k") == data
    assert ranges == [None, "bytes=8192-", "bytes=12288-"]


def test_an_object_that_changes_during_a_cut_download_is_read_anew(s3_store: S3Store, faulty: Faulty) -> None:
    s3_store.write("k", b"a" * 1000)
    replaced: list[str] = []

    def cut_then_replace(request: Request) -> Fault | None:
        if "Range" in request.headers and not replaced:
            replaced.append(request.path)
            s3_store.write("k", b"b" * 1200)
        return "cut body" if request.method == "GET" and not replaced else None

    with faulty(cut_then_replace):
        assert s3_store.read("k") == b"b" * 1200


@pytest.mark.parametrize("fault", ["503", "cut request", "lose answer", "error in 200"])
def test_a_failed_completion_of_an_upload_is_tried_again(s3_store: S3Store, faulty: Faulty, fault: Fault) -> None:
    store = S3Store(s3_store.url, FAST, part_bytes=SMALL_PART)
    data = b"x" * (SMALL_PART + 1)
    with faulty(once(fault, lambda request: request.method == "POST" and "uploadId" in request.path)) as proxy:
        store.write("large", data)
        assert proxy.count(fault) == 1
    assert s3_store.read("large") == data


def test_an_upload_that_cannot_be_finished_leaves_no_object_and_no_parts(s3_store: S3Store, faulty: Faulty) -> None:
    store = S3Store(s3_store.url, RetryPolicy(3, 5.0, 0.001, 0.01), part_bytes=SMALL_PART)

    def decide(request: Request) -> Fault | None:
        return "503" if request.method == "POST" and "uploadId" in request.path else None

    with faulty(decide), pytest.raises(StoreError, match=r"cannot finish large.*3 attempts.*SlowDown"):
        store.write("large", b"x" * (SMALL_PART + 1))
    assert not s3_store.exists("large")
    assert s3_store.remove_abandoned(0) == 0


@pytest.mark.parametrize("fault", ["503", "cut request"])
def test_the_error_at_the_end_names_object_attempts_cause_and_remedy(
    s3_store: S3Store, faulty: Faulty, fault: Fault
) -> None:
    store = S3Store(s3_store.url, RetryPolicy(4, 5.0, 0.001, 0.01))
    cause = "SlowDown.*later" if fault == "503" else "Connection.*AWS_ENDPOINT_URL_S3"
    with faulty(lambda _: fault) as proxy:
        for attempt in (
            lambda: store.read("a/x"),
            lambda: store.write("a/x", b"1"),
            lambda: store.write_if_version("a/x", b"1", None),
            lambda: store.version("a/x"),
            lambda: store.local_path("a/x"),
        ):
            before = len(proxy.seen)
            with pytest.raises(StoreError, match=rf"a/x in {s3_store.url}: 4 attempts.*(503|{cause})") as caught:
                attempt()
            assert not isinstance(caught.value, MissingObjectError | ConflictError)
            assert len(proxy.seen) - before == 4, "the client retries too: the bounds multiply"


def test_a_store_that_does_not_answer_is_given_up_in_time(s3_store: S3Store, faulty: Faulty) -> None:
    store = S3Store(s3_store.url, RetryPolicy(2, 5.0, 0.001, 0.01, 0.2, 0.2))
    start = time.monotonic()
    with faulty(lambda _: "hang"), pytest.raises(StoreError, match=r"2 attempts.*ReadTimeout"):
        store.read("a/x")
    assert time.monotonic() - start < 30  # half a second on a machine that has nothing else to do


def test_a_reply_in_time_follows_one_that_hung(s3_store: S3Store, faulty: Faulty) -> None:
    s3_store.write("a/x", b"1")
    store = S3Store(s3_store.url, RetryPolicy(3, 5.0, 0.001, 0.01, 0.2, 0.2))
    with faulty(once("hang", _is("GET", BUCKET))):
        assert store.read("a/x") == b"1"

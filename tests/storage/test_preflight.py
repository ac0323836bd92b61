from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from ray_tasks.storage.manifests import Manifest, publish, read_pointer
from ray_tasks.storage.preflight import UnsafeStoreError, conditional_write_fault, preflight
from ray_tasks.storage.retrying import RetryPolicy
from ray_tasks.storage.s3 import S3Store
from ray_tasks.storage.s3_errors import StoreAccessError
from ray_tasks.storage.store import ConflictError, LocalStore, ObjectStore, StoreError
from tests.storage.faulty_proxy import Fault, FaultyProxy, Request, random_faults
from tests.storage.s3_server import BUCKET, S3Server

MANIFEST = Manifest({}, "m@1", "m")


class _Ignores(LocalStore):
    """Takes every conditional write, whatever its condition."""

    def write_if_version(self, key: str, data: bytes, expected: str | None) -> str:
        self.write(key, data)
        return self.version(key) or ""


class _IgnoresVersions(LocalStore):
    """Knows If-None-Match, but not If-Match."""

    def write_if_version(self, key: str, data: bytes, expected: str | None) -> str:
        return super().write_if_version(key, data, self.version(key) if expected else None)


class _Refuses(LocalStore):
    """Refuses every conditional write."""

    def write_if_version(self, key: str, data: bytes, expected: str | None) -> str:
        raise ConflictError(f"{key} in {self.url} was changed by somebody else")


class _RefusesVersions(LocalStore):
    """Refuses every conditional write that names a version."""

    def write_if_version(self, key: str, data: bytes, expected: str | None) -> str:
        if expected:
            raise ConflictError(f"{key} in {self.url} was changed by somebody else")
        return super().write_if_version(key, data, expected)


def test_a_good_store_passes_and_nothing_stays_behind(store: ObjectStore) -> None:
    preflight(store)
    assert conditional_write_fault(store) is None
    assert list(store.list_keys("")) == []


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (_Ignores, "ignores .*If-None-Match"),
        (_IgnoresVersions, "ignores .*If-Match"),
        (_Refuses, "refuses .*If-None-Match"),
        (_RefusesVersions, "refuses .*If-Match"),
    ],
)
def test_nothing_is_published_where_conditional_writes_do_not_work(
    tmp_path: Path, kind: type[LocalStore], fault: str
) -> None:
    store = kind(tmp_path)
    with pytest.raises(UnsafeStoreError, match=f"{fault}.*Use a store with conditional writes") as caught:
        publish(store, MANIFEST, None)
    assert str(tmp_path) in str(caught.value)
    assert read_pointer(store) is None
    with pytest.raises(UnsafeStoreError, match=fault):
        preflight(store)
    assert list(store.list_keys("preflight")) == []


@pytest.mark.parametrize(("fault", "message"), [("ignore conditions", "ignores"), ("412", "refuses")])
def test_such_servers_are_found_out_over_http(
    s3_store: S3Store, s3_environment: S3Server, monkeypatch: pytest.MonkeyPatch, fault: Fault, message: str
) -> None:
    def decide(request: Request) -> Fault | None:
        return fault if "If-Match" in request.headers or "If-None-Match" in request.headers else None

    with FaultyProxy(s3_environment.url, decide) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", proxy.url)
        with pytest.raises(UnsafeStoreError, match=message):
            preflight(s3_store)
        assert list(s3_store.list_keys("")) == []


def _closed_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.fixture
def checked_server(s3_environment: S3Server) -> Iterator[S3Server]:
    """The server, which looks at keys and permissions from now on."""
    s3_environment.check_signatures(True)
    yield s3_environment
    s3_environment.check_signatures(False)


def _fails(url: str, message: str, kind: type[StoreError] = StoreAccessError) -> None:
    start = time.monotonic()
    with pytest.raises(kind, match=message):
        preflight(S3Store(url))
    assert time.monotonic() - start < 60  # a few seconds on a machine that has nothing else to do


def test_unknown_keys_are_reported(checked_server: S3Server) -> None:
    _fails(f"s3://{BUCKET}/x", r"InvalidAccessKeyId.*AWS_ACCESS_KEY_ID")


def test_missing_keys_are_reported(s3_environment: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    _fails(f"s3://{BUCKET}/x", r"NoCredentialsError.*AWS_PROFILE")


def test_an_unknown_profile_is_reported(s3_environment: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    _fails(f"s3://{BUCKET}/x", r"nobody.*AWS_PROFILE")


def _user(server: S3Server, monkeypatch: pytest.MonkeyPatch, *actions: str) -> None:
    """Goes on as a user who may do no more than `actions`."""
    iam = boto3.client("iam", endpoint_url=server.url, region_name="us-east-1")
    name = f"user-{len(actions)}"
    iam.create_user(UserName=name)
    if actions:
        statement = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam.put_user_policy(UserName=name, PolicyName="some", PolicyDocument=policy)
    keys = iam.create_access_key(UserName=name)["AccessKey"]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", keys["AccessKeyId"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", keys["SecretAccessKey"])


@pytest.mark.parametrize(
    ("actions", "verb"),
    [
        ((), "write"),
        (("s3:PutObject",), "read|delete"),
        (("s3:PutObject", "s3:GetObject", "s3:DeleteObject"), "list"),
    ],
)
def test_missing_permissions_are_reported(
    s3_environment: S3Server, monkeypatch: pytest.MonkeyPatch, actions: tuple[str, ...], verb: str
) -> None:
    _user(s3_environment, monkeypatch, *actions)
    s3_environment.check_signatures(True)
    try:
        _fails(f"s3://{BUCKET}/x", rf"cannot ({verb}) .*grant s3:GetObject")
    finally:
        s3_environment.check_signatures(False)


def test_a_missing_bucket_is_reported(s3_environment: S3Server) -> None:
    _fails("s3://nobody-made-this/x", r"NoSuchBucket.*create the bucket")


def test_a_closed_port_is_reported(s3_environment: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ray_tasks.storage.s3.HASTY", RetryPolicy(3, 1.0, 0.01, 0.1, 0.5, 0.5))
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", _closed_port())
    _fails(f"s3://{BUCKET}/x", r"Could not connect.*AWS_ENDPOINT_URL_S3", StoreError)


def test_a_server_that_hangs_is_reported(
    s3_store: S3Store, s3_environment: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ray_tasks.storage.s3.HASTY", RetryPolicy(3, 0.5, 0.01, 0.1, 0.5, 0.5))
    with FaultyProxy(s3_environment.url, lambda _: "hang") as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", proxy.url)
        _fails(s3_store.url, r"ReadTimeout.*AWS_ENDPOINT_URL_S3", StoreError)


def test_the_real_bounds_are_seconds() -> None:
    hasty = S3Store("s3://bucket/x").hasty().policy
    worst = hasty.total_s + max(hasty.connect_timeout_s, hasty.read_timeout_s)
    assert worst < 10


def test_an_unreliable_store_still_passes(
    s3_store: S3Store, s3_environment: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FaultyProxy(s3_environment.url, random_faults(0.15, 0.05, seed=5)) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", proxy.url)
        for _ in range(2):
            preflight(s3_store)
        assert proxy.count("503") >= 2

"""Stores for tests: a local folder, and S3 as moto serves it over HTTP on localhost."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from ray_tasks.storage.s3 import S3Store
from ray_tasks.storage.store import LocalStore, ObjectStore
from tests.storage.s3_server import BUCKET, FAST, S3Server


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """An empty S3 server with one bucket."""
    server = S3Server()
    server.make_bucket(BUCKET)
    yield server
    server.close()


@pytest.fixture
def s3_environment(s3_server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """The server, named by the environment; nothing of this machine's own AWS configuration is seen."""
    for name in os.environ:
        if name.startswith(("AWS_", "DAYBOOK_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "tests")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "tests")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3_server.url)
    monkeypatch.setenv("DAYBOOK_CACHE_DIR", str(tmp_path / "copies"))
    return s3_server


@pytest.fixture
def s3_store(s3_environment: S3Server) -> S3Store:
    """An empty S3 store under a prefix of its own."""
    return S3Store(f"s3://{BUCKET}/{uuid4().hex}/root", FAST)


@pytest.fixture(params=["local", "s3"])
def open_again(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], ObjectStore]:
    """Makes a further store object for the same root, first on a local folder and then on S3."""
    if request.param == "local":
        return lambda: LocalStore(tmp_path / "root")
    store: S3Store = request.getfixturevalue("s3_store")
    return lambda: S3Store(store.url, store.policy)


@pytest.fixture
def store(open_again: Callable[[], ObjectStore]) -> ObjectStore:
    """An empty store of either kind."""
    return open_again()

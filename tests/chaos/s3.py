"""The S3 server of the storage tests for builds in processes of their own, with or without faults on the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from tests.storage.faulty_proxy import FaultyProxy, random_faults
from tests.storage.s3_server import S3Server

SHARE_503 = 0.10
SHARE_CUT = 0.02


@contextmanager
def serving() -> Iterator[tuple[S3Server, str]]:
    """A server, and a root in a bucket of its own on it; all servers of a process serve the same buckets."""
    server, bucket = S3Server(), f"chaos-{uuid4().hex[:12]}"
    server.make_bucket(bucket)
    try:
        yield server, f"s3://{bucket}/daybook"
    finally:
        server.close()


def faulty(server: S3Server, seed: int) -> FaultyProxy:
    """A way to the server on which a tenth of the requests is refused and one in fifty is cut."""
    return FaultyProxy(server.url, random_faults(SHARE_503, SHARE_CUT, seed))


def environment(endpoint: str, copies: Path) -> dict[str, str]:
    """Variables by which a process finds the server, and nothing of this machine's own AWS configuration."""
    return {
        "AWS_CONFIG_FILE": "/nonexistent",
        "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ACCESS_KEY_ID": "tests",
        "AWS_SECRET_ACCESS_KEY": "tests",
        "AWS_ENDPOINT_URL_S3": endpoint,
        "DAYBOOK_CACHE_DIR": str(copies),
    }

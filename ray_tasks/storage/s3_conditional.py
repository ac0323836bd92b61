"""One conditional write on S3, and what to make of its refusal."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from ray_tasks.storage.s3_errors import status_of
from ray_tasks.storage.s3_transfer import Download, content_md5

_REFUSED = frozenset({404, 412})
"""S3 answers If-Match with 412 where the version differs, and with 404 where there is no object any more."""


def put_if_version(client: Any, where: Mapping[str, str], data: bytes, expected: str | None, attempt: int) -> str:
    """Writes `data` with If-Match `expected`, or with If-None-Match where that is None; returns the new version.

    A refusal is not always a conflict. Where the answer to an earlier attempt was lost, it may be our own write that
    stands in the way: it is one if exactly `data` is stored. And Ceph's gateway, with the services built on it, refuses
    an ETag in the quotes in which it sends it: where the object still has the expected version, the write is sent again
    without quotes. Raises botocore's ClientError for a true conflict.
    """
    from botocore.exceptions import ClientError

    condition = {"IfNoneMatch": "*"} if expected is None else {"IfMatch": expected}
    try:
        return _put(client, where, data, condition)
    except ClientError as error:
        if status_of(error) not in _REFUSED:
            raise
        written = _version_of_equal(client, where, data) if attempt > 1 else None
        if written is not None:
            return written
        if expected is None or _version(client, where) != expected:
            raise
    return _put(client, where, data, {"IfMatch": expected.strip('"')})


def _put(client: Any, where: Mapping[str, str], data: bytes, condition: Mapping[str, str]) -> str:
    return str(client.put_object(**where, **condition, Body=data, ContentMD5=content_md5(data))["ETag"])


def _version(client: Any, where: Mapping[str, str]) -> str | None:
    from botocore.exceptions import ClientError

    try:
        return str(client.head_object(**where)["ETag"])
    except ClientError as error:
        if status_of(error) == 404:
            return None
        raise


def _version_of_equal(client: Any, where: Mapping[str, str], data: bytes) -> str | None:
    """The version of the object if it holds exactly `data`, else None."""
    from botocore.exceptions import ClientError

    sink = io.BytesIO()
    try:
        version = Download(sink).attempt(client, where)
    except ClientError as error:
        if status_of(error) == 404:
            return None
        raise
    return version if sink.getvalue() == data else None

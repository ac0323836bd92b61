"""Moving one object between S3 and this machine: downloads that resume, in one stream or in several at once."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping
from typing import Any, Protocol

from ray_tasks.storage.s3_errors import CutBodyError, status_of

CHUNK_BYTES = 1 << 20


class Sink(Protocol):
    """Where a download goes: a file, or a HashSink."""

    def write(self, data: bytes, /) -> int:
        """Takes the next bytes."""
        ...

    def tell(self) -> int:
        """How many bytes were taken."""
        ...

    def seek(self, position: int, /) -> int:
        """Goes back; only ever to the beginning."""
        ...

    def truncate(self) -> int:
        """Forgets what lies behind the position."""
        ...


class HashSink:
    """Keeps the sha256 and size of what is written, and nothing else."""

    def __init__(self) -> None:
        self._digest, self._size = hashlib.sha256(), 0

    @property
    def content(self) -> tuple[str, int]:
        """sha256 and size (bytes) of what was written."""
        return self._digest.hexdigest(), self._size

    def write(self, data: bytes) -> int:
        """See Sink."""
        self._digest.update(data)
        self._size += len(data)
        return len(data)

    def tell(self) -> int:
        """See Sink."""
        return self._size

    def seek(self, position: int) -> int:
        """See Sink."""
        assert position == 0
        self._digest, self._size = hashlib.sha256(), 0
        return 0

    def truncate(self) -> int:
        """See Sink."""
        return self._size


class Download:
    """A download into `sink` that goes on where a cut connection left off, as long as the object is still the same."""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.version: str | None = None

    def attempt(self, client: Any, where: Mapping[str, str]) -> str:
        """Fetches what is missing and returns the object's version; raises botocore's errors and CutBodyError."""
        from botocore.exceptions import ClientError

        done = self.sink.tell()
        rest = {"Range": f"bytes={done}-", "IfMatch": self.version} if done else {}
        try:
            response = client.get_object(**where, **rest)
        except ClientError as error:
            if done and status_of(error) in {412, 416}:
                return self._anew(client, where)
            raise
        if done and (response["ETag"] != self.version or "ContentRange" not in response):
            # A server that heeds neither If-Match nor Range would make us join two objects.
            response["Body"].close()
            return self._anew(client, where)
        self.version = str(response["ETag"])
        announced = done + int(response["ContentLength"])
        for chunk in response["Body"].iter_chunks(CHUNK_BYTES):
            self.sink.write(chunk)
        if self.sink.tell() != announced:
            raise CutBodyError(f"{self.sink.tell()} of {announced} bytes came")
        return self.version

    def _anew(self, client: Any, where: Mapping[str, str]) -> str:
        self.sink.seek(0)
        self.sink.truncate()
        return self.attempt(client, where)


def download_range(client: Any, where: Mapping[str, str], version: str, start: int, size: int, file: int) -> None:
    """Fetches `size` bytes from `start` on of this very version to the same place of an open file (its descriptor).

    Raises CutBodyError where fewer came, and botocore's ClientError (412) where the object has another version by now.
    """
    response = client.get_object(**where, Range=f"bytes={start}-{start + size - 1}", IfMatch=version)
    place = start
    for chunk in response["Body"].iter_chunks(CHUNK_BYTES):
        os.pwrite(file, chunk, place)
        place += len(chunk)
    if response["ETag"] != version or "ContentRange" not in response or place != start + size:
        raise CutBodyError(f"{place - start} of {size} bytes came")


def content_md5(data: bytes | memoryview) -> str:
    """The Content-MD5 header of a body: every S3 server refuses a body that does not match it."""
    return base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()

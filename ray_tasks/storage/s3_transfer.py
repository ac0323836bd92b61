"""Moving one object between S3 and this machine: downloads that resume, uploads in parts that are verified."""

from __future__ import annotations

import base64
import hashlib
import tempfile
from collections.abc import Mapping
from typing import Any, BinaryIO

from ray_tasks.storage.s3_errors import CutBodyError, code_of, status_of

CHUNK_BYTES = 1 << 20

SHA_FIELD = "sha256"
"""User metadata of an object that was uploaded in parts: says, even after a lost answer, whose upload is in place."""


class Download:
    """A download into `sink` that goes on where a cut connection left off, as long as the object is still the same."""

    def __init__(self, sink: BinaryIO) -> None:
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


def content_md5(data: bytes | memoryview) -> str:
    """The Content-MD5 header of a body: every S3 server refuses a body that does not match it."""
    return base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()


def complete_upload(client: Any, where: Mapping[str, str], upload_id: str, etags: list[str], attempt: int) -> None:
    """Joins uploaded parts; in a second attempt an unknown upload is one whose first completion went through.

    Whether it did is for `is_in_place` to find out, which follows every completion.
    """
    from botocore.exceptions import ClientError

    parts = [{"PartNumber": number, "ETag": etag} for number, etag in enumerate(etags, 1)]
    try:
        client.complete_multipart_upload(**where, UploadId=upload_id, MultipartUpload={"Parts": parts})
    except ClientError as error:
        if attempt == 1 or code_of(error) != "NoSuchUpload":
            raise


def is_in_place(client: Any, where: Mapping[str, str], size: int, sha: str) -> bool:
    """Whether the object has this size (bytes) and sha256: its metadata say so or, where they are lost, its content."""
    from botocore.exceptions import ClientError

    try:
        head = client.head_object(**where)
        if head["ContentLength"] != size:
            return False
        if SHA_FIELD in head["Metadata"]:
            return bool(head["Metadata"][SHA_FIELD] == sha)
        with tempfile.TemporaryFile() as sink:
            Download(sink).attempt(client, where)
            sink.seek(0)
            return hashlib.file_digest(sink, "sha256").hexdigest() == sha
    except ClientError as error:
        if status_of(error) == 404:
            return False
        raise

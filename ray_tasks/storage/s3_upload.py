"""Uploads in parts, several at once: how objects go up that are too large for one request, or for the memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ray_tasks.storage.interface import StoreError
from ray_tasks.storage.s3_errors import code_of, status_of
from ray_tasks.storage.s3_transfer import Download, HashSink, content_md5

SHA_FIELD: Final = "sha256"
"""User metadata of an object that was uploaded in parts: says, even after a lost answer, whose upload is in place."""

PARALLEL_PARTS: Final = 4
"""Parts of one object that are under way at a time, each of them in memory."""

_MOST_PARTS: Final = 10_000
"""S3 joins no more parts than this."""


@dataclass(frozen=True)
class Content:
    """What is uploaded: its size in bytes, its sha256, and piece(start, size), which gives a part of it."""

    size: int
    sha256: str
    piece: Callable[[int, int], bytes]

    def starts(self, part_bytes: int) -> tuple[int, range]:
        """The size of a part, larger than `part_bytes` where there would be too many, and where each one begins."""
        size = max(part_bytes, -(-self.size // _MOST_PARTS))
        return size, range(0, self.size, size)


def content_of_bytes(data: bytes) -> Content:
    """Bytes in memory as what is uploaded."""
    view = memoryview(data)
    return Content(len(data), hashlib.sha256(data).hexdigest(), lambda start, size: bytes(view[start : start + size]))


@contextmanager
def content_of_file(path: Path) -> Iterator[Content]:
    """A file, which must not change meanwhile, as what is uploaded."""
    with path.open("rb") as stream:
        sha, handle = hashlib.file_digest(stream, "sha256").hexdigest(), stream.fileno()
        yield Content(os.fstat(handle).st_size, sha, lambda start, size: os.pread(handle, size, start))


def upload_in_parts(
    client: Any,
    where: Mapping[str, str],
    content: Content,
    part_bytes: int,
    attempt: Callable[[str, Callable[[int], Any]], Any],
    abort: Callable[[str], None],
) -> str | None:
    """Uploads a content and returns its version, None where something else is in place after all.

    `attempt(verb, request)` sends a request, again where that may help; `abort(upload id)` gives up what has failed.
    """
    created = attempt("write", lambda _: client.create_multipart_upload(**where, Metadata={SHA_FIELD: content.sha256}))
    upload = {"UploadId": str(created["UploadId"])}

    def put(number: int, piece: bytes) -> str:
        part = {**where, **upload, "PartNumber": number, "Body": piece, "ContentMD5": content_md5(piece)}
        return str(attempt("write", lambda _: client.upload_part(**part))["ETag"])

    try:
        etags = put_parts(content, part_bytes, put)
        attempt("finish", lambda number: complete_upload(client, where, upload["UploadId"], etags, number))
    except BaseException as error:
        _abort_after(error, lambda: abort(upload["UploadId"]))
        raise
    version: str | None = attempt("verify", lambda _: version_in_place(client, where, content.size, content.sha256))
    return version


def _abort_after(error: BaseException, abort: Callable[[], None]) -> None:
    """Gives up an upload after `error`, which stays the error to report where this fails too."""
    try:
        abort()
    except StoreError as second:
        error.add_note(f"its parts stay in the bucket until they are swept: {second}")


def put_parts(content: Content, part_bytes: int, put: Callable[[int, bytes], str]) -> list[str]:
    """Sends every part with put(number from 1, bytes) and returns their ETags in order; the first error ends it."""
    size, starts = content.starts(part_bytes)

    def send(number: int, start: int) -> str:
        return put(number, content.piece(start, size))

    with ThreadPoolExecutor(PARALLEL_PARTS) as pool:
        sent = [pool.submit(send, number, start) for number, start in enumerate(starts, 1)]
        try:
            return [part.result() for part in sent]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def complete_upload(client: Any, where: Mapping[str, str], upload_id: str, etags: list[str], attempt: int) -> None:
    """Joins uploaded parts; in a second attempt an unknown upload is one whose first completion went through.

    Whether it did is for `version_in_place` to find out, which follows every completion.
    """
    from botocore.exceptions import ClientError

    parts = [{"PartNumber": number, "ETag": etag} for number, etag in enumerate(etags, 1)]
    try:
        client.complete_multipart_upload(**where, UploadId=upload_id, MultipartUpload={"Parts": parts})
    except ClientError as error:
        if attempt == 1 or code_of(error) != "NoSuchUpload":
            raise


def version_in_place(client: Any, where: Mapping[str, str], size: int, sha: str) -> str | None:
    """The object's version if it has this size (bytes) and sha256, else None.

    Its metadata say so or, where a server did not keep them, its content.
    """
    from botocore.exceptions import ClientError

    try:
        head = client.head_object(**where)
        if head["ContentLength"] != size:
            return None
        if SHA_FIELD in head["Metadata"]:
            return str(head["ETag"]) if head["Metadata"][SHA_FIELD] == sha else None
        sink = HashSink()
        version = Download(sink).attempt(client, where)
        return version if sink.content == (sha, size) else None
    except ClientError as error:
        if status_of(error) == 404:
            return None
        raise

"""An S3 bucket, or a prefix of one, as an object store.

Objects are read whole, as bytes, and parsed from memory. Shards are small and immutable, so nothing is gained by
reading parts of a Parquet file through a second client (pyarrow's file system), and two things would be lost: one retry
policy for all requests, and the certainty that the bytes whose sha256 was checked are the bytes that are parsed.

A store is no more than its URL and retry policy: cheap to make, picklable, safe in threads; the client belongs to the
process (s3_client.py).
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

from ray_tasks.errors import UsageError
from ray_tasks.storage.interface import ConflictError, MissingObjectError, StoredObject, StoreError, check_key, is_key
from ray_tasks.storage.local_copies import LocalCopies
from ray_tasks.storage.retrying import HASTY, PATIENT, ExhaustedError, RetryPolicy, retry
from ray_tasks.storage.s3_client import s3_client
from ray_tasks.storage.s3_conditional import put_if_version
from ray_tasks.storage.s3_errors import StoreAccessError, explain, is_transient
from ray_tasks.storage.s3_transfer import Download, HashSink, Sink, content_md5, download_range
from ray_tasks.storage.s3_upload import PARALLEL_PARTS, Content, content_of_bytes, content_of_file, upload_in_parts

T = TypeVar("T")

PART_BYTES: Final = 32 << 20
"""Objects above this are uploaded in parts of this size; S3 takes parts of 5 MiB to 5 GiB, at most 10,000."""

_URL = re.compile(r"s3://(?P<bucket>[A-Za-z0-9][\w.-]{1,61}[A-Za-z0-9])(?:/(?P<prefix>.*))?")


class S3Store:
    """The objects below ``s3://bucket/prefix``. Retries end in a StoreError that names object, attempts and cause."""

    parallel = 32

    def __init__(self, url: str, policy: RetryPolicy = PATIENT, *, part_bytes: int = PART_BYTES) -> None:
        match = _URL.fullmatch(url)
        prefix = (match["prefix"] or "").strip("/") if match else ""
        if not match or (prefix and not is_key(prefix)):
            raise UsageError(f"not an S3 root: {url!r} (expected for example s3://bucket/daybook)")
        self.bucket = match["bucket"]
        self.url = f"s3://{self.bucket}/{prefix}".rstrip("/")
        self.policy = policy
        self.part_bytes = part_bytes
        self._base = f"{prefix}/" if prefix else ""
        self._bucket_seen = False

    def hasty(self) -> S3Store:
        """The same store with short time-outs, for checks that must not take longer than seconds."""
        return S3Store(self.url, HASTY, part_bytes=self.part_bytes)

    def read(self, key: str) -> bytes:
        """See ObjectStore.read."""
        return self.read_versioned(key)[0]

    def read_versioned(self, key: str) -> tuple[bytes, str]:
        """See ObjectStore.read_versioned."""
        sink = io.BytesIO()
        version = self._download(key, sink)
        return sink.getvalue(), version

    def write(self, key: str, data: bytes, *, durable: bool = True) -> str:
        """See ObjectStore.write. Each body carries its Content-MD5, so that the server refuses a damaged one."""
        del durable  # S3 answers only when an object is safe
        if len(data) > self.part_bytes:
            return self._write_in_parts(key, content_of_bytes(data))
        where, md5 = self._where(key), content_md5(data)
        answer = self._try("write", key, lambda _: self._client.put_object(**where, Body=data, ContentMD5=md5))
        return str(answer["ETag"])

    def write_file(self, key: str, path: Path, *, durable: bool = True) -> str:
        """See ObjectStore.write_file."""
        if path.stat().st_size <= self.part_bytes:
            return self.write(key, path.read_bytes(), durable=durable)
        with content_of_file(path) as content:
            return self._write_in_parts(key, content)

    def make_durable(self, keys: Iterable[str]) -> None:
        """See ObjectStore.make_durable; every object is, from its write on."""
        del keys

    def exists(self, key: str) -> bool:
        """See ObjectStore.exists."""
        return self._head(key) is not None

    def holds(self, key: str, sha256: str, size: int, version: str = "") -> bool:
        """See ObjectStore.holds; one HEAD request where the object still has the version of its write.

        An ETag changes with the content, and S3 guards what it stores by checksums of its own, so an equal ETag and
        size are proof. Other ETags prove nothing against an object (a copied bucket gives new ones): it is read then.
        """
        head = self._head(key)
        if head is None or head["ContentLength"] != size:
            return False
        if version and head["ETag"] == version:
            return True
        sink = HashSink()
        try:
            self._download(key, sink)
        except MissingObjectError:
            return False
        return sink.content == (sha256, size)

    def version(self, key: str) -> str | None:
        """See ObjectStore.version; the ETag."""
        head = self._head(key)
        return None if head is None else str(head["ETag"])

    def write_if_version(self, key: str, data: bytes, expected: str | None) -> str:
        """See ObjectStore.write_if_version; a PUT with If-Match or If-None-Match.

        A retried write whose first answer was lost is known by its content, so writers that must be told apart have to
        write different bytes.
        """
        where = self._where(key)
        try:
            return self._try("write", key, lambda attempt: put_if_version(self._client, where, data, expected, attempt))
        except MissingObjectError as error:
            raise ConflictError(f"{key} in {self.url} was deleted by somebody else") from error

    def delete(self, key: str) -> None:
        """See ObjectStore.delete."""
        where = self._where(key)
        self._try("delete", key, lambda _: self._client.delete_object(**where))

    def list_keys(self, prefix: str) -> Iterator[str]:
        """See ObjectStore.list_keys."""
        yield from sorted(key for key, _ in self._listed(prefix))

    def list_objects(self, prefix: str) -> Iterator[StoredObject]:
        """See ObjectStore.list_objects; a page at a time."""
        for key, entry in self._listed(prefix):
            yield StoredObject(key, int(entry["Size"]), entry["LastModified"].timestamp())

    def list_versions(self, prefix: str, most: int) -> Iterator[tuple[str, int, str]]:
        """See ObjectStore.list_versions."""
        for key, entry in itertools.islice(self._listed(prefix), most):
            yield key, int(entry["Size"]), str(entry["ETag"])

    def local_path(self, key: str) -> Path:
        """See ObjectStore.local_path; a copy in this machine's cache (local_copies.py), fetched once per version."""
        head = self._head(key)
        if head is None:
            raise MissingObjectError(f"there is no {key} in {self.url}")
        version, size = str(head["ETag"]), int(head["ContentLength"])

        def download(sink: BinaryIO) -> None:
            self.download_version(key, version, size, sink)

        identity = f"{self._client.meta.endpoint_url} {self.bucket} {self._base}{key} {version}"
        return LocalCopies.from_environment().path_of(identity, key, size, download)

    def download_version(self, key: str, version: str, size: int, sink: BinaryIO) -> None:
        """Writes this very version of an object (`size` in bytes) to an open file; raises StoreError if it is gone."""
        try:
            self._download_ranges(key, version, size, sink)
        except ConflictError as error:
            raise StoreError(f"{key} in {self.url} was replaced while it was read; run the command again") from error

    def remove_abandoned(self, age_s: float) -> int:
        """See ObjectStore.remove_abandoned; aborts unfinished uploads in parts, which S3 keeps and bills unseen."""
        limit = datetime.now(UTC) - timedelta(seconds=age_s)
        where = {"Bucket": self.bucket, "Prefix": self._base}
        marker: dict[str, str] = {}
        removed = 0
        while True:
            page = self._list_uploads(where | marker)
            for upload in page.get("Uploads", []):
                key = self._key_of(upload["Key"])
                if key and upload["Initiated"] <= limit:
                    self._abort(key, upload["UploadId"])
                    removed += 1
            if not page.get("IsTruncated"):
                return removed
            marker = {"KeyMarker": page["NextKeyMarker"], "UploadIdMarker": page["NextUploadIdMarker"]}

    @property
    def _client(self) -> Any:
        return s3_client(self.policy)

    def _where(self, key: str) -> dict[str, str]:
        return {"Bucket": self.bucket, "Key": self._base + check_key(key)}

    def _key_of(self, name: str) -> str | None:
        """The key of an S3 object's name; None where it is no key or another root's: not every server heeds Prefix."""
        key = name.removeprefix(self._base)
        return key if name.startswith(self._base) and is_key(key) else None

    def _try(self, verb: str, key: str, request: Callable[[int], T]) -> T:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return retry(request, self.policy, is_transient)
        except (ExhaustedError, BotoCoreError, ClientError) as error:
            raise explain(error, verb, key, self.url) from error

    def _head(self, key: str) -> Any:
        """The answer to a HEAD request, None where the object is absent."""
        where = self._where(key)
        try:
            return self._try("look up", key, lambda _: self._client.head_object(**where))
        except MissingObjectError:
            self._check_bucket()
            return None

    def _check_bucket(self) -> None:
        """Tells an absent bucket from an absent object, once: both answer a HEAD request with the same bare 404."""
        if self._bucket_seen:
            return
        try:
            self._try("look up", "the bucket", lambda _: self._client.head_bucket(Bucket=self.bucket))
        except MissingObjectError as error:
            raise StoreAccessError(f"there is no bucket {self.bucket}; create it or correct {self.url}") from error
        self._bucket_seen = True

    def _download(self, key: str, sink: Sink) -> str:
        where, download = self._where(key), Download(sink)
        return self._try("read", key, lambda _: download.attempt(self._client, where))

    def _download_ranges(self, key: str, version: str, size: int, sink: BinaryIO) -> None:
        """Fetches ranges of one version side by side; raises ConflictError where the object has another by now."""
        where, file = self._where(key), sink.fileno()

        def fetch(start: int) -> None:
            length = min(self.part_bytes, size - start)
            self._try("read", key, lambda _: download_range(self._client, where, version, start, length, file))

        with ThreadPoolExecutor(PARALLEL_PARTS) as pool:
            for _ in pool.map(fetch, range(0, size, self.part_bytes)):
                pass

    def _listed(self, prefix: str) -> Iterator[tuple[str, Any]]:
        """Keys below a prefix with what a listing says of each; names that no key has (folder markers) are left out."""
        below = self._base + (f"{check_key(prefix.rstrip('/'))}/" if prefix else "")
        token: dict[str, str] = {}
        while True:
            page = self._list_page(prefix, below, token)
            for entry in page.get("Contents", []):
                key = self._key_of(entry["Key"])
                if key:
                    yield key, entry
            if not page.get("IsTruncated"):
                return
            token = {"ContinuationToken": page["NextContinuationToken"]}

    def _list_page(self, prefix: str, below: str, token: dict[str, str]) -> Any:
        where = {"Bucket": self.bucket, "Prefix": below}
        return self._try("list", prefix or "all keys", lambda _: self._client.list_objects_v2(**where, **token))

    def _list_uploads(self, where: dict[str, str]) -> Any:
        return self._try("list", "unfinished uploads", lambda _: self._client.list_multipart_uploads(**where))

    def _abort(self, key: str, upload_id: str) -> None:
        where = self._where(key) | {"UploadId": upload_id}
        try:
            self._try("abort the upload of", key, lambda _: self._client.abort_multipart_upload(**where))
        except MissingObjectError:
            return  # it was finished or aborted in the meantime

    def _write_in_parts(self, key: str, content: Content) -> str:
        def attempt(verb: str, request: Callable[[int], Any]) -> Any:
            return self._try(verb, key, request)

        def abort(upload_id: str) -> None:
            self._abort(key, upload_id)

        version = upload_in_parts(self._client, self._where(key), content, self.part_bytes, attempt, abort)
        if version is None:
            raise StoreError(
                f"{key} in {self.url} is not what was uploaded ({content.size} bytes); run the command again"
            )
        return version

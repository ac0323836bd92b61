"""The shard cache: `cache/{stage}/{key}/` holds a shard's files and, written last, done.json (DESIGN §4).

A shard counts as done only if done.json reads well and every file it names has the recorded size and sha256. Output is
immutable: the key says all that decides it.

What is committed outlasts the death of any process at once, and a power cut a little later, when the system has written
it out: after one, a done.json without its data is found by that check and made again. So no shard waits for a disk.
What is published does: `publish` makes the files that a manifest names durable before the pointer moves.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from ray_tasks.ledger import Ledger
from ray_tasks.storage.shards import DoneRecord, content_key
from ray_tasks.storage.store import MissingObjectError, ObjectStore, StoreError
from ray_tasks.strict_json import parse_json

DATA_FILE = "data.parquet"
CHECK_FIELD: Final = "check"
"""In done.json: the digest of all the rest, so that a record changed in any way counts as none."""

LIST_FROM: Final = 50
"""Shards of a stage from which a listing is worth asking for."""

LISTED_EACH: Final = 10

FIND_TOGETHER: Final = 64
"""Shards that a thread looks up in one go."""


class CorruptShardError(StoreError):
    """A file of the cache is not what its done.json says."""


def table_bytes(table: pa.Table, *, dictionary: bool = True) -> bytes:
    """A table as zstd Parquet; equal tables give equal bytes. No `dictionary` for vectors: they never repeat."""
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd", use_dictionary=dictionary, write_statistics=dictionary)
    return buffer.getvalue()


class ShardCache:
    """Finished shards of a store."""

    def __init__(self, store: ObjectStore) -> None:
        self.store = store

    @staticmethod
    def prefix(stage: str, key: str) -> str:
        """The folder of a shard's output."""
        return f"cache/{stage}/{key}"

    def commit(
        self,
        stage: str,
        shard: str,
        key: str,
        files: Mapping[str, bytes | Path],
        *,
        rows: int,
        seconds: float,
        ledger: Ledger,
        extra: Mapping[str, Any] | None = None,
        tokens: int = 0,
    ) -> DoneRecord:
        """Writes the files (bytes, or where they lie on this machine), then done.json.

        Raises LedgerError before that where the books do not balance.
        """
        ledger.check(f"stage {stage}, shard {shard}")
        prefix = self.prefix(stage, key)
        contents, versions = {}, {}
        for name, content in files.items():
            contents[name] = _content(content)
            if isinstance(content, Path):
                version = self.store.write_file(f"{prefix}/{name}", content, durable=False)
            else:
                version = self.store.write(f"{prefix}/{name}", content, durable=False)
            if version != contents[name][0]:
                versions[name] = version
        record = DoneRecord(stage, shard, key, rows, seconds, ledger, contents, dict(extra or {}), tokens, versions)
        self.store.write(f"{prefix}/done.json", _record_bytes(record), durable=False)
        return record

    def find(self, stage: str, key: str, *, verify: bool = True) -> DoneRecord | None:
        """The record of a finished shard, or None where it is missing, unreadable or disagrees with its files.

        `verify` asks the store whether it still holds each file: a folder reads them in full; S3 is asked for size and
        ETag, as the write returned it, so that nothing is downloaded again.
        """
        return self._find(stage, key, verify, {})

    def _find(self, stage: str, key: str, verify: bool, listed: Mapping[str, tuple[int, str]]) -> DoneRecord | None:
        try:
            record = _parse_record(self.store.read(f"{self.prefix(stage, key)}/done.json"))
        except (MissingObjectError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        if (record.stage, record.key) != (stage, key):  # copied from elsewhere: its files are not those beside it
            return None
        if verify and not all(self._holds(record, name, listed) for name in record.files):
            return None
        return record

    def find_many(self, wanted: Iterable[tuple[str, str]], *, verify: bool = True) -> dict[tuple[str, str], DoneRecord]:
        """The records of those (stage, key) that are finished, as `find` sees them, in the order of `wanted`.

        Threads share the work, as many as the store is worth; each holds a part of one file at a time. Where listings
        tell versions they are asked first: a page of a thousand objects costs an S3 client some 40 single requests. A
        stage may hold many older keys, though, so a listing ends after LISTED_EACH objects for each shard wanted, which
        at worst is work for less than half of the requests that it could have saved; what it has not shown is asked for
        one by one.
        """
        shards = list(dict.fromkeys(wanted))
        listed = self._listed(shards) if verify else {}
        groups = [shards[start : start + FIND_TOGETHER] for start in range(0, len(shards), FIND_TOGETHER)]

        def look_up(group: list[tuple[str, str]]) -> list[DoneRecord | None]:
            return [self._find(stage, key, verify, listed) for stage, key in group]

        with ThreadPoolExecutor(self.store.parallel) as pool:
            found = [record for records in pool.map(look_up, groups) for record in records]
        return {shard: record for shard, record in zip(shards, found, strict=True) if record is not None}

    def read_file(self, record: DoneRecord, name: str) -> bytes:
        """A file of a finished shard; raises CorruptShardError where size or sha256 differ from the record.

        A file that is not what its version promised loses its done.json, for `find` would go on trusting the version.
        """
        prefix = self.prefix(record.stage, record.key)
        data = self.store.read(f"{prefix}/{name}")
        if _content(data) != record.files[name]:
            if name in record.versions:
                self.store.delete(f"{prefix}/done.json")
            raise CorruptShardError(
                f"{prefix}/{name} in {self.store.url} is damaged; run the build again, which makes it anew"
            )
        return data

    def read_table(self, record: DoneRecord, name: str = DATA_FILE) -> pa.Table:
        """A Parquet file of a finished shard, checked."""
        return pq.read_table(pa.BufferReader(self.read_file(record, name)))

    def _holds(self, record: DoneRecord, name: str, listed: Mapping[str, tuple[int, str]]) -> bool:
        sha, size = record.files[name]
        key = f"{self.prefix(record.stage, record.key)}/{name}"
        version = record.versions.get(name, "")
        return listed.get(key) == (size, version) or self.store.holds(key, sha, size, version)

    def _listed(self, shards: list[tuple[str, str]]) -> dict[str, tuple[int, str]]:
        """Size and version of the files of these shards, as far as a listing of their stages shows them."""
        stages: dict[str, set[str]] = {}
        for stage, key in shards:
            stages.setdefault(stage, set()).add(key)
        return {
            name: (size, version)
            for stage, keys in stages.items()
            if len(keys) >= LIST_FROM
            for name, size, version in self.store.list_versions(f"cache/{stage}", len(keys) * LISTED_EACH)
            if name.split("/")[2] in keys
        }


def _content(data: bytes | Path) -> tuple[str, int]:
    """The sha256 and the size in bytes."""
    if isinstance(data, Path):
        with data.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest(), data.stat().st_size
    return hashlib.sha256(data).hexdigest(), len(data)


def _record_bytes(record: DoneRecord) -> bytes:
    """A record as done.json; one line, which takes the encoder in C (an indented one takes ten times as long)."""
    body = json.loads(json.dumps(record.to_json()))
    return json.dumps({**body, CHECK_FIELD: content_key(body)}, ensure_ascii=False, sort_keys=True).encode()


def _parse_record(data: bytes) -> DoneRecord:
    """The inverse of _record_bytes; raises ValueError, KeyError, TypeError or AttributeError for anything else."""
    body = parse_json(data)
    if CHECK_FIELD in body and body.pop(CHECK_FIELD) != content_key(body):
        raise ValueError("the record is not what was written")
    return DoneRecord.from_json(body)

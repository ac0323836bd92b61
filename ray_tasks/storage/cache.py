"""The shard cache: `cache/{stage}/{key}/` holds a shard's files and, written last, done.json (DESIGN §4).

A shard counts as done only if done.json reads well and every file it names has the recorded size and sha256. Output is
immutable: the key says all that decides it.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ray_tasks.ledger import Ledger
from ray_tasks.storage.shards import DoneRecord
from ray_tasks.storage.store import MissingObjectError, ObjectStore, StoreError

DATA_FILE = "data.parquet"


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
        files: Mapping[str, bytes],
        *,
        rows: int,
        seconds: float,
        ledger: Ledger,
        extra: Mapping[str, Any] | None = None,
        tokens: int = 0,
    ) -> DoneRecord:
        """Writes the files, then done.json; raises LedgerError before that where the books do not balance."""
        ledger.check(f"stage {stage}, shard {shard}")
        prefix = self.prefix(stage, key)
        for name, data in files.items():
            self.store.write(f"{prefix}/{name}", data)
        sums = {name: (hashlib.sha256(data).hexdigest(), len(data)) for name, data in files.items()}
        record = DoneRecord(stage, shard, key, rows, seconds, ledger, sums, dict(extra or {}), tokens)
        text = json.dumps(record.to_json(), ensure_ascii=False, sort_keys=True, indent=1)
        self.store.write(f"{prefix}/done.json", text.encode())
        return record

    def find(self, stage: str, key: str, *, verify: bool = True) -> DoneRecord | None:
        """The record of a finished shard, or None where it is missing, unreadable or disagrees with its files."""
        try:
            record = DoneRecord.from_json(json.loads(self.store.read(f"{self.prefix(stage, key)}/done.json")))
            if verify:
                for name in record.files:
                    self.read_file(record, name)
        except (MissingObjectError, CorruptShardError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return record

    def read_file(self, record: DoneRecord, name: str) -> bytes:
        """A file of a finished shard; raises CorruptShardError where size or sha256 differ from the record."""
        key = f"{self.prefix(record.stage, record.key)}/{name}"
        data = self.store.read(key)
        sha, size = record.files[name]
        if len(data) != size or hashlib.sha256(data).hexdigest() != sha:
            raise CorruptShardError(f"{key} in {self.store.url} is damaged; the next build makes it again")
        return data

    def read_table(self, record: DoneRecord, name: str = DATA_FILE) -> pa.Table:
        """A Parquet file of a finished shard, checked."""
        return pq.read_table(pa.BufferReader(self.read_file(record, name)))

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from ray_tasks.ledger import Ledger, LedgerError
from ray_tasks.rows import OBSERVATION_SCHEMA, Observation, from_table, to_table
from ray_tasks.storage.cache import DATA_FILE, CorruptShardError, ShardCache, table_bytes
from ray_tasks.storage.shards import DoneRecord, Shard, content_key
from ray_tasks.storage.store import ObjectStore

TABLE = pa.table({"x": [1, 2, 3]})


@pytest.fixture
def cache(store: ObjectStore) -> ShardCache:
    return ShardCache(store)


def _commit(cache: ShardCache, key: str = "k1") -> DoneRecord:
    files = {DATA_FILE: table_bytes(TABLE)}
    ledger = Ledger(taken=4, done=3)
    ledger.filtered["empty"] += 1
    return cache.commit("extract", "W/DAY1/09", key, files, rows=3, seconds=0.5, ledger=ledger, extra={"tail": "t"})


def test_a_committed_shard_is_found_with_its_books(cache: ShardCache) -> None:
    record = _commit(cache)
    found = cache.find("extract", "k1")
    assert found == record
    assert found is not None and found.ledger.filtered["empty"] == 1
    assert cache.read_table(found).equals(TABLE)


def test_nothing_is_found_under_another_key_or_stage(cache: ShardCache) -> None:
    _commit(cache)
    assert cache.find("extract", "k2") is None
    assert cache.find("embed", "k1") is None


def test_books_that_do_not_balance_leave_no_done_record(cache: ShardCache) -> None:
    with pytest.raises(LedgerError, match=r"extract.*W/DAY1/09.*1 of 2"):
        cache.commit("extract", "W/DAY1/09", "k", {}, rows=1, seconds=0, ledger=Ledger(taken=2, done=1))
    assert cache.find("extract", "k") is None


@pytest.mark.parametrize("damage", ["truncated", "changed", "missing"])
def test_data_that_disagrees_with_its_record_counts_as_not_done(cache: ShardCache, damage: str) -> None:
    record = _commit(cache)
    key = f"cache/extract/k1/{DATA_FILE}"
    data = cache.store.read(key)
    if damage == "missing":
        cache.store.delete(key)
    else:
        cache.store.write(key, data[:-5] if damage == "truncated" else data[:-1] + bytes([data[-1] ^ 1]))
        with pytest.raises(CorruptShardError, match="k1"):
            cache.read_table(record)
    assert cache.find("extract", "k1") is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"stage": "extract"}'])
def test_an_unreadable_done_record_counts_as_not_done(cache: ShardCache, text: str) -> None:
    _commit(cache)
    cache.store.write("cache/extract/k1/done.json", text.encode())
    assert cache.find("extract", "k1") is None


def test_data_without_a_done_record_counts_as_not_done(cache: ShardCache) -> None:
    cache.store.write(f"cache/extract/k9/{DATA_FILE}", table_bytes(TABLE))
    assert cache.find("extract", "k9") is None


def test_equal_tables_give_equal_bytes_and_digests(cache: ShardCache) -> None:
    assert table_bytes(TABLE) == table_bytes(pa.table({"x": pa.chunked_array([[1, 2, 3]])}))
    assert _commit(cache, "a").digest == _commit(cache, "b").digest


def test_a_column_of_nulls_reads_like_any_other() -> None:
    def row(speaker: str | None) -> Observation:
        return Observation("B1_MARA", 1, 0, 1000, "speech", speaker, "Hello.", "en", "f.srt#1")

    first = to_table([row(None), row(None)], OBSERVATION_SCHEMA)
    second = to_table([row("Tobi")], OBSERVATION_SCHEMA)
    speakers = [entry.speaker for entry in from_table(pa.concat_tables([first, second]), Observation)]
    assert speakers == [None, None, "Tobi"]


def test_keys_depend_on_every_part_and_its_place() -> None:
    base = content_key("model-a", 0.0, 1, "P1", "prompt")
    others = [
        content_key("model-b", 0.0, 1, "P1", "prompt"),
        content_key("model-a", 0.7, 1, "P1", "prompt"),
        content_key("model-a", 0.0, 2, "P1", "prompt"),
        content_key("model-a", 0.0, 1, "P2", "prompt"),
        content_key("model-a", 0.0, 1, "P1", "prompt edited"),
        content_key("model-a", 0.0, 1, "prompt", "P1"),
    ]
    assert len({base, *others}) == 7
    assert content_key("model-a", 0.0, 1, "P1", "prompt") == base


@pytest.mark.parametrize("text", ["B1_MARA/DAY3/06", "B1_MARA/DAY12", "B1_MARA"])
def test_shards_are_written_and_read_alike(text: str) -> None:
    assert str(Shard.parse(text)) == text


def test_records_survive_json(cache: ShardCache) -> None:
    record = _commit(cache)
    assert DoneRecord.from_json(json.loads(json.dumps(record.to_json()))) == record

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from ray_tasks.ledger import Ledger, LedgerError
from ray_tasks.rows import OBSERVATION_SCHEMA, Observation, from_table, to_table
from ray_tasks.storage.cache import DATA_FILE, FIND_TOGETHER, CorruptShardError, ShardCache, table_bytes
from ray_tasks.storage.s3 import S3Store
from ray_tasks.storage.shards import DoneRecord, Shard, content_key
from ray_tasks.storage.store import ObjectStore
from tests.storage.faulty_proxy import FaultyProxy
from tests.test_strict_json import MALFORMED

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


@pytest.mark.parametrize("data", [*MALFORMED.values(), b"[]", b"null", b"{}", b'{"stage": "extract"}'])
def test_an_unreadable_done_record_counts_as_not_done(cache: ShardCache, data: bytes) -> None:
    _commit(cache)
    cache.store.write("cache/extract/k1/done.json", data)
    assert cache.find("extract", "k1") is None
    assert cache.find_many([("extract", "k1")]) == {}


@pytest.mark.parametrize("field", ["rows", "seconds", "ledger", "files", "extra", "shard", "tokens"])
@pytest.mark.parametrize("value", [None, -1, "x", [], {}, {"a": [1]}])
def test_a_done_record_that_was_changed_counts_as_not_done(cache: ShardCache, field: str, value: object) -> None:
    _commit(cache)
    record = json.loads(cache.store.read("cache/extract/k1/done.json"))
    cache.store.write("cache/extract/k1/done.json", json.dumps({**record, field: value}).encode())
    assert cache.find("extract", "k1", verify=False) is None


def test_a_done_record_that_was_copied_from_elsewhere_counts_as_not_done(cache: ShardCache) -> None:
    _commit(cache, "k1")
    for name in ("done.json", DATA_FILE):
        cache.store.write(f"cache/extract/k2/{name}", cache.store.read(f"cache/extract/k1/{name}"))
    assert cache.find("extract", "k2") is None


def test_a_record_without_its_check_is_taken_as_it_is(cache: ShardCache) -> None:
    record = _commit(cache)
    body = json.loads(cache.store.read("cache/extract/k1/done.json"))
    del body["check"]
    cache.store.write("cache/extract/k1/done.json", json.dumps(body).encode())
    assert cache.find("extract", "k1") == record


def test_many_shards_are_found_in_the_order_asked_for(cache: ShardCache) -> None:
    records = {key: _commit(cache, key) for key in ("a", "b", "c")}
    wanted = [("extract", key) for key in ("c", "gone", "a", "c", "b")]
    found = cache.find_many(iter(wanted))
    assert list(found.items()) == [(("extract", key), records[key]) for key in ("c", "a", "b")]
    assert cache.find_many([]) == {}


@pytest.mark.parametrize("damage", ["truncated", "changed", "missing"])
def test_of_many_shards_the_damaged_are_left_out(cache: ShardCache, damage: str) -> None:
    keys = [f"k{number}" for number in range(FIND_TOGETHER + 3)]
    for key in keys:
        _commit(cache, key)
    path = f"cache/extract/k7/{DATA_FILE}"
    data = cache.store.read(path)
    if damage == "missing":
        cache.store.delete(path)
    else:
        cache.store.write(path, data[:-5] if damage == "truncated" else data[:-1] + bytes([data[-1] ^ 1]))
    found = cache.find_many([("extract", key) for key in keys])
    assert [key for _, key in found] == [key for key in keys if key != "k7"]
    assert len(cache.find_many([("extract", key) for key in keys], verify=False)) == len(keys)


def test_a_file_on_this_machine_is_committed_like_its_bytes(cache: ShardCache, tmp_path: Path) -> None:
    data = table_bytes(TABLE)
    (tmp_path / "large").write_bytes(data)
    books = Ledger(taken=3, done=3)
    record = cache.commit("index", "W", "p", {"large": tmp_path / "large"}, rows=3, seconds=0, ledger=books)
    same = cache.commit("index", "W", "q", {"large": data}, rows=3, seconds=0, ledger=books)
    assert record.digest == same.digest
    assert cache.read_file(record, "large") == data
    assert cache.find("index", "p") == record


def test_versions_are_no_part_of_the_content(cache: ShardCache) -> None:
    record = _commit(cache)
    assert bool(record.versions) == isinstance(cache.store, S3Store)
    assert replace(record, versions={}).digest == record.digest
    assert DoneRecord.from_json(json.loads(json.dumps(record.to_json()))).versions == record.versions


def test_a_resume_on_s3_downloads_no_data(s3_store: S3Store, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ShardCache(s3_store)
    wanted = [("extract", key) for key in ("a", "b", "c")]
    for _, key in wanted:
        _commit(cache, key)
    with FaultyProxy(os.environ["AWS_ENDPOINT_URL_S3"], lambda _: None) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", proxy.url)
        assert list(cache.find_many(wanted)) == wanted
        assert not [path for method, path, _ in proxy.seen if method == "GET" and DATA_FILE in path]


def test_objects_of_a_copied_bucket_have_new_versions_and_are_believed_after_reading(s3_store: S3Store) -> None:
    cache = ShardCache(s3_store)
    record = _commit(cache)
    moved = {**record.to_json(), "files": {DATA_FILE: {**record.to_json()["files"][DATA_FILE], "version": '"old"'}}}
    s3_store.write("cache/extract/k1/done.json", json.dumps(moved).encode())
    found = cache.find("extract", "k1")
    assert found is not None and found.files == record.files
    data = s3_store.read(f"cache/extract/k1/{DATA_FILE}")
    s3_store.write(f"cache/extract/k1/{DATA_FILE}", data[:-1] + bytes([data[-1] ^ 1]))
    assert cache.find("extract", "k1") is None


def test_damage_that_a_version_hides_is_made_again_once_a_reader_has_met_it(s3_store: S3Store) -> None:
    cache = ShardCache(s3_store)
    record = _commit(cache)
    key = f"cache/extract/k1/{DATA_FILE}"
    data = s3_store.read(key)
    version = s3_store.write(key, data[:-1] + bytes([data[-1] ^ 1]))
    lying = {**record.to_json(), "files": {DATA_FILE: {**record.to_json()["files"][DATA_FILE], "version": version}}}
    s3_store.write("cache/extract/k1/done.json", json.dumps(lying).encode())
    found = cache.find("extract", "k1")
    assert found is not None
    with pytest.raises(CorruptShardError, match="run the build again"):
        cache.read_table(found)
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

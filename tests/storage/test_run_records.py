"""Records of runs on either store, whole and damaged."""

from __future__ import annotations

import json
import time

import pytest

from ray_tasks.scheduling.run_log import RunLog
from ray_tasks.storage.run_records import (
    LATEST_KEY,
    OPEN,
    Attempt,
    DamagedRunError,
    open_runs,
    read_failures,
    read_run,
    run_key,
    running_shards,
)
from ray_tasks.storage.store import LocalStore, ObjectStore

DAMAGED = [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"run_id": 3}', b'{"waves": {}}']


def test_a_record_is_read_from_either_store(store: ObjectStore) -> None:
    with RunLog(store, {"corpus": "c"}) as run:
        run.begin_wave("observe", 3, 1)
        run.flush()
        begun, notes = open_runs(store)
        assert ([found.run_id for found in begun], notes) == ([run.run_id], [])
        note = Attempt(shard="B1_MARA/DAY1/09", since=time.time(), host="node-1")
        store.write(run_key(run.run_id, "attempts/observe/k"), note.model_dump_json().encode())
        assert [(found.stage, found.shard) for found in running_shards(store, run.run_id)] == [
            ("observe", "B1_MARA/DAY1/09")
        ]
    latest = read_run(store)
    assert latest is not None
    assert latest == read_run(store, run.run_id)
    assert read_run(store, "another") is None


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_record_is_named_and_stops_nobody(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    store = LocalStore(tmp_path_factory.mktemp("root"))
    with RunLog(store, {}) as run:
        run.flush()
    whole = read_run(store)
    assert whole is not None
    store.write(run_key(run.run_id, "failures.json"), content)
    with pytest.raises(DamagedRunError, match=r"failures\.json"):
        read_failures(store, whole)
    store.write(f"{OPEN}/{run.run_id}", b"{}")
    store.write(run_key(run.run_id), content)
    with pytest.raises(DamagedRunError, match=r"run\.json.*unharmed"):
        read_run(store)
    begun, notes = open_runs(store)
    assert begun == []
    assert len(notes) == 1
    store.write(run_key(run.run_id, "attempts/observe/k"), content)
    assert running_shards(store, run.run_id) == []
    store.write(LATEST_KEY, content)
    if content != b'{"run_id": 3}':  # names a run that is not there
        with pytest.raises(DamagedRunError, match=r"latest\.json"):
            read_run(store)
    with RunLog(store, {}) as next_run:
        pass
    latest = read_run(store)
    assert latest is not None and latest.run_id == next_run.run_id


def test_fields_of_a_later_version_are_left_aside(tmp_path_factory: pytest.TempPathFactory) -> None:
    store = LocalStore(tmp_path_factory.mktemp("root"))
    with RunLog(store, {}) as run:
        pass
    data = json.loads(store.read(run_key(run.run_id))) | {"colour": "green"}
    store.write(run_key(run.run_id), json.dumps(data).encode())
    assert read_run(store) is not None

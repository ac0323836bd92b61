"""What a collection takes away and, above all, what it must never take."""

from __future__ import annotations

import json
import os
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ray_tasks.errors import UsageError
from ray_tasks.ledger import Ledger
from ray_tasks.scheduling.run_log import RunLog
from ray_tasks.storage.cache import ShardCache
from ray_tasks.storage.collecting import (
    COLLECTING_KEY,
    Collecting,
    CollectionRunningError,
    collecting,
    refuse_during_collection,
)
from ray_tasks.storage.manifests import (
    TIMESTAMP_FORMAT,
    Manifest,
    WearerEntry,
    manifest_key,
    publish,
    read_manifest,
    read_pointer,
    timestamp,
    write_manifest,
)
from ray_tasks.storage.processes import process_started, this_machine
from ray_tasks.storage.retention import Collected, collect_garbage
from ray_tasks.storage.retention_runs import RunningBuildError
from ray_tasks.storage.run_records import OPEN, Holder, RunRecord, is_alive, read_run, run_key
from ray_tasks.storage.store import ConflictError, LocalStore, MissingObjectError, ObjectStore, StoreError

HOURS = 3600.0


@pytest.fixture
def folder(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


def _manifest(store: ObjectStore, night: int) -> Manifest:
    """A memory, not published, whose index and one hour are its own, beside an hour that all nights share."""
    cache = ShardCache(store)
    for stage, key in (("index", f"i{night}"), ("caption", f"c{night}"), ("caption", "shared")):
        cache.commit(stage, "W", key, {"data": str(night).encode()}, rows=0, seconds=0, ledger=Ledger())
    shards = {"caption": {"W/DAY1/09": "shared", "W/DAY1/10": f"c{night}"}}
    entry = WearerEntry("W", "W", {"data": (f"cache/index/i{night}/data", "s")}, {}, {}, shards)
    return Manifest({"W": entry}, "m", "m", timestamp())


def _publish(store: ObjectStore, night: int) -> Manifest:
    manifest = _manifest(store, night)
    publish(store, manifest, read_pointer(store))
    return manifest


def _run(run_id: str = "r1", **changes: Any) -> RunRecord:
    holder = Holder(
        user="u", host="here", pid=os.getpid(), machine=this_machine(), pid_started=process_started(os.getpid())
    )
    now = timestamp()
    record = RunRecord(run_id=run_id, state="running", holder=holder, started=now, updated=now, progressed=now)
    return record.model_copy(update=changes)


def _ago(seconds: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).strftime(TIMESTAMP_FORMAT)


def _write_run(store: ObjectStore, run: RunRecord, *, begun: bool = True) -> None:
    store.write(run_key(run.run_id), run.model_dump_json().encode())
    if begun:
        store.write(f"{OPEN}/{run.run_id}", b"{}")


def _age(store: LocalStore, prefix: str, hours: float) -> None:
    then = time.time() - hours * HOURS
    for key in store.list_keys(prefix):
        os.utime(store.root / key, (then, then))


def _elsewhere(heard_s: float) -> RunRecord:
    holder = Holder(user="u", host="elsewhere", pid=os.getpid(), machine="another kernel", pid_started=1)
    return _run(holder=holder, updated=_ago(heard_s))


def _collect(store: ObjectStore, keep: int, **options: Any) -> Collected:
    return collect_garbage(store, keep, **{"grace_s": 0, **options})


def test_the_latest_memories_and_all_they_need_stay(store: ObjectStore) -> None:
    nights = [_publish(store, night) for night in range(4)]
    store.write(f"memories/{nights[0].memory_id}/statistics.json", b"{}")
    time.sleep(1.1)  # S3 knows the times of objects to the second
    collected = _collect(store, 2)
    assert collected.kept_memories == (nights[3].memory_id, nights[2].memory_id)
    assert set(collected.removed_memories) == {nights[0].memory_id, nights[1].memory_id}
    assert collected.removed_shards == 4
    assert collected.freed_bytes > 0
    assert read_manifest(store, nights[2].memory_id) == nights[2]
    with pytest.raises(MissingObjectError):
        read_manifest(store, nights[0].memory_id)
    left = {key.rsplit("/", 1)[0] for key in store.list_keys("cache")}
    assert left == {f"cache/{name}" for name in ("caption/shared", "caption/c2", "caption/c3", "index/i2", "index/i3")}
    assert not [key for key in store.list_keys("memories") if nights[0].memory_id in key]
    pointer = read_pointer(store)
    assert pointer is not None
    assert (pointer.memory_id, pointer.history) == (nights[3].memory_id, (nights[2].memory_id,))
    assert not store.exists(COLLECTING_KEY)


def test_a_dry_run_counts_the_same_and_changes_nothing(folder: LocalStore) -> None:
    for night in range(3):
        _publish(folder, night)
    before = {key: folder.read(key) for key in folder.list_keys("")}
    dry = _collect(folder, 1, dry_run=True)
    assert {key: folder.read(key) for key in folder.list_keys("")} == before
    wet = _collect(folder, 1)
    assert vars(dry) == vars(wet)
    assert wet.removed_shards == 4


def test_replies_of_language_models_go_when_they_are_old_whatever_is_kept(folder: LocalStore) -> None:
    _publish(folder, 0)
    for name in ("aa/old", "bb/young"):
        folder.write(f"replies/{name}.json", b"{}")
    _age(folder, "replies/aa", 24 * 31)
    _age(folder, "replies/bb", 24 * 29)
    assert _collect(folder, 1, dry_run=True).removed_replies == 1
    assert _collect(folder, 1).removed_replies == 1
    assert (folder.exists("replies/aa/old.json"), folder.exists("replies/bb/young.json")) == (False, True)


def test_collecting_twice_finds_nothing_more(folder: LocalStore) -> None:
    for night in range(3):
        _publish(folder, night)
    _collect(folder, 1)
    again = _collect(folder, 2)
    assert (again.removed_memories, again.removed_shards, again.freed_bytes) == ([], 0, 0)


def test_shards_of_a_killed_build_stay_for_the_next_one_until_they_are_old(folder: LocalStore) -> None:
    _publish(folder, 0)
    folder.write("cache/extract/half/data.parquet", b"x")
    collected = _collect(folder, 1, grace_s=48 * HOURS)
    assert (collected.removed_shards, collected.spared_shards) == (0, 1)
    _age(folder, "cache/extract", 49)
    assert _collect(folder, 1, grace_s=48 * HOURS).removed_shards == 1
    assert not folder.exists("cache/extract/half/data.parquet")


def test_an_old_shard_that_a_kept_memory_names_stays(folder: LocalStore) -> None:
    manifest = _publish(folder, 0)
    _age(folder, "", 24 * 365)
    assert _collect(folder, 1).removed_shards == 0
    assert folder.exists(manifest.wearers["W"].files["data"][0])


def test_a_memory_that_was_not_published_stays_while_it_is_young(folder: LocalStore) -> None:
    """For example one that did not pass its gates, which a person may still publish."""
    _publish(folder, 0)
    refused = _manifest(folder, 1)
    write_manifest(folder, refused)
    _age(folder, "cache", 100)
    kept = _collect(folder, 1, grace_s=48 * HOURS)
    assert refused.memory_id in kept.kept_memories
    assert kept.removed_shards == 0
    _age(folder, "memories", 100)
    assert _collect(folder, 1, grace_s=48 * HOURS).removed_memories == [refused.memory_id]
    assert not folder.exists("cache/index/i1/data")


@pytest.mark.parametrize("quiet_s", [None, 5, 50 * 60], ids=["here", "elsewhere", "out of touch"])
def test_nothing_is_taken_while_any_build_is_at_work(folder: LocalStore, quiet_s: float | None) -> None:
    _publish(folder, 0)
    folder.write("cache/extract/new/data.parquet", b"x")
    # Made here, not where the cases are listed: a long run of tests would let its heartbeat grow old.
    _write_run(folder, _run() if quiet_s is None else _elsewhere(quiet_s))
    _write_run(folder, _run("r2", state="finished"))
    folder.write("runs/latest.json", json.dumps({"run_id": "r2"}).encode())
    with pytest.raises(RunningBuildError, match="nothing was removed"):
        _collect(folder, 1)
    assert folder.exists("cache/extract/new/data.parquet")
    assert not folder.exists(COLLECTING_KEY)


def test_a_build_that_died_forbids_nothing(folder: LocalStore) -> None:
    _publish(folder, 0)
    _write_run(folder, _elsewhere(2 * HOURS))
    folder.write(run_key("r1", "attempts/extract/k"), b"1")
    _collect(folder, 1)
    assert not folder.exists(f"{OPEN}/r1")
    assert not folder.exists(run_key("r1", "attempts/extract/k"))


def test_a_number_that_was_given_to_another_process_does_not_look_alive() -> None:
    assert is_alive(_run())
    own = _run().holder
    assert not is_alive(_run(holder=own.model_copy(update={"pid_started": (own.pid_started or 0) - 1})))
    assert not is_alive(_run(holder=own.model_copy(update={"pid": 2**22 + 1})))
    # The same number on another kernel, or in another container, says nothing: its heartbeat does.
    other = own.model_copy(update={"machine": "another boot", "pid": 2**22 + 1})
    assert is_alive(_run(holder=other))
    assert not is_alive(_run(holder=other, updated=_ago(4 * HOURS)))
    assert is_alive(_run(holder=other, updated=_ago(-600))), "its clock is ahead of ours"
    assert not is_alive(_run(holder=other, updated="yesterday"))
    assert not is_alive(_run(state="finished"))


def test_a_damaged_record_of_an_open_run_forbids_until_it_is_old(folder: LocalStore) -> None:
    _publish(folder, 0)
    _write_run(folder, _run())
    folder.write(run_key("r1"), b'{"run_id": ')
    with pytest.raises(RunningBuildError, match="damaged"):
        _collect(folder, 1)
    _age(folder, "runs", 2)
    _collect(folder, 1)
    assert not folder.exists(f"{OPEN}/r1")


@pytest.mark.parametrize("which", ["current", "kept"])
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", None])
def test_where_a_kept_manifest_cannot_be_read_nothing_goes(
    folder: LocalStore, which: str, content: bytes | None
) -> None:
    nights = [_publish(folder, night) for night in range(3)]
    folder.write("cache/extract/junk/data.parquet", b"x")
    key = manifest_key(nights[2 if which == "current" else 1].memory_id)
    if content is None:
        folder.delete(key)
    else:
        folder.write(key, content)
    if content is None and which == "kept":
        _collect(folder, 2)  # an earlier collection removed it: the one before takes its place
        assert folder.exists("cache/index/i0/data")
        return
    with pytest.raises(StoreError):
        _collect(folder, 2)
    assert folder.exists("cache/extract/junk/data.parquet")
    assert folder.exists(manifest_key(nights[0].memory_id))
    assert not folder.exists(COLLECTING_KEY)


def test_a_damaged_manifest_that_is_not_kept_is_removed(folder: LocalStore) -> None:
    nights = [_publish(folder, night) for night in range(3)]
    folder.write(manifest_key(nights[0].memory_id), b"{")
    assert nights[0].memory_id in _collect(folder, 1).removed_memories


def test_a_damaged_pointer_is_named_and_nothing_goes(folder: LocalStore) -> None:
    _publish(folder, 0)
    folder.write("current.json", b"{")
    before = set(folder.list_keys("cache"))
    with pytest.raises(StoreError, match=r"current\.json"):
        _collect(folder, 1)
    assert set(folder.list_keys("cache")) == before


def test_who_decided_before_a_collection_cannot_publish_after_it(store: ObjectStore) -> None:
    """A build taken for dead, or a rollback, whose memory's shards may be gone by now."""
    old = _publish(store, 0)
    _publish(store, 1)
    seen = read_pointer(store)
    _collect(store, 1)
    with pytest.raises(ConflictError):
        publish(store, old, seen)


def test_a_build_that_begins_during_a_collection_waits_for_its_end(folder: LocalStore) -> None:
    said: list[str] = []
    done = threading.Event()
    entered: list[bool] = []

    def build() -> None:
        with RunLog(folder, {}, say=said.append):
            entered.append(done.is_set())

    with collecting(folder, os.getpid()):
        thread = threading.Thread(target=build)
        thread.start()
        limit = time.monotonic() + 60
        while not said and time.monotonic() < limit:
            time.sleep(0.01)
        assert not entered
        done.set()
    thread.join(60)
    assert entered == [True]
    assert "gc" in said[0]


def test_a_collection_that_begins_after_a_build_gives_way(folder: LocalStore) -> None:
    _publish(folder, 0)
    with RunLog(folder, {}), pytest.raises(RunningBuildError):
        _collect(folder, 1)
    _collect(folder, 1)


def test_two_collections_do_not_meet(folder: LocalStore) -> None:
    _publish(folder, 0)
    with collecting(folder, os.getpid()), pytest.raises(CollectionRunningError, match="gc"):
        _collect(folder, 1)
    refuse_during_collection(folder)


def test_of_two_collections_that_begin_together_one_gives_way(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    _publish(store, 0)
    first = Collecting(store, os.getpid())
    # The other one has looked and seen nothing when the first one writes.
    monkeypatch.setattr("ray_tasks.storage.collecting.refuse_during_collection", lambda _: first.refresh())
    with pytest.raises(CollectionRunningError, match="just begun"):
        _collect(store, 1)
    assert store.exists(COLLECTING_KEY)


def test_a_collection_that_was_killed_holds_nobody_up(folder: LocalStore) -> None:
    marker = {"machine": "another", "pid": 1, "pid_started": 1, "updated": _ago(2 * HOURS), "host": "h"}
    for content in (json.dumps(marker), json.dumps(marker | {"machine": this_machine()}), "{", "[]", "{}"):
        folder.write(COLLECTING_KEY, content.encode())
        refuse_during_collection(folder)
    folder.write(COLLECTING_KEY, json.dumps(marker | {"updated": timestamp()}).encode())
    with pytest.raises(CollectionRunningError):
        refuse_during_collection(folder)


def test_records_of_runs_older_than_the_kept_memories_go(folder: LocalStore) -> None:
    _publish(folder, 0)
    kept = _publish(folder, 1)
    long_ago = "2020-01-01T00:00:00Z"
    _write_run(folder, _run("old", state="failed", started=long_ago), begun=False)
    folder.write(run_key("old", "failures.json"), b"{}")
    made_it = _run("made-it", state="finished", started=long_ago, memory_id=kept.memory_id)
    _write_run(folder, made_it, begun=False)
    folder.write(run_key("made-it", "attempts/extract/k"), b"1")
    _write_run(folder, _run("latest", state="failed", started=long_ago), begun=False)
    folder.write("runs/latest.json", b'{"run_id": "latest"}')
    _age(folder, "runs", 1)
    collected = _collect(folder, 1)
    assert collected.removed_runs == 1
    assert not list(folder.list_keys("runs/old"))
    assert read_run(folder, "made-it") == made_it
    assert not folder.exists(run_key("made-it", "attempts/extract/k"))
    assert read_run(folder, "latest") is not None
    assert folder.exists("runs/latest.json")


def test_probes_of_preflights_that_were_killed_go(folder: LocalStore) -> None:
    _publish(folder, 0)
    folder.write("preflight/abc", b"x")
    assert _collect(folder, 1, grace_s=HOURS).removed_probes == 0
    assert _collect(folder, 1).removed_probes == 1
    assert not folder.exists("preflight/abc")


def test_evaluations_stay(folder: LocalStore) -> None:
    _publish(folder, 0)
    folder.write("evaluations/e/answers.parquet", b"x")
    _age(folder, "", 24 * 365)
    _collect(folder, 1)
    assert folder.exists("evaluations/e/answers.parquet")


def test_keeping_nothing_is_refused(folder: LocalStore) -> None:
    with pytest.raises(UsageError, match="no published memory"):
        _collect(folder, 1)
    assert not list(folder.list_keys(""))
    _publish(folder, 0)
    with pytest.raises(UsageError, match="--keep 0"):
        _collect(folder, 0)
    with pytest.raises(UsageError, match="--grace-hours"):
        _collect(folder, 1, grace_s=-1)

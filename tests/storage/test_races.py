"""Publishers in processes of their own, round after round: one of them wins, and what it published is whole."""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection

from ray_tasks.ledger import Ledger
from ray_tasks.storage.cache import ShardCache
from ray_tasks.storage.manifests import LostRaceError, Manifest, WearerEntry, publish, read_manifest, read_pointer
from ray_tasks.storage.s3 import S3Store
from ray_tasks.storage.store import ObjectStore, open_store
from ray_tasks.storage.wholeness import damaged_files
from tests.storage.s3_server import FAST

ROUNDS = 12
RACERS = 2


def _memory(store: ObjectStore, round_number: int, racer: int) -> Manifest:
    """A memory of two files that only this racer makes in this round."""
    files = {name: f"{name} {round_number} {racer}".encode() for name in ("action.faiss", "action.rows")}
    record = ShardCache(store).commit(
        "index", "B1_MARA", f"k{round_number}-{racer}", files, rows=1, seconds=0, ledger=Ledger(taken=1, done=1),
        extra={"counts": {}, "day_bounds": {}},
    )  # fmt: skip
    return Manifest({"B1_MARA": WearerEntry.from_index(record, {"caption": {}})}, "m", "m")


def _race(url: str, racer: int, link: Connection) -> None:
    """Round by round: sees the pointer, says so, publishes at the signal, and says what became of it."""
    store = S3Store(url, FAST) if url.startswith("s3://") else open_store(url)
    for number in range(ROUNDS):
        manifest = _memory(store, number, racer)
        seen = read_pointer(store)
        link.send("ready")
        link.recv()
        try:
            publish(store, manifest, seen)
            link.send((True, manifest.memory_id, ""))
        except LostRaceError as error:
            link.send((False, manifest.memory_id, str(error)))


def test_of_racing_publishers_one_wins_every_round(store: ObjectStore) -> None:
    context = multiprocessing.get_context("spawn")
    links, processes = [], []
    for racer in range(RACERS):
        mine, theirs = context.Pipe()
        processes.append(context.Process(target=_race, args=(store.url, racer, theirs), daemon=True))
        links.append(mine)
        processes[-1].start()
    history: list[str] = []
    for _ in range(ROUNDS):
        assert [link.recv() for link in links] == ["ready"] * RACERS
        for link in links:
            link.send("go")
        outcomes = [link.recv() for link in links]
        winners = [memory_id for won, memory_id, _ in outcomes if won]
        losers = [(memory_id, message) for won, memory_id, message in outcomes if not won]
        assert len(winners) == 1
        pointer = read_pointer(store)
        assert pointer is not None and pointer.memory_id == winners[0]
        assert pointer.history == tuple(history)
        for memory_id, message in losers:
            assert f"made memory {winners[0]} the current one" in message
            assert damaged_files(store, read_manifest(store, memory_id)) == []
        assert damaged_files(store, read_manifest(store, winners[0])) == []
        history.insert(0, winners[0])
    for process in processes:
        process.join(30)
        assert process.exitcode == 0

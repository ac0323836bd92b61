from __future__ import annotations

from ray_tasks.ledger import Ledger
from ray_tasks.scheduling.planning import atom_tasks, caption_tasks
from ray_tasks.scheduling.tasks import Finished
from ray_tasks.storage.shards import DoneRecord, Shard


def _record(stage: str, shard: str, sha: str, **extra: object) -> Finished:
    return Finished.of(DoneRecord(stage, shard, f"key-{sha}", 1, 0.0, Ledger(), {"data.parquet": (sha, 1)}, extra))


def test_captions_are_made_for_every_hour_that_rows_land_in() -> None:
    early = _record("observe", "W/DAY1/23", "a", touches={"W/DAY1/23": "d1", "W/DAY2/00": "d2"})
    late = _record("observe", "W/DAY2/00", "b", touches={"W/DAY2/00": "d3"})
    tasks = caption_tasks({Shard("W", 1, 23): early, Shard("W", 2, 0): late})
    inputs = {str(task.shard): task.inputs["rows"] for task in tasks}
    assert inputs == {
        "W/DAY1/23": [["observe", "key-a"]],
        "W/DAY2/00": [["observe", "key-a"], ["observe", "key-b"]],
    }


def test_the_halo_crosses_midnight_and_is_part_of_the_key() -> None:
    def keys(tail: str | None) -> set[str]:
        captions = {
            Shard("W", 1, 23): _record("caption", "W/DAY1/23", "a", tail=tail),
            Shard("W", 2, 0): _record("caption", "W/DAY2/00", "b", tail=None),
        }
        tasks = [task for task in atom_tasks(captions, engine="rules", version="1") if task.shard.day == 2]
        assert [task.inputs["halo"] for task in tasks] == ([["caption", "key-a"]] * 2 if tail else [None] * 2)
        return {task.key for task in tasks}

    assert keys("t1") != keys("t2") != keys(None)


def test_another_engine_or_version_gives_other_keys() -> None:
    captions = {Shard("W", 1, 9): _record("caption", "W/DAY1/09", "a", tail=None)}
    variants = [("rules", "1"), ("rules", "2"), ("other", "1")]
    keys = [task.key for engine, version in variants for task in atom_tasks(captions, engine=engine, version=version)]
    assert len(set(keys)) == len(keys) == 6

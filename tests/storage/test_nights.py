"""What a night leaves in the store, and what the next one finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ray_tasks.storage.nights import LATEST_KEY, read_previous_night, write_night
from ray_tasks.storage.store import LocalStore


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


def summary(night: str, *, evaluated: bool = True) -> dict[str, Any]:
    evaluations = {"B1_MARA": {"hit": 90.0}} if evaluated else {}
    return {"night": night, "evaluations": evaluations, "wearers": {}, "seconds": {}, "memory_id": "m"}


def test_the_first_night_has_none_before_it(store: LocalStore) -> None:
    found, why = read_previous_night(store)
    assert found is None and "no earlier night" in why


def test_a_night_is_found_by_the_next_as_it_was_written(store: LocalStore) -> None:
    place = write_night(store, summary("n1"), "all well\n")
    assert Path(place).read_text(encoding="utf-8") == "all well\n"
    assert read_previous_night(store) == (summary("n1"), "")
    write_night(store, summary("n2"), "")
    found, _ = read_previous_night(store)
    assert found is not None and found["night"] == "n2"


def test_a_night_without_evaluations_is_the_latest_but_the_one_before_it_is_compared_with(store: LocalStore) -> None:
    write_night(store, summary("n1"), "")
    write_night(store, summary("n2", evaluated=False), "")
    assert b"n2" in store.read(LATEST_KEY)
    found, _ = read_previous_night(store)
    assert found is not None and found["night"] == "n1"


def test_a_night_in_which_nothing_could_be_evaluated_is_not_compared_with(store: LocalStore) -> None:
    write_night(store, summary("n1"), "")
    write_night(store, {**summary("n2"), "evaluations": {"B1_MARA": {"fault": "the deadline has passed"}}}, "")
    found, _ = read_previous_night(store)
    assert found is not None and found["night"] == "n1"


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff\xfe", b"{}", b"null", b'{"night": 1}', b"[" * 100_000])
def test_a_damaged_summary_is_said_and_not_fatal(store: LocalStore, damage: bytes) -> None:
    write_night(store, summary("n1"), "")
    store.write("nights/n1/summary.json", damage)
    found, why = read_previous_night(store)
    assert found is None and ("damaged" in why or "cannot be read" in why)


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b"\xff\xfe", b"{}", b'{"evaluated": 7}', b'{"evaluated": "../x"}']
)
def test_a_damaged_pointer_to_the_latest_night_is_not_fatal_and_mended_by_the_next(
    store: LocalStore, damage: bytes
) -> None:
    write_night(store, summary("n1"), "")
    store.write(LATEST_KEY, damage)
    assert read_previous_night(store)[0] is None
    write_night(store, summary("n2"), "")
    found, _ = read_previous_night(store)
    assert found is not None and found["night"] == "n2"


def test_a_summary_that_was_removed_is_said(store: LocalStore) -> None:
    write_night(store, summary("n1"), "")
    store.delete("nights/n1/summary.json")
    found, why = read_previous_night(store)
    assert found is None and "n1" in why

from __future__ import annotations

import pytest

from ray_tasks.storage.json_objects import DamagedObjectError, read_json_object
from ray_tasks.storage.store import MissingObjectError, ObjectStore
from tests.test_strict_json import MALFORMED


def test_an_object_is_read_back(store: ObjectStore) -> None:
    store.write("runs/x.json", b'{"a": 1}')
    assert read_json_object(store, "runs/x.json") == {"a": 1}


def test_an_absent_one_is_missing(store: ObjectStore) -> None:
    with pytest.raises(MissingObjectError, match=r"runs/x\.json"):
        read_json_object(store, "runs/x.json")


@pytest.mark.parametrize("data", [*MALFORMED.values(), b"[]", b"null", b'"text"', b"3"])
def test_a_damaged_one_is_named_with_its_version_and_the_remedy(store: ObjectStore, data: bytes) -> None:
    store.write("runs/x.json", data)
    with pytest.raises(DamagedObjectError, match=r"runs/x\.json.*damaged.*; ask again") as caught:
        read_json_object(store, "runs/x.json", "ask again")
    assert (caught.value.key, caught.value.version) == ("runs/x.json", store.version("runs/x.json"))

"""JSON objects of a store, read so that damage has one error, which names the object."""

from __future__ import annotations

from typing import Any

from ray_tasks.storage.interface import ObjectStore, StoreError
from ray_tasks.strict_json import MalformedJsonError, parse_json


class DamagedObjectError(StoreError):
    """An object that is there and is not what it should be. `version` is what a conditional write has to name."""

    def __init__(self, message: str, key: str, version: str) -> None:
        super().__init__(message)
        self.key, self.version = key, version


def read_json_object(store: ObjectStore, key: str, remedy: str = "remove it") -> dict[str, Any]:
    """The JSON object under a key; raises MissingObjectError, or DamagedObjectError, whose message has the `remedy`."""
    data, version = store.read_versioned(key)
    return object_of(data, store, key, version, remedy)


def object_of(data: bytes, store: ObjectStore, key: str, version: str, remedy: str) -> dict[str, Any]:
    """What `read_json_object` makes of an object's bytes."""
    try:
        value = parse_json(data)
        if not isinstance(value, dict):
            raise MalformedJsonError(f"expected an object, found {type(value).__name__}")
    except MalformedJsonError as error:
        raise DamagedObjectError(f"{key} in {store.url} is damaged: {error}; {remedy}", key, version) from error
    return value

"""The pointer to the current memory, and what can be saved of it where it is damaged."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from ray_tasks.errors import UsageError
from ray_tasks.storage.json_objects import DamagedObjectError, object_of
from ray_tasks.storage.manifest_files import DamagedManifestError, manifest_key, read_manifest
from ray_tasks.storage.manifest_types import Manifest
from ray_tasks.storage.store import MissingObjectError, ObjectStore

POINTER = "current.json"

_MEMORY_ID: Final = re.compile(r"[0-9a-f]{16}")
_IDS_IN_BYTES: Final = re.compile(rb"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])")


class DamagedPointerError(DamagedObjectError):
    """current.json is there and does not say which memory is the current one."""


@dataclass(frozen=True)
class Pointer:
    """What current.json says: the memory that readers see, the ones before it (latest first), and its version.

    `published` and `by` say when it was written and by which process. A `damaged` pointer names what could be recovered
    (memory_id is empty where nothing could); it only serves to be replaced.
    """

    memory_id: str
    history: tuple[str, ...]
    version: str
    published: str = ""
    by: str = ""
    damaged: bool = False


def read_pointer(store: ObjectStore) -> Pointer | None:
    """The pointer to the current memory; None where nothing has been published. Raises DamagedPointerError."""
    try:
        data, version = store.read_versioned(POINTER)
    except MissingObjectError:
        return None
    try:
        return _parse_pointer(object_of(data, store, POINTER, version, ""), version)
    except (DamagedObjectError, ValueError) as error:
        known = ", ".join(_recover(store, data)) or "none"
        raise DamagedPointerError(
            f"{POINTER} in {store.url} is damaged, so no memory is the current one; the next build replaces it, and so "
            f"does: daybook publish MEMORY --root {store.url} (memories that can be read: {known})",
            POINTER,
            version,
        ) from error


def _parse_pointer(data: dict[str, Any], version: str) -> Pointer:
    memory_id, history = data.get("memory_id"), data.get("history")
    if not isinstance(history, list) or not all(_is_id(entry) for entry in [memory_id, *history]):
        raise ValueError("it names no memory")
    return Pointer(
        str(memory_id), tuple(history), version, str(data.get("published", "")), str(data.get("by", "an older version"))
    )


def _is_id(value: object) -> bool:
    return isinstance(value, str) and _MEMORY_ID.fullmatch(value) is not None


def pointer_to_replace(store: ObjectStore) -> tuple[Pointer | None, list[str]]:
    """The pointer that a publication is to replace, None where there is none, and notes on it for a person.

    A damaged one must not keep anybody from publishing. It comes back as `damaged` with its version, so that the swap
    is as conditional as ever, and with the memories that its remains name and that can still be read; where it names
    none, with all that can be read, the latest first.
    """
    try:
        return read_pointer(store), []
    except DamagedPointerError as error:
        try:
            data, version = store.read_versioned(POINTER)
        except MissingObjectError:
            return None, [f"{error.key} was damaged and has just been removed"]
    try:
        return _parse_pointer(object_of(data, store, POINTER, version, ""), version), []  # mended by somebody else
    except (DamagedObjectError, ValueError):
        memories = _recover(store, data)
    note = f"{POINTER} in {store.url} is damaged and will be replaced; "
    note += f"memories that can be read: {', '.join(memories)}" if memories else "no earlier memory can be read"
    first, *others = memories or [""]
    return Pointer(first, tuple(others), version, damaged=True), [note]


def _recover(store: ObjectStore, data: bytes) -> list[str]:
    """The readable memories that a damaged pointer names, in its order; without one, all there are, latest first."""
    named = [text.decode() for text in dict.fromkeys(_IDS_IN_BYTES.findall(data))]
    readable = [memory_id for memory_id in named if _read_or_none(store, memory_id)[0]]
    if readable:
        return readable
    stored = {key.split("/")[1] for key in store.list_keys("memories") if key.endswith("/manifest.json")}
    manifests = [manifest for memory_id in sorted(stored) if (manifest := _read_or_none(store, memory_id)[0])]
    manifests.sort(key=lambda manifest: manifest.created, reverse=True)
    return [manifest.memory_id for manifest in manifests]


def memory_before(store: ObjectStore, pointer: Pointer | None) -> tuple[Manifest | None, list[str]]:
    """The memory that a new one follows, and notes on what could not be read.

    It is the pointer's own or, where that is damaged or gone, the latest before it that can be read: wearers that the
    new memory takes over from it are better an older state of themselves than lost.
    """
    notes: list[str] = []
    for memory_id in (pointer.memory_id, *pointer.history) if pointer and pointer.memory_id else ():
        manifest, fault = _read_or_none(store, memory_id)
        if manifest:
            if notes:
                notes.append(f"memory {memory_id} is taken as the one before")
            return manifest, notes
        if not notes:  # of those further back, many have been collected
            notes.append(fault)
    return None, notes


def _read_or_none(store: ObjectStore, memory_id: str) -> tuple[Manifest | None, str]:
    """A manifest, or why there is none."""
    try:
        return read_manifest(store, memory_id), ""
    except (MissingObjectError, DamagedManifestError) as error:
        return None, str(error)


def current_manifest(store: ObjectStore) -> Manifest:
    """The published memory; raises UsageError where there is none, DamagedObjectError where it cannot be read."""
    pointer = read_pointer(store)
    if pointer is None:
        raise UsageError(
            f"{store.url} holds no published memory; make one with: daybook build --corpus DIR --root {store.url}"
        )
    try:
        return read_manifest(store, pointer.memory_id)
    except MissingObjectError as error:
        key = manifest_key(pointer.memory_id)
        raise DamagedManifestError(
            f"{POINTER} in {store.url} names memory {pointer.memory_id}, whose manifest is gone; build the memory "
            "again, or publish another one: daybook publish MEMORY",
            key,
            "",
        ) from error

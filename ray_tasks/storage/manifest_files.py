"""Where manifests are kept, and how they are written and read."""

from __future__ import annotations

from ray_tasks.storage.json_objects import DamagedObjectError
from ray_tasks.storage.manifest_types import Manifest, manifest_bytes, parse_manifest
from ray_tasks.storage.store import ObjectStore


class DamagedManifestError(DamagedObjectError):
    """A manifest that does not describe the memory under whose name it stands."""


def manifest_key(memory_id: str) -> str:
    """Where a memory's manifest is."""
    return f"memories/{memory_id}/manifest.json"


def write_manifest(store: ObjectStore, manifest: Manifest) -> None:
    """Stores a manifest, over one of the same id: the memory is the same, what is told of its build may differ."""
    store.write(manifest_key(manifest.memory_id), manifest_bytes(manifest))


def read_manifest(store: ObjectStore, memory_id: str) -> Manifest:
    """A memory's manifest; raises MissingObjectError where there is none, DamagedManifestError where it is damaged."""
    key = manifest_key(memory_id)
    data, version = store.read_versioned(key)
    remedy = "build the memory again, or publish another one: daybook publish MEMORY"
    try:
        manifest = parse_manifest(data)
    except ValueError as error:
        raise DamagedManifestError(f"{key} in {store.url} is damaged: {error}; {remedy}", key, version) from error
    if manifest.memory_id != memory_id:
        raise DamagedManifestError(
            f"{key} in {store.url} is damaged: it describes memory {manifest.memory_id}; {remedy}", key, version
        )
    return manifest

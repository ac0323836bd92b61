"""Opening a published memory: every file is checked against its manifest before it is loaded."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ray_tasks.index.files import load_wearer_memory
from ray_tasks.index.memory import WearerMemory
from ray_tasks.storage.manifests import Manifest
from ray_tasks.storage.store import MissingObjectError, ObjectStore, StoreError


def open_wearer(store: ObjectStore, manifest: Manifest, wearer: str) -> WearerMemory:
    """A wearer's memory, loaded after the sha256 of every file has been checked.

    Raises StoreError where a file is missing or is not the one that the manifest names; nothing is changed then.
    """
    entry = manifest.entry(wearer)

    def checked(name: str) -> Path:
        try:
            key, sha = entry.files[name]
            path = store.local_path(key)
        except (KeyError, MissingObjectError) as error:
            raise StoreError(f"memory {manifest.memory_id} lacks {name} of {wearer}; build it again") from error
        with path.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != sha:
                raise StoreError(f"{key} in {store.url} is not the file of memory {manifest.memory_id}; build it again")
        return path

    return load_wearer_memory(
        wearer,
        entry.name,
        checked,
        model=manifest.encoder,
        memory_id=manifest.memory_id,
        names=entry.files,
    )

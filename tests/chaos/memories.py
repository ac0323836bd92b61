"""What a store holds, for comparison, and whether the memory that it points to is whole (DESIGN §4)."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from ray_tasks.storage.store import MissingObjectError, ObjectStore

VOLATILE: Final = ("seconds", "attempts", "check")
"""Fields of done.json that tell how a shard came to be, not what it is; `check` is a checksum of them all."""


@dataclass(frozen=True)
class Content:
    """A store without what may differ from build to build: digests of the cache's files, and the memory."""

    cache: Mapping[str, str]
    memory_id: str
    manifest: Mapping[str, Any]

    def differences(self, other: Content) -> list[str]:
        """What is not the same, in words; empty where all is."""
        keys = sorted(self.cache.keys() | other.cache.keys())
        found = [key for key in keys if self.cache.get(key) != other.cache.get(key)]
        if self.memory_id != other.memory_id:
            found.append(f"memory {self.memory_id} and {other.memory_id}")
        if self.manifest != other.manifest:
            found.append("the manifests' wearers, shards, files or encoder")
        return found


def content(store: ObjectStore) -> Content:
    """All files of cache/ by key with the digest of their content, and what the current memory is made of."""
    cache = {key: _digest(key, store.read(key)) for key in store.list_keys("cache")}
    memory_id = str(json.loads(store.read("current.json"))["memory_id"])
    manifest = json.loads(store.read(f"memories/{memory_id}/manifest.json"))
    return Content(cache, memory_id, {name: manifest[name] for name in ("memory_id", "encoder", "wearers")})


def _digest(key: str, data: bytes) -> str:
    if key.endswith("/done.json"):
        record = json.loads(data)
        for file in record["files"].values():
            file.pop("version", None)  # the store's own name for what was written
        data = json.dumps({name: record[name] for name in sorted(record) if name not in VOLATILE}).encode()
    return hashlib.sha256(data).hexdigest()


class Wholeness:
    """Checks the memory that a store points to.

    The pointer is read every time, and the files behind it whenever it has moved, else `again_s` after the last time.
    A file that has been read is read again only if it has changed.
    """

    def __init__(self, store: ObjectStore, again_s: float = 0.1) -> None:
        self._store = store
        self._again_s = again_s
        self._known: dict[str, tuple[object, str]] = {}
        self._checked = (b"", 0.0)

    def fault(self) -> str | None:
        """What the current memory lacks, or None; None too where nothing has been published yet."""
        try:
            pointer = self._store.read("current.json")
        except MissingObjectError:
            return None
        before, at = self._checked
        if pointer == before and time.monotonic() < at + self._again_s:
            return None
        self._checked = (pointer, time.monotonic())
        try:
            memory_id = json.loads(pointer)["memory_id"]
            manifest = json.loads(self._store.read(f"memories/{memory_id}/manifest.json"))
            return self._missing(manifest)
        except (MissingObjectError, ValueError, KeyError, TypeError) as error:
            return f"{pointer!r}: {type(error).__name__}: {error}"

    def _missing(self, manifest: Mapping[str, Any]) -> str | None:
        for entry in manifest["wearers"].values():
            for name, file in entry["files"].items():
                if self._sha256(file["key"]) != file["sha256"]:
                    return f"{name} is not what memory {manifest['memory_id']} says"
            for stage, keys in entry["shards"].items():
                for shard, key in keys.items():
                    if not self._sha256(f"cache/{stage}/{key}/done.json"):
                        return f"{stage} {shard} of memory {manifest['memory_id']} is not done"
        return None

    def _sha256(self, key: str) -> str:
        mark = self._mark(key)
        if key not in self._known or self._known[key][0] != mark:
            self._known[key] = (mark, hashlib.sha256(self._store.read(key)).hexdigest())
        return self._known[key][1]

    def _mark(self, key: str) -> object:
        """Changes whenever the file changes. A remote object under a content key is taken as it was first seen."""
        if "://" in self._store.url:
            return None
        stat = self._store.local_path(key).stat()
        return (stat.st_ino, stat.st_mtime_ns, stat.st_size)


@dataclass
class Watcher:
    """``with Watcher(store) as watcher`` looks at current.json again and again, and keeps what it finds wrong."""

    store: ObjectStore
    pause_s: float = 0.002
    samples: int = 0
    faults: list[str] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        wholeness = Wholeness(self.store)
        while not self._stop.is_set():
            fault = wholeness.fault()
            self.samples += 1
            if fault:
                self.faults.append(f"{time.strftime('%H:%M:%S')} {fault}")
            self._stop.wait(self.pause_s)

"""Moves the pointer to another memory: a named one, or the one before."""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.console import console, ends_well, log, run_app
from jobs.options import DEFAULT_ROOT, RootOption
from ray_tasks.errors import UsageError
from ray_tasks.storage.collecting import refuse_during_collection
from ray_tasks.storage.manifests import Manifest, Pointer, pointer_to_replace, read_manifest, read_pointer
from ray_tasks.storage.manifests import publish as swap_pointer
from ray_tasks.storage.store import MissingObjectError, ObjectStore, StoreError, open_store
from ray_tasks.storage.wholeness import damaged_files

SHOWN_FILES = 5


@ends_well
def publish(
    memory: Annotated[str, typer.Argument(help="A memory's id, as `status` and `build` print it.", show_default=False)],
    root: RootOption = DEFAULT_ROOT,
) -> None:
    """Make a memory that was built earlier the current one; a damaged current.json is replaced.

    Example:

        daybook publish 3f2a9c0d1e4b5a67 --root memories
    """
    store = open_store(root)
    seen, notes = pointer_to_replace(store)
    for note in notes:
        log.print(note, markup=False, soft_wrap=True)
    _publish(store, memory, seen)


@ends_well
def rollback(root: RootOption = DEFAULT_ROOT) -> None:
    """Make the memory that was current before the present one current again.

    Example:

        daybook rollback --root memories
    """
    store = open_store(root)
    pointer = read_pointer(store)
    if pointer is None or not pointer.history:
        raise UsageError(f"{store.url} has no earlier memory to go back to")
    _publish(store, pointer.history[0], pointer)


def _publish(store: ObjectStore, memory_id: str, seen: Pointer | None) -> None:
    refuse_during_collection(store)
    manifest = _whole_memory(store, memory_id, seen)
    if seen and seen.memory_id == memory_id and not seen.damaged:
        console.print(f"memory {memory_id} is the current one already")
        return
    swap_pointer(store, manifest, seen)
    console.print(f"memory {memory_id} is now the current one: {', '.join(sorted(manifest.wearers))}", markup=False)


def _whole_memory(store: ObjectStore, memory_id: str, seen: Pointer | None) -> Manifest:
    """The manifest of a memory that readers can open; raises UsageError or StoreError naming what can be done."""
    others = [known for known in ((seen.memory_id, *seen.history) if seen else ()) if known not in {memory_id, ""}]
    known = f"; other memories: {', '.join(others)}" if others else ""
    try:
        manifest = read_manifest(store, memory_id)
    except MissingObjectError as error:
        raise UsageError(f"{store.url} holds no memory {memory_id} (any more){known}") from error
    broken = damaged_files(store, manifest)
    if broken:
        listed = ", ".join(broken[:SHOWN_FILES]) + (
            f" and {len(broken) - SHOWN_FILES} more" if broken[SHOWN_FILES:] else ""
        )
        raise StoreError(
            f"memory {memory_id} is not whole, so it was not published: missing or damaged: {listed}; "
            f"build it again{known}"
        )
    return manifest


if __name__ == "__main__":
    run_app(publish)

"""Moves the pointer to another memory: a named one, or the one before."""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.console import console, ends_well, run_app
from jobs.options import DEFAULT_ROOT, RootOption
from ray_tasks.errors import UsageError
from ray_tasks.storage.manifests import publish as swap_pointer
from ray_tasks.storage.manifests import read_manifest, read_pointer
from ray_tasks.storage.store import MissingObjectError, ObjectStore, open_store


@ends_well
def publish(
    memory: Annotated[str, typer.Argument(help="A memory's id, as `status` and `build` print it.", show_default=False)],
    root: RootOption = DEFAULT_ROOT,
) -> None:
    """Make a memory that was built earlier the current one.

    Example:

        daybook publish 3f2a9c0d1e4b5a67 --root memories
    """
    _publish(open_store(root), memory)


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
    _publish(store, pointer.history[0])


def _publish(store: ObjectStore, memory_id: str) -> None:
    seen = read_pointer(store)
    try:
        manifest = read_manifest(store, memory_id)
    except MissingObjectError as error:
        known = ", ".join([seen.memory_id, *seen.history]) if seen else "none"
        raise UsageError(f"{store.url} holds no memory {memory_id}; published so far: {known}") from error
    if seen and seen.memory_id == memory_id:
        console.print(f"memory {memory_id} is the current one already")
        return
    swap_pointer(store, manifest, seen)
    console.print(f"memory {memory_id} is now the current one: {', '.join(sorted(manifest.wearers))}")


if __name__ == "__main__":
    run_app(publish)

"""Frees the space of old memories."""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.console import console, ends_well, run_app
from jobs.options import DEFAULT_ROOT, RootOption
from ray_tasks.scheduling.run_log import read_run
from ray_tasks.storage.retention import collect_garbage
from ray_tasks.storage.store import open_store

ABANDONED_AFTER_SECONDS = 24 * 3600.0


@ends_well
def gc(
    root: RootOption = DEFAULT_ROOT,
    keep: Annotated[int, typer.Option(help="Memories to keep, the current one among them.")] = 3,
) -> None:
    """Remove all but the latest memories, and every cached shard that none of these needs.

    Refused while a build is running.

    Example:

        daybook gc --root memories --keep 7
    """
    store = open_store(root)
    collected = collect_garbage(store, keep, read_run(store))
    litter = store.remove_abandoned(ABANDONED_AFTER_SECONDS)
    console.print(
        f"kept {len(collected.kept_memories)} memories; removed {len(collected.removed_memories)} memories "
        f"and {collected.removed_shards:,} cached shards, and {litter} writes that were never finished"
    )


if __name__ == "__main__":
    run_app(gc)

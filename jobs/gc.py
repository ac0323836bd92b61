"""Frees the space of old memories."""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.console import console, ends_well, print_json, run_app
from jobs.options import DEFAULT_ROOT, JsonOption, RootOption
from jobs.words import count_text, size_text
from ray_tasks.storage.retention import GRACE_HOURS, REPLIES_DAYS, collect_garbage
from ray_tasks.storage.store import open_store

ABANDONED_AFTER_SECONDS = 24 * 3600.0


@ends_well
def gc(
    root: RootOption = DEFAULT_ROOT,
    keep: Annotated[int, typer.Option(help="Memories to keep, the current one among them.")] = 3,
    grace_hours: Annotated[
        float, typer.Option(help="Shards, and memories never published, that are younger than this stay.")
    ] = GRACE_HOURS,
    replies_days: Annotated[
        float, typer.Option(help="Kept replies of language models that are younger than this stay.", min=0)
    ] = REPLIES_DAYS,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    json: JsonOption = False,
) -> None:
    """Remove all but the latest memories, the cached shards that none of these needs, and records of older runs.

    Refused while a build is running on any machine; a build that begins meanwhile waits. Shards younger than the grace
    period stay, so that the next build goes on where a killed one stopped. Evaluations stay. A program that still reads
    a memory older than the kept ones loses it.

    Examples:

        daybook gc --root memories --keep 7 --dry-run

        daybook gc --root memories --keep 7
    """
    store = open_store(root)
    collected = collect_garbage(
        store, keep, grace_s=grace_hours * 3600, replies_s=replies_days * 24 * 3600, dry_run=dry_run
    )
    litter = 0 if dry_run else store.remove_abandoned(ABANDONED_AFTER_SECONDS)
    if json:
        print_json({"dry_run": dry_run, **vars(collected), "unfinished_writes": litter})
        return
    verb = "would remove" if dry_run else "removed"
    gone = [
        count_text(len(collected.removed_memories), "memory"),
        count_text(collected.removed_shards, "cached shard"),
        count_text(collected.removed_runs, "run record"),
        *([count_text(collected.removed_replies, "kept reply")] if collected.removed_replies else []),
    ]
    kept = count_text(len(collected.kept_memories), "memory")
    console.print(f"kept {kept}; {verb} {', '.join(gone)}: {size_text(collected.freed_bytes)}", soft_wrap=True)
    if collected.spared_shards:
        spared = count_text(collected.spared_shards, "further shard")
        console.print(
            f"{spared} that no kept memory needs stayed, being younger than {grace_hours:g} h (--grace-hours)",
            soft_wrap=True,
        )
    if litter:
        console.print(f"removed {count_text(litter, 'write')} that were never finished")


if __name__ == "__main__":
    run_app(gc)

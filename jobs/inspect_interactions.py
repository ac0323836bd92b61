"""What `inspect` says of Imprint's memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rich.table import Table

from jobs.console import console
from ray_tasks.compression.patterns import growth, patterns
from ray_tasks.errors import UsageError
from ray_tasks.index.memory import WearerMemory
from ray_tasks.storage.manifests import Manifest


def interactions_of(manifest: Manifest, memory: WearerMemory, examples: int) -> dict[str, Any]:
    """What Imprint's memory of a wearer holds; raises UsageError where it was built without.

    Recordings that make no record (only short cries, only what is seen in Chinese) leave a memory without files.
    """
    held = memory.interactions
    if held is None and manifest.wearers[memory.wearer].shards.get("records"):
        return {"records": 0, "kept": 0, "entries": 0, "assigned": {}, "by_day": {}, "patterns": []}
    if held is None:
        raise UsageError(
            f"memory {manifest.memory_id} holds no interactions of {memory.wearer}; "
            "build it again with `records: rules` in a file for --config"
        )
    return {
        "records": len(held),
        "kept": int(held.compressed.kept.sum()),
        "entries": len(held.compressed.founders),
        "assigned": held.compressed.assignments(),
        "by_day": {
            f"DAY{day}": {"records": records, "entries": entries} for day, (records, entries) in growth(held).items()
        },
        "patterns": [asdict(pattern) for pattern in patterns(held, examples)],
    }


def show_interactions(wearer: str, content: Mapping[str, Any]) -> None:
    """Shows what interactions_of found."""
    kept, entries = content["kept"], content["entries"]
    console.print(f"\n[bold]{wearer}[/]: {content['records']:,} records, {kept:,} kept in {entries:,} entries")
    if not content["records"]:
        console.print("  nothing in the recordings makes an interaction record")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("until", "records", "entries"):
        table.add_column(heading, justify="left" if heading == "until" else "right")
    for day, sizes in content["by_day"].items():
        table.add_row(day, f"{sizes['records']:,}", f"{sizes['entries']:,}")
    console.print(table)
    for pattern in content["patterns"]:
        parts = ", ".join(f"{part} {count}" for part, count in pattern["parts"].items())
        days = f"{pattern['days']} day{'' if pattern['days'] == 1 else 's'}"
        seen = f"{pattern['importance']:.2f}  {pattern['members']:>4} on {days}"
        console.print(f"  {seen}  {pattern['text']} ({parts})", markup=False, soft_wrap=True)

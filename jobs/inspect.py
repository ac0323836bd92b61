"""Shows what is in a memory."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
import typer
from rich.table import Table

from jobs.console import console, ends_well, print_json, run_app
from jobs.inspect_interactions import interactions_of, show_interactions
from jobs.options import DEFAULT_ROOT, JsonOption, RootOption, WearersOption
from ray_tasks.corpus.week_time import HOUR_MS, format_for_people
from ray_tasks.errors import UsageError
from ray_tasks.index.memory import WearerMemory
from ray_tasks.index.opening import open_wearer
from ray_tasks.rows import VIEWS
from ray_tasks.storage.manifests import Manifest, current_manifest, read_manifest, read_pointer
from ray_tasks.storage.store import MissingObjectError, ObjectStore, open_store

EXAMPLES = 2


@ends_well
def inspect(
    root: RootOption = DEFAULT_ROOT,
    wearer: WearersOption = None,
    memory: Annotated[str | None, typer.Option(help="A memory's id; the current one by default.")] = None,
    method: Annotated[
        Literal["imprint"] | None, typer.Option(help="Show what this method remembers: its patterns that recur.")
    ] = None,
    examples: Annotated[int, typer.Option(help="Atoms to show of each view, or patterns.", min=0)] = EXAMPLES,
    json: JsonOption = False,
) -> None:
    """Show what is in a memory: wearers, days, hours, atoms of each view, and examples.

    Examples:

        daybook inspect --root memories --wearer A1_JAKE --examples 5

        daybook inspect --root memories --wearer A1_JAKE --method imprint --examples 20
    """
    store = open_store(root)
    manifest = _named(store, memory) if memory else current_manifest(store)
    chosen = wearer or sorted(manifest.wearers)
    contents = {}
    for name in chosen:
        opened = open_wearer(store, manifest, name)
        contents[name] = (
            interactions_of(manifest, opened, examples) if method else _contents(manifest, opened, examples)
        )
    if json:
        print_json(
            {
                "memory_id": manifest.memory_id,
                "created": manifest.created,
                "encoder": manifest.encoder,
                "wearers": contents,
            }
        )
        return
    console.print(f"memory {manifest.memory_id}, made {manifest.created}, vectors of {manifest.encoder}")
    for name, content in contents.items():
        (show_interactions if method else _show_wearer)(name, content)


def _named(store: ObjectStore, memory_id: str) -> Manifest:
    try:
        return read_manifest(store, memory_id)
    except MissingObjectError as error:
        pointer = read_pointer(store)
        known = ", ".join([pointer.memory_id, *pointer.history]) if pointer else "none"
        raise UsageError(f"{store.url} holds no memory {memory_id}; published so far: {known}") from error


def _contents(manifest: Manifest, memory: WearerMemory, examples: int) -> dict[str, Any]:
    entry = manifest.wearers[memory.wearer]
    days = {
        f"DAY{day}": {
            "first": format_for_people(start),
            "last": format_for_people(end),
            "hours": [hour.split("/")[1] for hour in entry.hours if hour.startswith(f"DAY{day}/")],
        }
        for day, (start, end) in sorted(entry.day_bounds.items())
    }
    captions = memory.captions
    return {
        "name": entry.name,
        "days": days,
        "recorded_hours": round(float(np.sum(captions.end_ms - captions.start_ms)) / HOUR_MS, 2),
        "counts": dict(entry.counts),
        "examples": {view: _examples(memory, view, examples) for view in VIEWS},
    }


def _examples(memory: WearerMemory, view: str, count: int) -> list[dict[str, str]]:
    """Atoms spread evenly over the recorded time."""
    index = memory.views[view]
    shown = min(count, len(index))
    rows = [len(index) * (2 * number + 1) // (2 * shown) for number in range(shown)]
    return [{"at": format_for_people(int(index.start_ms[row])), "text": index.text(row)} for row in rows]


def _show_wearer(wearer: str, content: dict[str, Any]) -> None:
    counts = content["counts"]
    views = ", ".join(f"{counts[view]:,} {view}" for view in VIEWS)
    console.print(
        f"\n[bold]{wearer}[/] ({content['name']}): {counts['caption']:,} captions, "
        f"{content['recorded_hours']} h; {views}"
    )
    table = Table(box=None, pad_edge=False)
    for heading in ("day", "first", "last", "hours"):
        table.add_column(heading)
    for day, facts in content["days"].items():
        table.add_row(day, facts["first"].split()[1], facts["last"].split()[1], " ".join(facts["hours"]))
    console.print(table)
    for view, atoms in content["examples"].items():
        for atom in atoms:
            console.print(f"  {view:<12} {atom['at']}  {atom['text']}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    run_app(inspect)

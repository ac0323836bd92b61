"""Shows the current memory and the last or running build."""

from __future__ import annotations

from typing import Any

from jobs.console import console, ends_well, print_json, run_app
from jobs.options import DEFAULT_ROOT, JsonOption, RootOption
from ray_tasks.scheduling.run_log import read_run
from ray_tasks.storage.manifests import read_manifest, read_pointer
from ray_tasks.storage.store import ObjectStore, open_store


@ends_well
def status(
    root: RootOption = DEFAULT_ROOT,
    json: JsonOption = False,
) -> None:
    """Show the current memory and how far the last build came, also while it runs.

    Example:

        daybook status --root memories
    """
    store = open_store(root)
    state = _state(store)
    if json:
        print_json(state)
        return
    memory, run = state["memory"], state["run"]
    if memory:
        console.print(f"current memory {memory['memory_id']}, made {memory['created']}: {', '.join(memory['wearers'])}")
    else:
        console.print(f"{store.url} holds no published memory")
    if run:
        _show_run(run)


def _state(store: ObjectStore) -> dict[str, Any]:
    pointer = read_pointer(store)
    memory = None
    if pointer:
        manifest = read_manifest(store, pointer.memory_id)
        memory = {"memory_id": pointer.memory_id, "created": manifest.created, "wearers": sorted(manifest.wearers)}
    return {"root": store.url, "memory": memory, "run": read_run(store)}


def _show_run(run: dict[str, Any]) -> None:
    console.print(f"last build: {run['state']}, started {run['started']} by process {run['pid']} on {run['host']}")
    for wave in run["waves"]:
        left = wave["total"] - wave["cached"] - wave["made"] - wave["failed"]
        rate = wave["made"] / wave["seconds"] if wave["seconds"] else 0.0
        eta = f", about {left / rate:.0f} s left" if left and rate else ""
        failed = f", {wave['failed']} failed" if wave["failed"] else ""
        console.print(
            f"  {wave['wave']:<8} {wave['total'] - left}/{wave['total']} shards "
            f"({wave['cached']} cached, {rate:.1f}/s, {wave['seconds']:.1f} s{failed}){eta}"
        )
    for line in [*run["failed"], *([run["error"]] if run.get("error") else [])]:
        console.print(f"  {line}", markup=False)


if __name__ == "__main__":
    run_app(status)

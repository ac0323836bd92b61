"""What each night leaves behind: `nights/{night}/summary.json` and `.txt`, and `nights/latest.json`, which names it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from ray_tasks.errors import UsageError
from ray_tasks.storage.json_objects import DamagedObjectError, read_json_object
from ray_tasks.storage.store import MissingObjectError, ObjectStore

LATEST_KEY: Final = "nights/latest.json"


def write_night(store: ObjectStore, summary: Mapping[str, Any], text: str) -> str:
    """Keeps a summary under its `night`, then makes it the latest; gives the place of the text."""
    prefix = f"nights/{summary['night']}"
    store.write(f"{prefix}/summary.txt", text.encode())
    store.write(f"{prefix}/summary.json", json.dumps(summary, ensure_ascii=False, indent=1).encode())
    # A night without evaluations (refused, say) is the latest, but the next one is compared with an evaluated one.
    asked = any("fault" not in entry for entry in summary["evaluations"].values())
    evaluated = summary["night"] if asked else _latest(store).get("evaluated")
    store.write(LATEST_KEY, json.dumps({"night": summary["night"], "evaluated": evaluated}, indent=1).encode())
    return f"{store.url}/{prefix}/summary.txt"


def read_previous_night(store: ObjectStore) -> tuple[dict[str, Any] | None, str]:
    """The summary of the latest night that evaluated something, and where there is none to read, why."""
    try:
        night = _latest(store).get("evaluated")
        if not night:
            return None, "there is no earlier night with an evaluation"
        summary = read_json_object(store, f"nights/{night}/summary.json")
        if not {"night", "evaluations", "wearers", "seconds"} <= summary.keys():
            return None, f"the summary of night {night} is damaged"
    except (MissingObjectError, DamagedObjectError, UsageError) as error:  # UsageError: what it names is no key
        return None, f"the last night's summary cannot be read: {error}"
    return summary, ""


def _latest(store: ObjectStore) -> dict[str, Any]:
    """What latest.json says; nothing where it is absent or damaged, since the next write replaces it."""
    try:
        return read_json_object(store, LATEST_KEY)
    except (MissingObjectError, DamagedObjectError):
        return {}

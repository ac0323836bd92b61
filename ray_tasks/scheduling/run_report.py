"""What a run that is cut off has to say: what it had done, and which shards were still running, where, for how long."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from ray_tasks.storage.run_records import Wave, running_shards
from ray_tasks.storage.store import ObjectStore, StoreError

SHOWN: Final = 10


def wave_lines(waves: Sequence[Wave]) -> list[str]:
    """One line for each wave that had begun."""
    lines = []
    for wave in waves:
        failed = f", {wave.failed} failed" if wave.failed else ""
        lines.append(f"  {wave.wave}: {wave.total - wave.left} of {wave.total} shards done{failed}")
    return lines or ["  no shard had begun"]


def running_lines(store: ObjectStore, run_id: str) -> list[str]:
    """The shards that were still running, longest first."""
    try:
        running = running_shards(store, run_id)
    except StoreError as error:
        return [f"  what was still running is not known: {error}"]
    lines = []
    for attempt in running[:SHOWN]:
        where = f" on {attempt.host}" if attempt.host else ""
        seconds = max(time.time() - attempt.since, 0)
        lines.append(f"  still running: {attempt.stage} {attempt.shard} for {seconds:.0f} s{where}")
    return lines + ([f"  and {len(running) - SHOWN} more"] if len(running) > SHOWN else [])

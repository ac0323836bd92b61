"""Lengths of time, sizes and counts, as people read them."""

from __future__ import annotations


def duration_text(seconds: float) -> str:
    """``40 s``, ``12 min``, ``3.5 h`` or ``2.1 days``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    if seconds < 48 * 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:.1f} days"


def size_text(count: float) -> str:
    """Bytes as ``512 bytes``, ``1.5 MiB``, ``2.0 GiB``."""
    if count < 1024:
        return f"{count:.0f} bytes"
    for unit in ("KiB", "MiB", "GiB"):
        count /= 1024
        if count < 1024:
            return f"{count:.1f} {unit}"
    return f"{count / 1024:.1f} TiB"


def count_text(number: int, thing: str) -> str:
    """``1 shard``, ``1,200 shards``, ``3 memories``."""
    plural = thing[:-1] + "ies" if thing.endswith("y") else f"{thing}s"
    return f"{number:,} {thing if number == 1 else plural}"

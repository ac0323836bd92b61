"""Tells one process from another, also where its number was given out again since."""

from __future__ import annotations

from pathlib import Path


def this_machine() -> str | None:
    """Names the kernel since its last boot and the table of processes that this process sees; None where not Linux."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return None


def process_started(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None where it is gone, dead or cannot be seen."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The command's name, in brackets, may itself hold brackets and spaces.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])

"""Gates that hold a new memory against the one before it: is anything gone, is anything suddenly thin or thick."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from ray_tasks.corpus.week_time import parse_day
from ray_tasks.index.memory import CAPTION_VIEW
from ray_tasks.scheduling.gates import GateResult, listed, not_applied
from ray_tasks.storage.manifests import Manifest, WearerEntry

MIN_ROWS_OF_A_VIEW: Final = 50
"""A view that held fewer rows is not looked at by itself: its ratio would say little."""


def coverage(before: Manifest | None, manifest: Manifest, days: Collection[str] = ()) -> GateResult:
    """Nobody and no hour of the memory before is missing, among the days that were asked for (all if none were)."""
    name, bound = "coverage", "nothing missing"
    if before is None:
        return not_applied(name, bound, "there is no memory before it")
    missing = list(_missing(before, manifest, {parse_day(str(day)) for day in days}))
    if missing:
        return GateResult(name, False, len(missing), bound, listed("missing, and there before", missing))
    hours = sum(len(entry.hours) for entry in manifest.wearers.values())
    words = f"{len(manifest.wearers)} wearers, {hours:,} hours; nothing of the memory before is missing"
    return GateResult(name, True, 0, bound, words)


def _missing(before: Manifest, manifest: Manifest, days: set[int]) -> Iterator[str]:
    for wearer, entry in sorted(before.wearers.items()):
        if wearer not in manifest.wearers:
            yield f"{wearer}: all {len(entry.hours)} hours"
            continue
        gone = sorted(set(entry.hours) - set(manifest.wearers[wearer].hours))
        gone = [hour for hour in gone if not days or parse_day(hour.split("/", 1)[0]) in days]
        if gone:
            yield f"{wearer}: {', '.join(gone)}"


def density(before: Manifest | None, manifest: Manifest, ratios: tuple[float, float]) -> GateResult:
    """Atoms per recorded hour of each wearer lie within bounds of the memory before, all together and view by view."""
    low, high = ratios
    name, bound = "atoms per hour", f"{low:g} to {high:g} times the memory before"
    shared = sorted(set(before.wearers) & set(manifest.wearers)) if before else []
    measured = {
        (wearer, view): (was, now)
        for wearer in shared
        if before
        for view, was, now in _rates(before.wearers[wearer], manifest.wearers[wearer])
    }
    if not measured:
        return not_applied(name, bound, "no wearer was in a memory before it")
    ratio = {where: now / was for where, (was, now) in measured.items()}
    farthest = max(ratio.values(), key=lambda value: max(value, 1 / value if value else float("inf")))
    off = [
        f"{wearer}, {view}: {now:,.0f} atoms an hour, {was:,.0f} before ({ratio[wearer, view]:.2f} times)"
        for (wearer, view), (was, now) in measured.items()
        if not low <= ratio[wearer, view] <= high
    ]
    words = (
        listed("too few or too many", off)
        if off
        else f"{len(shared)} wearers; the farthest from before is at {farthest:.2f} times"
    )
    return GateResult(name, not off, round(farthest, 4), bound, words)


def _rates(was: WearerEntry, now: WearerEntry) -> Iterator[tuple[str, float, float]]:
    """(view, atoms per hour before, atoms per hour now), for all views together and for each that held enough."""
    # Hours of the clock that hold captions: pauses between recordings do not count, losses inside an hour do.
    hours_was, hours_now = len(was.hours), len(now.hours)
    if not hours_was or not hours_now:
        return
    counts_was, counts_now = _atoms(was), _atoms(now)
    for view in ("all views", *sorted(counts_was)):
        rows_was = sum(counts_was.values()) if view == "all views" else counts_was[view]
        rows_now = sum(counts_now.values()) if view == "all views" else counts_now.get(view, 0)
        if rows_was >= (1 if view == "all views" else MIN_ROWS_OF_A_VIEW):
            yield view, rows_was / hours_was, rows_now / hours_now


def _atoms(entry: WearerEntry) -> dict[str, int]:
    return {view: count for view, count in entry.counts.items() if view != CAPTION_VIEW}

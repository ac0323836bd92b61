"""Gates on what a finished memory finds, from the findings of the retrieval canary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ray_tasks.evaluation.canary import Found, HitChange
from ray_tasks.scheduling.gates import GateResult, listed, not_applied

MISSED_SHOWN: Final = 3
ALWAYS_ALLOWED_MISSES: Final = 1
"""A view of few rows is not refused for a single one that another text comes nearer to."""


def own_texts(found: Sequence[Found], faults: Mapping[str, str], least_percent: float, of_wearers: int) -> GateResult:
    """Sampled rows are found by their own text, in every view of every wearer that was looked at.

    faults: wearers whose memory could not be opened or searched at all, with the reason. of_wearers: how many wearers
    were made anew, of which the ones looked at are a part.
    """
    name, bound = "canary", f"at least {least_percent:g}% of a view's sample, or all but {ALWAYS_ALLOWED_MISSES}"
    wearers = {entry.wearer for entry in found} | set(faults)
    if not wearers:
        return not_applied(name, bound, "no wearer's memory was made anew")
    short = [entry for entry in found if entry.percent < least_percent and len(entry.missed) > ALWAYS_ALLOWED_MISSES]
    lines = [f"{wearer}: {fault}" for wearer, fault in sorted(faults.items())]
    lines += [
        f"{entry.wearer}, {entry.view}: {len(entry.missed)} of {entry.asked} rows not found, "
        f"such as {', '.join(entry.missed[:MISSED_SHOWN])}"
        for entry in short
    ]
    worst = 0.0 if faults else min(entry.percent for entry in found)
    asked = sum(entry.asked for entry in found)
    words = (
        listed("rows that a search for their own text does not find", lines)
        if lines
        else f"{asked} rows of {len(wearers)} of {of_wearers} wearers looked for by their own text, "
        f"{asked - sum(len(entry.missed) for entry in found)} found"
    )
    return GateResult(name, not lines, round(worst, 4), bound, words)


def index_recall(percent: Mapping[str, float], least_percent: float) -> GateResult:
    """Where inverted lists make search fast, they find nearly all that an exact search finds; percent by wearer."""
    name, bound = "index recall", f"at least {least_percent:g}% of what an exact search finds"
    if not percent:
        return not_applied(name, bound, "every search is exact")
    short = [f"{wearer}: {value:.1f}%" for wearer, value in sorted(percent.items()) if value < least_percent]
    worst = min(percent.values())
    words = listed("too little is found", short) if short else f"{len(percent)} wearers, at least {worst:.1f}%"
    return GateResult(name, not short, round(worst, 4), bound, words)


def known_questions(
    changes: Sequence[HitChange], apart: Mapping[str, str], faults: Mapping[str, str], most_points: float
) -> GateResult:
    """Known questions find their evidence about as often as in the memory before.

    apart: wearers that could not be compared, with the reason, which is no fault of the new memory; faults: wearers
    whose questions could not be asked of the new memory.
    """
    name, bound = "known questions", f"hit rate at most {most_points:g} points below the memory before"
    reasons = {why: [wearer for wearer in sorted(apart) if apart[wearer] == why] for why in sorted(apart.values())}
    notes = [f"{', '.join(wearers)} not compared: {why}" for why, wearers in reasons.items()]
    if not changes and not faults:
        return not_applied(name, bound, "; ".join(notes) or "none are configured")
    fallen = [change for change in changes if change.drop > most_points]
    lines = [f"{wearer}: {fault}" for wearer, fault in sorted(faults.items())]
    lines += [_line(change) for change in changes if change in fallen or change.lost]
    worst = max((change.drop for change in changes), default=0.0)
    asked = sum(change.asked for change in changes)
    words = "; ".join(
        [listed("evidence found before and missed now", lines) if lines else f"{asked} asked, none lost", *notes]
    )
    return GateResult(name, not fallen and not faults, round(worst, 4), bound, words)


def _line(change: HitChange) -> str:
    lost = f"; lost: {', '.join(change.lost)}" if change.lost else ""
    won = f"; won: {', '.join(change.won)}" if change.won else ""
    return f"{change.wearer}: {change.now:.1f}% of {change.asked}, {change.before:.1f}% before{lost}{won}"

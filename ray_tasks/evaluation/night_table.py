"""A night's summary as tables and lines for a person; what is built here is printed and stored elsewhere."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.table import Table

TEXT_WIDTH: Final = 120


def night_text(summary: Mapping[str, Any]) -> str:
    """The summary as plain text, TEXT_WIDTH columns wide."""
    console = Console(file=io.StringIO(), width=TEXT_WIDTH, highlight=False)
    console.print(render_night(summary))
    printed = console.file
    assert isinstance(printed, io.StringIO)
    return printed.getvalue()


def render_night(summary: Mapping[str, Any]) -> RenderableType:
    """Everything a person wants to know in the morning, the most important first."""
    parts: list[RenderableType] = [escape(line) for line in _head(summary)]
    parts.append(_gates(summary["gates"]))
    if summary["evaluations"]:
        parts.append(_evaluations(summary))
    parts += [escape(line) for line in _notes(summary)]
    parts.append(_seconds(summary))
    return Group(*parts)


def _head(summary: Mapping[str, Any]) -> Iterator[str]:
    yield f"night {summary['night']}: {summary['state']}"
    yield f"memory {summary['memory_id']}, made from {summary['corpus']}"
    job = summary["job"]
    yield f"by {job['user']} on {job['host']}, job {job['submission_id'] or '–'}, commit {job['commit'] or 'unknown'}"
    wearers = summary["wearers"].values()
    atoms = sum(sum(facts["atoms"].values()) for facts in wearers)
    hours = sum(facts["hours"] for facts in wearers)
    yield (
        f"{len(wearers)} wearers, {hours:,} hours, {atoms:,} atoms; "
        f"{summary['made_shards']:,} shards made, {summary['failed_shards']:,} failed"
    )


def _gates(gates: list[Mapping[str, Any]]) -> Table:
    table = Table(title="gates", title_justify="left")
    for heading in ("gate", "", "found", "bound"):
        table.add_column(heading, overflow="fold")
    for gate in gates:
        state = "refused" if not gate["passed"] else "–" if gate["measured"] is None else "passed"
        table.add_row(
            *(escape(str(cell)) for cell in (gate["name"], state, gate["words"], gate["bound"])),
            style=None if gate["passed"] else "bold red",
        )
    return table


def _evaluations(summary: Mapping[str, Any]) -> Table:
    compared = summary["comparison"].get("evaluations", {})
    night = summary["comparison"]["night"]
    caption = f"before: night {night}" if night else summary["comparison"]["note"]
    table = Table(title="questions", title_justify="left", caption=escape(caption), caption_justify="left")
    table.add_column("wearer")
    table.add_column("figure")
    for heading in ("now", "before", "better", "worse"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for wearer, entry in summary["evaluations"].items():
        if "fault" in entry:
            table.add_row(escape(wearer), escape(f"not evaluated: {entry['fault']}"), style="bold red")
            continue
        changes = {change["figure"]: change for change in compared.get(wearer, {}).get("changes", [])}
        name = f"{wearer} ({entry['n']})"
        for figure, label in _FIGURES.items():
            table.add_row(escape(name), label, _number(entry[figure]), *_change(changes.get(label)))
            name = ""
        table.add_section()
    return table


_FIGURES: Final = {
    "accuracy": "accuracy",
    "hit": "hit",
    "near_hit": "near hit",
    "evidence_minutes": "evidence minutes",
}


def _change(change: Mapping[str, Any] | None) -> tuple[str, str, str, str]:
    if change is None:
        return "", "", "", ""
    if change["p"] is not None and change["verdict"] != "same":
        detail = f" (p = {change['p']:.2g})"
    elif change["low"] is not None and change["verdict"] != "same":
        detail = f" ({change['low']:+.2f} to {change['high']:+.2f})"
    else:
        detail = ""
    return _number(change["before"]), str(change["better"]), str(change["worse"]), f"{change['verdict']}{detail}"


def _notes(summary: Mapping[str, Any]) -> Iterator[str]:
    comparison = summary["comparison"]
    if not comparison["night"] and not summary["evaluations"]:
        yield f"not compared with a night before: {comparison['note']}"
    for wearer, entry in comparison.get("evaluations", {}).items():
        if entry["note"]:
            yield f"{wearer}: {entry['note']}"
    for wearer, entry in summary["evaluations"].items():
        if entry.get("errors"):
            yield f"{wearer}: {entry['errors']} questions ended in an error; see {entry['place']}"
    for name, (was, now) in comparison.get("totals", {}).items():
        if was != now:
            yield f"{name}: {now:,}, {was:,} before"
    for wearer, views in comparison.get("atoms", {}).items():
        yield f"{wearer} atoms: " + ", ".join(f"{view} {now:,} ({was:,})" for view, (was, now) in views.items())


def _seconds(summary: Mapping[str, Any]) -> Table:
    before = summary["comparison"].get("seconds", {})
    table = Table(title="seconds", title_justify="left")
    table.add_column("")
    table.add_column("now", justify="right")
    table.add_column("before", justify="right")
    for part, seconds in summary["seconds"].items():
        table.add_row(escape(part), _number(seconds), _number(before.get(part, [None])[0]))
    return table


def _number(value: float | None) -> str:
    """One decimal, a dash where there is nothing to show."""
    return "–" if value is None else f"{value:,.1f}"

"""A comparison as tables for a terminal: what was measured first, and below it, marked, what papers print."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from ray_tasks.evaluation.grouped import normalized_cost

PUBLISHED: Final = "published"
_STYLE: Final = "italic"
_TITLE_WIDTH: Final = 72
_WHOLE: Final = ("accuracy", "hit", "near_hit", "grounded_accuracy", "tokens_in", "tokens_out", "latency_s")


def render_comparison(comparison: Mapping[str, Any], *, published: bool = True, ablations: bool = False) -> Group:
    """All tables of a comparison; `ablations` adds the papers' own ablation tables."""
    parts: list[RenderableType] = []
    for benchmark, part in comparison["benchmarks"].items():
        printed = part["published"] if published else []
        parts += _of_benchmark(benchmark, part, printed, ablations)
    if comparison["until_day"] is not None:
        parts.append(f"only questions asked up to the end of DAY{comparison['until_day']}")
    if published:
        parts += [escape(f"{PUBLISHED}, {source}: {about}") for source, about in comparison["sources"].items()]
    return Group(*parts)


def _of_benchmark(
    benchmark: str, part: Mapping[str, Any], printed: Sequence[Mapping[str, Any]], ablations: bool
) -> Iterator[RenderableType]:
    methods = part["methods"]
    if not methods:
        yield escape(f"{benchmark}: no answers are left")
        return
    main = [one for one in printed if one["kind"] == "methods"]
    yield _overall(benchmark, methods, [one for one in main if _is_whole(one)])
    if not part["same_questions"]:
        yield "the methods were asked different questions; the paired tests are over those that both were asked"
    yield from (_tests(part["paired"]),) if part["paired"] else ()
    if len({wearer for method in methods for wearer in method["wearers"]}) > 1:
        yield _groups(f"{benchmark} · by wearer", methods, "by_wearer", (), "", _both)
    yield _groups(f"{benchmark} · accuracy by category", methods, "by_category", main, "category", _accuracy)
    yield _groups(f"{benchmark} · hit by category", methods, "by_category", (), "category", _hit)
    yield _groups(f"{benchmark} · time-aware questions", methods, "by_time_aware", main, "time_aware", _both)
    title = f"{benchmark} · by time from evidence to question"
    yield _groups(title, methods, "by_gap", (), "", _both)
    title = f"{benchmark} · questions asked from DAY1 up to the end of a day"
    yield _groups(title, methods, "by_horizon", main, "until_day", _both)
    if ablations:
        yield from _ablations([one for one in printed if one["kind"] == "ablation"])


def _overall(benchmark: str, methods: Sequence[Mapping[str, Any]], printed: Sequence[Mapping[str, Any]]) -> Table:
    rows = _printed_rows(printed)
    measured = any(method["grounded_accuracy"]["n"] for method in methods)
    grounded = measured or any("grounded_accuracy" in figures for figures in rows.values())
    used: dict[str, dict[str, None]] = {}
    for one in printed:
        used.setdefault(_source(one), {})[one["column"]] = None
    sources = f"\n{PUBLISHED}: " + "; ".join(f"{name} ({', '.join(columns)})" for name, columns in used.items())
    table = Table(
        title=escape(benchmark),
        title_justify="left",
        caption=escape(
            "rates in percent with their 95% bootstrap interval; tokens and seconds of a question; cost in tokens "
            f"(input 1, output 6; long context 2 and 9); grounded: of right answers; of all{sources if used else ''}"
        ),
        caption_justify="left",
    )
    table.add_column("method", overflow="fold")
    headings = ["n", "accuracy", "hit", "near", "minutes", "tokens in", "out", "cost", "median s"]
    for heading in [*headings, *(["grounded"] if grounded else [])]:
        table.add_column(heading, justify="right")
    for method in methods:
        latency = method["latency_ms"]["p50"]
        cells = [
            *(str(method["n"]), *(_rate(method[name]) for name in ("accuracy", "hit", "near_hit"))),
            *(_number(method["evidence_minutes"]), _whole(method["tokens_in"]), _whole(method["tokens_out"])),
            *(_whole(method["normalized_cost"]), _number(None if latency is None else latency / 1000, 3)),
        ]
        told = f"{_rate(method['grounded_accuracy'])}; {_number(method['grounded']['percent'])}"
        table.add_row(escape(method["label"]), *cells, *([told] if grounded else []))
    if rows:
        table.add_section()
    for (name, source), figures in rows.items():
        cost = normalized_cost(figures.get("tokens_in"), figures.get("tokens_out"), name)
        cells = [
            *("", *(_number(figures.get(name)) for name in ("accuracy", "hit", "near_hit")), ""),
            *(_whole(figures.get("tokens_in")), _whole(figures.get("tokens_out")), _whole(cost)),
            _number(figures.get("latency_s")),
        ]
        last = [_number(figures.get("grounded_accuracy"))] if grounded else []
        table.add_row(escape(f"{name} [{PUBLISHED}, {source}]"), *cells, *last, style=_STYLE)
    return table


def _groups(
    title: str,
    methods: Sequence[Mapping[str, Any]],
    groups: str,
    printed: Sequence[Mapping[str, Any]],
    field: str,
    cell: Callable[[Mapping[str, Any]], str],
) -> Table:
    """One row for each method, one column for each group that occurs; published rows fill the groups they have."""
    names = list(dict.fromkeys(name for method in methods for name in method[groups]))
    label = {"yes": "time-aware", "no": "others"} if groups == "by_time_aware" else {}
    table = Table(title=escape(title), title_justify="left", min_width=len(title))
    table.add_column("method", overflow="fold")
    for name in names:
        table.add_column(escape(label.get(name, name)), justify="right")
    for method in methods:
        cells = [cell(method[groups][name]) if name in method[groups] else "–" for name in names]
        table.add_row(escape(method["label"]), *cells)
    fitting = [one for one in printed if field and _group_name(one, field) in names and one["figure"] == "accuracy"]
    if fitting:
        table.add_section()
    rows: dict[str, dict[str, float]] = {}
    for one in fitting:
        name = f"{one['method']} [{PUBLISHED}, {_source(one)}]"
        rows.setdefault(name, {})[str(_group_name(one, field))] = one["value"]
    for name, values in rows.items():
        table.add_row(escape(name), *(_number(values.get(group)) for group in names), style=_STYLE)
    return table


def _tests(paired: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(
        title=escape(f"question by question, against {paired[0]['against']}"),
        title_justify="left",
        caption="p: exact McNemar test, not corrected for the number of tests; minutes: paired bootstrap interval",
        caption_justify="left",
    )
    for heading in ("method", "figure"):
        table.add_column(heading, overflow="fold")
    for heading in ("n", "against", "method", "better", "worse", "p or interval"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for one in paired:
        label = one["label"]
        for change in one["changes"]:
            sure = f"{change['p']:.2g}" if change["p"] is not None else f"{change['low']:+.2f} to {change['high']:+.2f}"
            figures = (_number(change["before"]), _number(change["now"]), str(change["better"]), str(change["worse"]))
            row = (label, change["figure"], str(change["n"]), *figures, sure, change["verdict"])
            table.add_row(*(escape(cell) for cell in row))
            label = ""
        if not one["changes"]:
            table.add_row(escape(label), f"no question in common ({one['shared']})")
        table.add_section()
    return table


def _ablations(printed: Sequence[Mapping[str, Any]]) -> Iterator[Table]:
    """The papers' ablation tables, as they print them."""
    tables: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for one in printed:
        tables.setdefault((one["source"], one["table"], one["title"]), []).append(one)
    for (source, number, title), figures in tables.items():
        columns = list(dict.fromkeys(one["column"] for one in figures))
        note = figures[0]["note"]
        table = Table(
            title=escape(f"{title} [{PUBLISHED}, {source} Table {number}]"),
            title_justify="left",
            caption=escape(note) if note else None,
            caption_justify="left",
            style=_STYLE,
            min_width=_TITLE_WIDTH,
        )
        table.add_column("", overflow="fold")
        for column in columns:
            table.add_column(escape(column), justify="right", no_wrap=True)
        rows: dict[str, dict[str, list[float]]] = {}
        for one in figures:
            rows.setdefault(one["method"], {}).setdefault(one["column"], []).append(one["value"])
        for method, values in rows.items():
            cells = (" / ".join(_number(value) for value in values.get(column, [])) or "–" for column in columns)
            table.add_row(escape(method), *cells)
        yield table


def _is_whole(one: Mapping[str, Any]) -> bool:
    return one["figure"] in _WHOLE and one["category"] is one["time_aware"] is one["until_day"] is None


def _printed_rows(printed: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], dict[str, float]]:
    """Published figures by (method and model, source); of two numbers for one thing the later table's counts."""
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for one in printed:
        name = one["method"] if one["source"] == "EgoCITE" else f"{one['method']}, {one['model']}"
        rows.setdefault((name, one["source"]), {})[one["figure"]] = one["value"]
    return {key: figures for key, figures in rows.items() if figures.keys() & {"accuracy", "hit"}}


def _group_name(one: Mapping[str, Any], field: str) -> str | None:
    value = one[field]
    return f"DAY{value}" if field == "until_day" and value is not None else value


def _source(one: Mapping[str, Any]) -> str:
    return f"{one['source']} Table {one['table']}"


def _accuracy(figures: Mapping[str, Any]) -> str:
    return f"{_rate(figures['accuracy'])} of {figures['accuracy']['n']}"


def _hit(figures: Mapping[str, Any]) -> str:
    return f"{_rate(figures['hit'])} of {figures['hit']['n']}"


def _both(figures: Mapping[str, Any]) -> str:
    accuracy, hit = figures["accuracy"], figures["hit"]
    return f"{_number(accuracy['percent'])} / {_number(hit['percent'])} of {figures['n']}"


def _rate(rate: Mapping[str, Any]) -> str:
    if rate["percent"] is None:
        return "–"
    return f"{rate['percent']:.1f} ({rate['low']:.0f}–{rate['high']:.0f})"


def _number(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def _whole(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"

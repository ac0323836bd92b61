"""Figures as papers print them, each with its source, table, column, model and benchmark.

They are data files beside this module and only ever shown marked as published: other questions, captions and models
stand behind them than behind what is measured here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from typing import Any, Final, Literal

SOURCES: Final = ("egocite", "imprint")
Kind = Literal["methods", "ablation"]


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """One printed number.

    figure: accuracy, hit, near_hit or grounded_accuracy (percent), tokens_in or tokens_out (of a question), latency_s
    (seconds), dollars. benchmark: None where a table mixes them. category, time_aware ("yes"), until_day: the questions
    it is about, all where None. questions: how many, None where the paper does not say. column: as printed.
    """

    source: str
    table: str
    column: str
    title: str
    kind: Kind
    method: str
    model: str
    benchmark: str | None
    figure: str
    value: float
    category: str | None = None
    time_aware: str | None = None
    until_day: int | None = None
    questions: int | None = None
    note: str = ""

    @property
    def whole(self) -> bool:
        """Whether it is about all questions of its benchmark."""
        return self.category is None and self.time_aware is None and self.until_day is None

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary, marked as published."""
        return {"published": True, **asdict(self)}


@cache
def published_figures() -> tuple[PublishedFigure, ...]:
    """Every figure of every paper, in the order of print."""
    package = resources.files(__package__)
    contents = [json.loads((package / f"{name}.json").read_text(encoding="utf-8")) for name in SOURCES]
    return tuple(figure for content in contents for figure in _figures(content))


@cache
def about_sources() -> dict[str, str]:
    """What each paper measured on, in words, by its name."""
    package = resources.files(__package__)
    contents = [json.loads((package / f"{name}.json").read_text(encoding="utf-8")) for name in SOURCES]
    return {content["source"]: content["about"] for content in contents}


def _figures(content: Mapping[str, Any]) -> Iterator[PublishedFigure]:
    for table in content["tables"]:
        for row in table["rows"]:
            for column, value in zip(table["columns"], row["values"], strict=True):
                if value is None:
                    continue
                yield PublishedFigure(
                    source=content["source"],
                    table=table["table"],
                    column=column["printed"],
                    title=table["title"],
                    kind=table["kind"],
                    method=row["method"],
                    model=row["model"],
                    benchmark=table["benchmark"],
                    figure=column["figure"],
                    value=float(value) * column.get("factor", 1),
                    category=column.get("category"),
                    time_aware=column.get("time_aware"),
                    until_day=column.get("until_day"),
                    questions=table.get("questions"),
                    note=table.get("note", ""),
                )

"""Evaluations side by side: every method's figures over all questions and over groups, and paired tests.

Results that differ only in wearer and questions are one method's (its questions are pooled); everything else that
decides answers (settings, memory, code, models) makes a method of its own, named by what it differs in. Methods are
tested question by question against one of them, over the questions that both were asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ray_tasks.corpus.week_time import day_of
from ray_tasks.errors import UsageError
from ray_tasks.evaluation import egomem, grouped
from ray_tasks.evaluation.comparison import compare_outcomes
from ray_tasks.evaluation.published import about_sources, published_figures
from ray_tasks.evaluation.questions import CATEGORIES
from ray_tasks.strict_json import MalformedJsonError, json_faults

ORDER: Final = (*CATEGORIES, *egomem.CATEGORIES)
_IDENTITY: Final = "identity"
_LONGEST: Final = 24
_OF_QUESTIONS: Final = frozenset({"benchmark", "questions", "questions_sha256"})


class ResultError(UsageError):
    """A document that is no evaluation's result; the message names it."""


@dataclass(frozen=True)
class StoredResult:
    """An evaluation's result, as ``evaluate --json`` writes it, and the name by which it was asked for."""

    name: str
    document: Mapping[str, Any]

    @classmethod
    def parse(cls, name: str, text: str | bytes) -> list[StoredResult]:
        """Reads a result, or the list of results that one command wrote; raises ResultError for anything else."""
        try:
            with json_faults():
                content = json.loads(text)
        except MalformedJsonError as error:
            raise ResultError(f"{name}: {error}; is the file complete?") from error
        if not isinstance(content, list):
            return [cls._checked(name, content)]
        if not content:
            raise ResultError(f"{name}: an empty list; it holds no result of an evaluation")
        return [cls._checked(f"{name}[{number}]", one) for number, one in enumerate(content)]

    @classmethod
    def _checked(cls, name: str, document: Any) -> StoredResult:
        try:
            answers, config = document["answers"], document["config"]
            sound = all({"id", "correct", "hit"} <= answer.keys() for answer in answers) and "benchmark" in document
            if not sound or not isinstance(config, dict):
                raise ResultError(f"{name}: not the result of an evaluation (answers without id, correct and hit)")
        except (KeyError, TypeError, AttributeError) as error:
            raise ResultError(
                f"{name}: not the result of an evaluation ({type(error).__name__}: {error}); "
                f"write one with `daybook evaluate ... --json FILE`"
            ) from error
        return cls(name, document)


@dataclass
class Column:
    """One method's answers to one benchmark, of all wearers; `key` is all that decides them but the questions."""

    benchmark: str
    method: str
    config: dict[str, Any]
    names: list[str] = field(default_factory=list)
    answers: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    wearers: list[str] = field(default_factory=list)
    label: str = ""

    def add(self, result: StoredResult) -> None:
        """Pools a result; raises ResultError where it holds a question that is there already."""
        wearer = str(result.document.get("wearer", ""))
        digest = str(result.document["config"].get("questions_sha256", ""))[:12]
        keyed = {
            f"{wearer} {digest} {answer['id']}": {**answer, "wearer": wearer} for answer in result.document["answers"]
        }
        if keyed.keys() & self.answers.keys():
            raise ResultError(f"{result.name} and {', '.join(self.names)} are the same evaluation; name it once")
        self.answers.update(keyed)
        self.names.append(result.name)
        self.wearers += [wearer] if wearer not in self.wearers else []


def columns_of(results: Iterable[StoredResult], benchmark: str) -> list[Column]:
    """The methods of a benchmark in the order of the results, labelled by what tells them apart."""
    columns: dict[str, Column] = {}
    for result in results:
        document = result.document
        if document["benchmark"] != benchmark:
            continue
        config = _flat({name: value for name, value in document["config"].items() if name not in _OF_QUESTIONS})
        method = str(document.get("method", config.get("method", "?")))
        key = json.dumps([method, config], sort_keys=True, default=str)
        columns.setdefault(key, Column(benchmark, method, config)).add(result)
    _label(list(columns.values()))
    return list(columns.values())


def compare_results(
    results: Sequence[StoredResult],
    *,
    against: str | None = None,
    until_day: int | None = None,
    wearers: Sequence[str] = (),
) -> dict[str, Any]:
    """The whole comparison as plain JSON, a part for each benchmark.

    against: the name of a result whose method the others are tested against; the first by default. until_day: only
    questions asked by the end of that day. wearers: only theirs, all where empty. Raises UsageError where nothing is
    left or `against` names none of the results.
    """
    if against is not None and against not in {result.name for result in results}:
        raise UsageError(f"--against {against}: it is not among {', '.join(result.name for result in results)}")
    if wearers:
        results = [result for result in results if result.document.get("wearer") in wearers]
    benchmarks = {}
    for benchmark in dict.fromkeys(str(result.document["benchmark"]) for result in results):
        columns = columns_of(results, benchmark)
        for column in columns:
            column.answers = {key: a for key, a in column.answers.items() if _asked_by(a, until_day)}
        benchmarks[benchmark] = _compare(benchmark, [column for column in columns if column.answers], against)
    if not any(part["methods"] for part in benchmarks.values()):
        raise UsageError("no answers are left to compare; take back --until or --wearer")
    return {"confidence": 0.95, "until_day": until_day, "benchmarks": benchmarks, "sources": about_sources()}


def _asked_by(answer: Mapping[str, Any], until_day: int | None) -> bool:
    return until_day is None or ("at_ms" in answer and day_of(answer["at_ms"]) <= until_day)


def _compare(benchmark: str, columns: Sequence[Column], against: str | None) -> dict[str, Any]:
    base = next((column for column in columns if against in column.names), columns[0] if columns else None)
    return {
        "methods": [_method(column) for column in columns],
        "paired": [_paired(base, column) for column in columns if base is not None and column is not base],
        "same_questions": len({frozenset(column.answers) for column in columns}) <= 1,
        "published": [one.to_json() for one in published_figures() if one.benchmark in (benchmark, None)],
    }


def _method(column: Column) -> dict[str, Any]:
    answers, method = list(column.answers.values()), column.method
    time_aware = {"yes": True, "no": False}
    by_category = grouped.by_field(answers, "category", ORDER)
    return {
        "label": column.label,
        "method": method,
        "evaluations": column.names,
        "wearers": column.wearers,
        "config": column.config,
        **grouped.figures(answers, method),
        "by_wearer": {
            str(name): grouped.figures(group, method) for name, group in grouped.by_field(answers, "wearer").items()
        },
        "by_category": {str(name): grouped.figures(group, method) for name, group in by_category.items()},
        "by_time_aware": {
            word: grouped.figures([answer for answer in answers if answer.get("time_aware") is aware], method)
            for word, aware in time_aware.items()
        },
        "by_gap": {name: grouped.figures(group, method) for name, group in grouped.by_gap(answers).items()},
        "by_horizon": {
            f"DAY{day}": grouped.figures(group, method) for day, group in grouped.by_horizon(answers).items()
        },
    }


def _paired(base: Column, column: Column) -> dict[str, Any]:
    changes = compare_outcomes(base.answers, column.answers)
    return {
        "label": column.label,
        "against": base.label,
        "shared": len(base.answers.keys() & column.answers.keys()),
        "changes": [change.to_json() for change in changes],
    }


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings with dotted names."""
    flat: dict[str, Any] = {}
    for name, part in value.items():
        if isinstance(part, Mapping):
            flat |= _flat(part, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = part
    return flat


def _label(columns: Sequence[Column]) -> None:
    """Names every method, with what it differs in from others of the same name.

    What an older evaluation does not know is no difference, and `identity` only sums up settings and models: both are
    shown only where nothing else tells two methods apart.
    """
    for unknown, identity in ((False, False), (True, False), (True, True)):
        for column in columns:
            twins = [other.config for other in columns if other.method == column.method]
            words = [
                f"{name.removeprefix('settings.')}={str(column.config.get(name))[:_LONGEST]}"
                for name in sorted(set().union(*twins))
                if (identity or name != _IDENTITY) and _differs(name, twins, unknown=unknown)
            ]
            column.label = f"{column.method} ({', '.join(words)})" if words else column.method
        if len({column.label for column in columns}) == len(columns):
            return


def _differs(name: str, configs: Sequence[Mapping[str, Any]], *, unknown: bool) -> bool:
    """Whether a setting has several values; `unknown`: whether to lack it counts as one."""
    return len({repr(config.get(name)) for config in configs if unknown or name in config}) > 1

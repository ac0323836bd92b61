"""Puts evaluations side by side, with what papers print."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

from jobs.console import console, ends_well, log, print_json, run_app
from jobs.options import DEFAULT_ROOT, JsonOption, RootOption, WearersOption
from ray_tasks.corpus.week_time import WeekTimeError, parse_day
from ray_tasks.errors import UsageError
from ray_tasks.evaluation.side_by_side import StoredResult, compare_results
from ray_tasks.evaluation.side_by_side_table import render_comparison
from ray_tasks.storage.interface import is_key
from ray_tasks.storage.store import MissingObjectError, ObjectStore, open_store

FOLDER: Final = "evaluations"
_NAMED_IN_ERRORS: Final = 8


@ends_well
def compare(
    evaluations: Annotated[
        list[str] | None,
        typer.Argument(
            help="Ids under evaluations/ in the root (or their beginnings), or files that `evaluate --json` wrote. "
            "Without any, all of the root.",
            show_default=False,
        ),
    ] = None,
    root: RootOption = DEFAULT_ROOT,
    benchmark: Annotated[str | None, typer.Option(help="Only evaluations of this benchmark.")] = None,
    wearer: WearersOption = None,
    against: Annotated[
        str | None,
        typer.Option(help="The evaluation whose method the others are tested against; the first by default."),
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="Only questions asked by the end of this day (3 or DAY3): a shorter recording.")
    ] = None,
    published: Annotated[bool, typer.Option(help="Show what papers print, marked as published.")] = True,
    ablations: Annotated[bool, typer.Option("--ablations", help="Show the papers' ablation tables as well.")] = False,
    json: JsonOption = False,
) -> None:
    """Compare methods: rates with intervals, paired tests, and groups of questions, beside the papers' figures.

    Groups are category, time-awareness, time between evidence and question, and the days recorded so far. Evaluations
    that differ only in wearer and questions count as one method. Exit code 0: compared; 2: the input is at fault.

    Examples:

        daybook compare --root memories

        daybook compare --root memories egolifeqa-A1_JAKE-egocite egolifeqa-A1_JAKE-caption-rag --until DAY3

        daybook compare mine.json yours.json --no-published --json
    """
    day = _day(until)
    names = evaluations or list(_all_of(open_store(root), root))
    results = [result for name in names for result in _load(name, root)]
    if benchmark is not None:
        known = sorted({str(result.document["benchmark"]) for result in results})
        results = [result for result in results if result.document["benchmark"] == benchmark]
        if not results:
            raise UsageError(f"--benchmark {benchmark}: none of these evaluations; they are of {', '.join(known)}")
    if against is not None and against not in names:
        against = next((result.name for result in results if result.name.startswith(against)), against)
    comparison = compare_results(results, against=against, until_day=day, wearers=wearer or ())
    if not published:
        for part in comparison["benchmarks"].values():
            part["published"] = []
        comparison["sources"] = {}
    if json:
        print_json(comparison)
        return
    console.print(render_comparison(comparison, published=published, ablations=ablations))
    log.print(f"compared: {', '.join(result.name for result in results)}", markup=False, soft_wrap=True)


def _day(until: str | None) -> int | None:
    try:
        return None if until is None else parse_day(until)
    except WeekTimeError as error:
        raise UsageError(f"--until: {error}") from error


def _all_of(store: ObjectStore, root: str) -> Iterator[str]:
    """Ids of all evaluations that a root keeps the result of; raises UsageError where there are none."""
    found = False
    for key in store.list_keys(f"{FOLDER}/"):
        if key.endswith("/result.json"):
            found = True
            yield key.removeprefix(f"{FOLDER}/").removesuffix("/result.json")
    if not found:
        raise UsageError(f"{root} holds no evaluations; make one with `daybook evaluate --root {root} ...`")


def _load(name: str, root: str) -> list[StoredResult]:
    """The results of a file, or the one of an id; raises UsageError that names the ids there are."""
    path = Path(name)
    if path.is_file():
        try:
            return StoredResult.parse(name, path.read_bytes())
        except OSError as error:
            raise UsageError(f"{name}: cannot be read: {error.strerror}") from error
    if name.endswith(".json"):
        raise UsageError(f"{name}: there is no such file")
    store = open_store(root)
    matches = [name]
    if not is_key(name) or not store.exists(f"{FOLDER}/{name}/result.json"):
        known = list(_all_of(store, root))
        matches = [one for one in known if one.startswith(name)]
        if len(matches) != 1:
            problem = f"there is no evaluation {name}" if not matches else f"{name} begins several evaluations"
            shown = ", ".join((matches or known)[:_NAMED_IN_ERRORS])
            raise UsageError(f"{problem} in {root}; {'there are' if not matches else 'say which'}: {shown}")
    try:
        return StoredResult.parse(matches[0], store.read(f"{FOLDER}/{matches[0]}/result.json"))
    except MissingObjectError as error:
        raise UsageError(f"{name}: its result is gone; evaluate again") from error


if __name__ == "__main__":
    run_app(compare)

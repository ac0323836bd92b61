"""Looks for what would go wrong: on this machine, or in a corpus."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from jobs.checks import Check, check_machine
from jobs.console import console, ends_well, print_json, run_app
from jobs.models import doctor_models
from jobs.options import DEFAULT_ROOT, ConfigOption, DaysOption, JsonOption, RootOption, WearersOption
from ray_tasks.config import load_config
from ray_tasks.corpus.doctor import inspect_corpus
from ray_tasks.corpus.doctor_text import render_report

MARKS = {"ok": "[green]ok[/]", "warning": "[yellow]warning[/]", "broken": "[red]broken[/]"}


@ends_well
def doctor(
    corpus: Annotated[Path | None, typer.Option(help="Report on these recordings instead of on this machine.")] = None,
    wearer: WearersOption = None,
    day: DaysOption = None,
    root: RootOption = DEFAULT_ROOT,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Check this machine, or report file by file what is odd about recordings before any work is paid for.

    Exit code 0: nothing stands in the way; 1: something is broken; 2: there are no recordings to look at.

    With --config, the language models of the configuration are asked as well; one that the job would start for itself
    is started and stopped again.

    Examples:

        daybook doctor

        daybook doctor --config nightly.yaml

        daybook doctor --corpus recordings --wearer A1_JAKE
    """
    if corpus is not None:
        _report_corpus(corpus, wearer, day, json)
        return
    checks = check_machine(root)
    if config is not None:
        checks += doctor_models(load_config(config))
    if json:
        print_json([asdict(check) for check in checks])
    else:
        _show_checks(checks)
    if any(check.state == "broken" for check in checks):
        raise typer.Exit(1)


def _report_corpus(corpus: Path, wearers: list[str] | None, days: list[str] | None, json: bool) -> None:
    report = inspect_corpus(corpus, wearers, days)
    if json:
        print_json(report.to_json())
        return
    for line in render_report(report):
        console.print(line, markup=False, soft_wrap=True)


def _show_checks(checks: list[Check]) -> None:
    for check in checks:
        console.print(f"{MARKS[check.state]:<18} {check.name:<9} ", end="")
        console.print(check.found, markup=False, soft_wrap=True)
        if check.mend:
            console.print(f"          mend: {check.mend}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    run_app(doctor)

"""The command `daybook`: each command is a module of this folder and also runs as `python -m jobs.X`."""

from __future__ import annotations

import typer

from jobs.ask import ask
from jobs.build import build
from jobs.compare import compare
from jobs.demo import demo
from jobs.doctor import doctor
from jobs.evaluate import evaluate
from jobs.gc import gc
from jobs.inspect import inspect
from jobs.nightly import nightly
from jobs.plan import plan
from jobs.publish import publish, rollback
from jobs.retry_failed import retry_failed
from jobs.status import status
from jobs.trace import trace
from jobs.tune import tune

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Turn weeks of first-person recordings into a searchable memory, and measure how well it answers.",
)
COMMANDS = (
    demo,
    plan,
    build,
    retry_failed,
    nightly,
    evaluate,
    compare,
    trace,
    tune,
    ask,
    inspect,
    status,
    publish,
    rollback,
    gc,
    doctor,
)
for command in COMMANDS:
    app.command()(command)


def main() -> None:
    """The entry point of the console script."""
    app()


if __name__ == "__main__":
    main()

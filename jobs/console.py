"""What all commands share: how they print, how they end, and how a build's progress is shown."""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final, NoReturn, ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ray_tasks.errors import DaybookError, UsageError
from ray_tasks.scheduling.tasks import ShardResult

P = ParamSpec("P")
T = TypeVar("T")

console = Console(highlight=False)
"""Results go to standard output."""
log = Console(stderr=True, highlight=False)
"""Progress, notes and errors go to standard error, so that output can be piped."""

DISKS_FAULTS: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})
"""What may be mended without another command: the disk is full, or broken."""

LOG_EVERY_SECONDS = 5.0
ESTIMATE_AFTER_SHARDS = 8


def fail(message: str, code: int) -> NoReturn:
    """Prints an error and leaves: exit code 1 for incomplete work, 2 where the command or its input is at fault."""
    log.print(f"[bold red]error:[/] {escape(message)}", soft_wrap=True)
    raise typer.Exit(code)


def ends_well(command: Callable[P, T]) -> Callable[P, T]:
    """Wraps a command so that errors meant for people end it with their message and exit code, without a traceback."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return command(*args, **kwargs)
        except DaybookError as error:
            fail(str(error), error.exit_code)
        except OSError as error:
            if error.filename is None:  # no file that a person could mend
                raise
            fail(f"{error.filename}: {error.strerror}", 1 if error.errno in DISKS_FAULTS else 2)
        except KeyboardInterrupt:
            fail("interrupted; run the same command again to go on where it stopped", 1)

    return wrapped


def print_json(data: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")


def check_output(file: Path) -> None:
    """Raises UsageError where --json names what cannot become a file, so that this is told before any work."""
    folder = file.absolute().parent
    if not folder.is_dir():
        raise UsageError(f"--json {file}: there is no folder {folder}")
    if file.is_dir():
        raise UsageError(f"--json {file}: it is a folder; name a file in it, such as {file / 'result.json'}")
    if not os.access(file if file.exists() else folder, os.W_OK):
        raise UsageError(f"--json {file}: it may not be written; name a file in another folder")


def run_app(command: Callable[..., Any]) -> None:
    """Runs one command as a program of its own: `python -m jobs.X`."""
    app = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
    app.command()(command)
    app()


def progress_bars(*, disable: bool = False) -> Progress:
    """Bars on standard error: what is done, of how many, the task's `rate`, and times."""
    return Progress(
        TextColumn("{task.description:<8}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=log,
        disable=disable,
    )


def say(note: str) -> None:
    """A note on standard error, as it is."""
    log.print(note, markup=False, soft_wrap=True)


def log_line(text: str) -> None:
    """A line of a log, with the time of day."""
    say(f"{time.strftime('%H:%M:%S')} {text}")


class TerminalReporter:
    """Progress bars for a person: wave, shards done, rate, time left."""

    def __init__(self) -> None:
        self._progress = progress_bars()
        self._bars: dict[str, TaskID] = {}
        self._wave = ""
        self._started = 0.0
        self._made = 0

    def __enter__(self) -> TerminalReporter:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def wave_started(self, name: str, total: int, cached: int) -> None:
        """See Reporter."""
        self._wave, self._started, self._made = name, time.monotonic(), 0
        note = f"{cached} cached" if cached else ""
        self._bars[name] = self._progress.add_task(name, total=total, completed=cached, rate=note)

    def shard_finished(self, result: ShardResult) -> None:
        """See Reporter."""
        self._made += 1
        rate = self._made / max(time.monotonic() - self._started, 1e-9)
        self._progress.update(self._bars[self._wave], advance=1, rate=f"{rate:.1f}/s")
        if result.failure:
            self._progress.print(f"failed: {result.stage} {result.shard}: {result.failure.message}", markup=False)

    def wave_finished(self, name: str, seconds: float) -> None:
        """See Reporter."""
        self._progress.update(self._bars[name], rate=f"{seconds:.1f} s")
        self._progress.stop_task(self._bars[name])


class LogReporter:
    """Plain lines where there is no terminal: start and end of each wave, failures, and a line every few seconds."""

    def __init__(self) -> None:
        self._wave, self._total, self._cached, self._made = "", 0, 0, 0
        self._started = self._spoke = 0.0

    def __enter__(self) -> LogReporter:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def wave_started(self, name: str, total: int, cached: int) -> None:
        """See Reporter."""
        self._wave, self._total, self._cached, self._made = name, total, cached, 0
        self._started = self._spoke = time.monotonic()
        log_line(f"{name}: {total} shards, {cached} cached, {total - cached} to do")

    def shard_finished(self, result: ShardResult) -> None:
        """See Reporter."""
        self._made += 1
        now = time.monotonic()
        if result.failure:
            log_line(f"{self._wave}: {result.shard} failed: {result.failure.error}: {result.failure.message}")
        if now - self._spoke >= LOG_EVERY_SECONDS:
            self._spoke = now
            rate = self._made / max(now - self._started, 1e-9)
            left = (self._total - self._cached - self._made) / rate
            # The first shards wait for workers to start, so they say nothing about the rest.
            estimate = f", {left:.0f} s left" if self._made >= ESTIMATE_AFTER_SHARDS else ""
            log_line(f"{self._wave}: {self._cached + self._made}/{self._total}, {rate:.1f}/s{estimate}")

    def wave_finished(self, name: str, seconds: float) -> None:
        """See Reporter."""
        log_line(f"{name}: done in {seconds:.1f} s")


def make_reporter() -> TerminalReporter | LogReporter:
    """Bars on a terminal, lines elsewhere."""
    return TerminalReporter() if log.is_terminal else LogReporter()

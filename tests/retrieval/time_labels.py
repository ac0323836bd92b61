"""The labelled time expressions of time_expressions.txt, and how many of them a parser reads as they are meant.

python -m tests.retrieval.time_labels
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from ray_tasks.corpus.week_time import HOUR_MS, MINUTE_MS, day_of, parse_day, week_ms

FILE = Path(__file__).with_name("time_expressions.txt")
PARTS = ("required", "held out")

Span = tuple[int, int]
Parser = Callable[[str, int, date | None], Sequence[Span]]
"""(text, asked at, date of DAY1 or None) -> windows of week time in order of the text."""


@dataclass(frozen=True)
class Label:
    """An expression, when it is asked (week time, ms), and of each window the core it holds and the bounds it keeps."""

    part: str
    text: str
    at_ms: int
    first_day: date | None
    windows: tuple[tuple[Span, Span], ...]
    line: int

    def agrees(self, found: Sequence[Span]) -> bool:
        """Whether windows are the labelled ones: as many, in this order, each round its core and within its bounds."""
        return len(found) == len(self.windows) and all(
            bounds[0] <= window[0] <= core[0] and core[1] <= window[1] <= bounds[1]
            for window, (core, bounds) in zip(found, self.windows, strict=True)
        )


def read_labels(text: str | None = None) -> list[Label]:
    """All labels of the file, or of a text in its form; raises ValueError for a line that is none."""
    labels: list[Label] = []
    part, at_ms, first_day = PARTS[0], 0, None
    for number, line in enumerate((FILE.read_text(encoding="utf-8") if text is None else text).splitlines(), start=1):
        line = line.strip()
        if line.startswith("["):
            part = line.strip("[]")
        elif line.startswith("@"):
            day, clock, *rest = line[1:].split()
            at_ms = week_ms(parse_day(day), _clock(clock))
            first_day = date.fromisoformat(rest[0]) if rest else None
        elif line and not line.startswith("#"):
            expression, _, written = line.rpartition(" = ")
            labels.append(Label(part, expression, at_ms, first_day, _windows(written, at_ms), number))
    return labels


def accuracy(labels: Sequence[Label], parser: Parser) -> tuple[int, list[Label]]:
    """How many labels a parser agrees with, and those with which it does not."""
    wrong = [label for label in labels if not label.agrees(parser(label.text, label.at_ms, label.first_day))]
    return len(labels) - len(wrong), wrong


def _windows(written: str, at_ms: int) -> tuple[tuple[Span, Span], ...]:
    if written == "none":
        return ()
    if written.startswith("every "):
        core, bounds = (side.strip() for side in written.removeprefix("every ").split(" in "))
        days = range(1, day_of(at_ms) + 1)
        windows = [(_span(f"{day} {core}"), _span(f"{day} {bounds}")) for day in days]
        begun = [(core, bounds) for core, bounds in windows if core[0] <= at_ms]
        return tuple(((min(c[0], at_ms), min(c[1], at_ms)), (b[0], min(b[1], at_ms))) for c, b in begun)
    pairs = [window.split(" in ") for window in written.split(" & ")]
    return tuple((_span(core), _span(bounds)) for core, bounds in pairs)


def _span(written: str) -> Span:
    """``5 9:30``, ``5 9-11``, or ``4 17-5 9``."""
    match = re.fullmatch(r"(\d+) ([\d:]+)(?:-(?:(\d+) )?([\d:]+))?", written.strip())
    if not match:
        raise ValueError(f"not a window: {written!r}")
    start = week_ms(int(match[1]), _clock(match[2]))
    return start, week_ms(int(match[3] or match[1]), _clock(match[4])) if match[4] else start


def _clock(written: str) -> int:
    hour, *rest = (int(number) for number in written.split(":"))
    minute, second = [*rest, 0, 0][:2]
    return hour * HOUR_MS + minute * MINUTE_MS + second * 1000


def main() -> None:
    """Prints the share of labels that the project's parser reads as they are meant, and those it does not."""
    labels = read_labels()
    for part in PARTS:
        chosen = [label for label in labels if label.part == part]
        right, wrong = accuracy(chosen, parsed)
        sys.stdout.write(f"{part}: {right} of {len(chosen)} ({100 * right / len(chosen):.1f}%)\n")
        sys.stdout.writelines(f"  line {label.line}: {label.text}\n" for label in wrong)


def parsed(text: str, at_ms: int, first_day: date | None) -> list[Span]:
    """The windows that the project's parser finds."""
    from ray_tasks.retrieval.time_phrases import find_windows

    return [(window.start_ms, window.end_ms) for window in find_windows(text, at_ms, first_day)]


if __name__ == "__main__":
    main()

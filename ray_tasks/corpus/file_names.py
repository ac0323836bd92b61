"""What the names of released files tell: the folder says whose day a file is, and its own name when it begins."""

from __future__ import annotations

import re
from pathlib import Path

from ray_tasks.corpus.week_time import parse_clock

_CLOCK = re.compile(r"(?<!\d)\d{5,8}(?!\d)")
_DAY = re.compile(r"(?<![A-Za-z])day_?(\d{1,4})(?!\d)", re.IGNORECASE)
_WEARER = re.compile(r"[^\s:/\\.][^\s:/\\]*")


def entries(folder: Path) -> list[Path]:
    """What a folder holds, by name; hidden entries are none of ours. What is absent, or no folder, holds nothing."""
    if not folder.is_dir():
        return []
    return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))


def is_wearer(name: str) -> bool:
    """Whether a folder so called can be a wearer's."""
    return _WEARER.fullmatch(name) is not None


def clock_in(name: str) -> int:
    """The last clock time (five to eight digits) in a name, as ms since midnight; raises WeekTimeError for none."""
    clocks = _CLOCK.findall(name)
    return parse_clock(clocks[-1] if clocks else name).ms


def names_other(name: str, wearer: str, day: int) -> bool:
    """Whether a name leaves out the wearer, or names other days than this one."""
    days = [int(number) for number in _DAY.findall(name)]
    return wearer.casefold() not in name.casefold() or bool(days and day not in days)

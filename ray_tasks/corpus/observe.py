"""Source files to observations: one entry point for the files of a shard, or of several.

Within an hour the transcript is the truth about speech, and Sync about what was seen: the spoken rows of Sync lost and
doubled cues at its clip borders, and the dense captions are its source. What gives way is booked as filtered. It is
decided by what the better file gave, so an empty or unreadable transcript does not silence an hour.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from ray_tasks.corpus.fuse import Clip, order_in_time
from ray_tasks.corpus.layout import Kind, ShardKey, SourceFile
from ray_tasks.corpus.problems import Problem
from ray_tasks.corpus.srt_reader import ReadFile, read_srt
from ray_tasks.corpus.sync import ReadSync, read_sync
from ray_tasks.corpus.week_time import hour_of
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Observation

_Read = TypeVar("_Read", ReadFile, ReadSync)


@dataclass
class Observed:
    """What source files gave.

    `ledgers` are by kind of file (cues, or rows of Sync). `clips` are the known videos of each wearer by the start of
    their window. `touches` counts observations by the (day, hour) in which they start, which is not always that of
    their file.
    """

    observations: list[Observation] = field(default_factory=list)
    ledgers: dict[Kind, Ledger] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    clips: dict[str, dict[int, Clip]] = field(default_factory=dict)
    touches: Counter[tuple[int, int]] = field(default_factory=Counter)


def observe(files: Sequence[SourceFile]) -> Observed:
    """Everything that source files hold, in order of wearer, time, modality and text.

    The files of one hour must come together, since they supersede one another. A file that cannot be read fails as one
    row of its kind, and is named in the problems; LedgerError is raised where the books of a kind do not balance.
    """
    observed = Observed()
    hours: dict[ShardKey, list[SourceFile]] = {}
    for file in files:
        hours.setdefault(file.shard, []).append(file)
    for shard in sorted(hours):
        _observe_hour(hours[shard], observed)
    observed.observations.sort(key=lambda row: (row.wearer, *order_in_time(row)))
    observed.touches.update((row.day, hour_of(row.start_ms)) for row in observed.observations)
    for kind, ledger in observed.ledgers.items():
        ledger.check(f"{kind} files")
    return observed


def _observe_hour(files: Sequence[SourceFile], observed: Observed) -> None:
    """The files of one hour, the better ones first."""
    spoken = False
    for file in _of_kind(files, "transcript"):
        read = _read(file, partial(read_srt, file=file), observed)
        spoken = spoken or bool(read and read.observations)
    seen = False
    for file in _of_kind(files, "sync"):
        sync = _read(file, partial(read_sync, file=file, speech_superseded=spoken), observed)
        if sync:
            observed.clips.setdefault(file.wearer, {}).update(sync.clips)
            seen = seen or any(row.modality == "visual" for row in sync.observations)
    for file in _of_kind(files, "dense"):
        _read(file, partial(_read_dense, file=file, superseded=seen), observed)


def _of_kind(files: Sequence[SourceFile], kind: Kind) -> list[SourceFile]:
    return [file for file in files if file.kind == kind]


def _read_dense(data: bytes, file: SourceFile, *, superseded: bool) -> ReadFile:
    """Dense captions as they are, or with all cues filtered where Sync shows the same hour."""
    read = read_srt(data, file)
    if not superseded:
        return read
    read.ledger.filtered["superseded_by_sync"] += read.ledger.done
    read.ledger.done = 0
    return replace(read, observations=())


def _read(file: SourceFile, reader: Callable[[bytes], _Read], observed: Observed) -> _Read | None:
    """Reads a file and books what it gave; None where it cannot be read."""
    ledger = observed.ledgers.setdefault(file.kind, Ledger())
    try:
        data = file.path.read_bytes()
    except OSError as error:
        ledger.taken += 1
        ledger.failed["unreadable_file"] += 1
        observed.problems.append(Problem("unreadable_file", file.label, f"cannot be read: {error.strerror}"))
        return None
    read = reader(data)
    ledger.add(read.ledger)
    observed.observations.extend(read.observations)
    observed.problems.extend(read.problems)
    return read

"""Which frames of a clip are shown to the model, and how little of it must be decoded for them. Times in microseconds.

Seconds are told by presentation time, never by counting frames: clips of a variable rate, and clips that hold another
number of frames than their name or header says, are right too. Of each second (or fraction of one) the first frame
that starts in it is taken; where none starts nothing new was recorded, and no picture is repeated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

SECOND_US: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Packet:
    """An encoded frame, listed in the order of decoding: when it is shown, and whether decoding can begin with it.

    `start_us` is None where the file does not tell; `shown` is False for what an edit list cuts away. `spare`: no other
    frame is built upon it.
    """

    start_us: int | None
    key: bool
    shown: bool = True
    spare: bool = False


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """A window of a clip, numbered from 1: from its border to the end of its frames, and the frames that are taken."""

    number: int
    start_us: int
    end_us: int
    taken: tuple[int, ...]

    @property
    def seconds(self) -> float:
        """How long it is."""
        return (self.end_us - self.start_us) / SECOND_US


def lay_out(
    times: Iterable[int],
    *,
    window_s: int,
    pictures_per_second: int = 1,
    last_us: int = SECOND_US,
    shown_us: int | None = None,
) -> list[WindowPlan]:
    """The windows in which frames with these start times lie, each ending with its frames or at its border.

    A frame is shown until the next one, but for at most `shown_us` where that is given; the last one for `last_us`.
    Windows in which no frame starts are left out.
    """
    ordered = sorted(set(times))
    ends = [later for _, later in pairwise(ordered)] + [time + last_us for time in ordered[-1:]]
    width = window_s * SECOND_US
    first_of: dict[int, dict[int, int]] = {}
    end_of: dict[int, int] = {}
    for time, end in zip(ordered, ends, strict=True):
        index = time // width
        first_of.setdefault(index, {}).setdefault(time * pictures_per_second // SECOND_US, time)
        end_of[index] = min(end, time + (shown_us or width), (index + 1) * width)
    return [
        WindowPlan(index + 1, index * width, end_of[index], tuple(taken.values())) for index, taken in first_of.items()
    ]


def needed_packets(packets: Sequence[Packet], wanted: frozenset[int]) -> list[list[int]]:
    """The packets (indices in order of decoding) that must be decoded for the wanted frames, in stretches.

    Each stretch stands alone. It begins with the last packet before the frame at which decoding can begin and which is
    shown no later, since frames that are stored after a key packet but shown before it are built upon the key packet
    before. Stretches that touch are one. Spare packets are left out where they are not wanted.
    """
    runs: list[range] = []
    for index, packet in enumerate(packets):
        if not packet.shown or packet.start_us is None or packet.start_us not in wanted:
            continue
        first = _entry(packets, index, packet.start_us)
        if runs and first <= runs[-1].stop:
            runs[-1] = range(runs[-1].start, index + 1)
        else:
            runs.append(range(first, index + 1))
    return [[i for i in run if packets[i].start_us in wanted or not packets[i].spare] for run in runs]


def _entry(packets: Sequence[Packet], index: int, start_us: int) -> int:
    """Where decoding must begin for the packet at `index`; the file's begin where there is no such key packet."""
    for earlier in range(index, -1, -1):
        packet = packets[earlier]
        if packet.key and packet.start_us is not None and packet.start_us <= start_us:
            return earlier
    return 0

"""Observations to 30-second captions (EgoCITE §3.1): clock-aligned windows, nothing dropped at their borders.

An observation belongs to the window in which it starts, whatever it crosses. A window without observations has no
caption, so nothing is claimed for a gap, and the last window of a day is like any other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from ray_tasks.corpus.week_time import SECOND_MS, day_of, format_week_time
from ray_tasks.rows import Caption, Line, Observation

CLIP_MS: Final = 30 * SECOND_MS


class Clip(NamedTuple):
    """A recorded video: when it starts (week time, ms) and its name or address."""

    start_ms: int
    video_uri: str


def window_start(ms: int) -> int:
    """The start of the clock-aligned window, at :00 or :30, in which a week time lies."""
    return ms - ms % CLIP_MS


def caption_id(wearer: str, window_ms: int) -> str:
    """The id of a wearer's caption for the window that starts at `window_ms`, for example ``P1_MARA:DAY1_11093000``."""
    return f"{wearer}:{format_week_time(window_ms).replace(' ', '_')}"


def fuse(observations: Iterable[Observation], clips: Mapping[int, Clip]) -> list[Caption]:
    """The captions of one wearer's observations, in order of time; every observation is in exactly one of them.

    `clips` are the known videos by the start of their window. Raises ValueError for observations of several wearers.
    """
    windows: defaultdict[int, list[Observation]] = defaultdict(list)
    for observation in observations:
        windows[window_start(observation.start_ms)].append(observation)
    wearers = {observation.wearer for inside in windows.values() for observation in inside}
    if len(wearers) > 1:
        raise ValueError(f"captions are fused for one wearer at a time, not for {', '.join(sorted(wearers))}")
    return [_caption(start, windows[start], clips.get(start)) for start in sorted(windows)]


def _caption(window_ms: int, inside: list[Observation], clip: Clip | None) -> Caption:
    """One caption: from the clip's start (or a line before it) to the window's end (or the last line's)."""
    ordered = sorted(inside, key=order_in_time)
    wearer = ordered[0].wearer
    start = min(clip.start_ms if clip else window_ms, ordered[0].start_ms)
    end = max(window_ms + CLIP_MS, *(row.end_ms for row in ordered))
    lines = tuple(Line(row.start_ms, row.end_ms, row.modality, row.speaker, row.text, row.lang) for row in ordered)
    visual = sum(line.modality == "visual" for line in lines)
    return Caption(
        caption_id=caption_id(wearer, window_ms),
        wearer=wearer,
        day=day_of(window_ms),
        start_ms=start,
        end_ms=end,
        text="\n".join(line_text(line) for line in lines),
        n_visual=visual,
        n_speech=len(lines) - visual,
        video_uri=clip.video_uri if clip else None,
        lines=lines,
    )


def line_text(line: Line) -> str:
    """A line as a caption shows it: ``Name: text`` for speech with a speaker, else the text."""
    return f"{line.speaker}: {line.text}" if line.modality == "speech" and line.speaker else line.text


def order_in_time(row: Observation) -> tuple[int, int, str, str, str, str]:
    """What observations of one wearer are sorted by; the last two only settle what is equal in all else."""
    return row.start_ms, row.end_ms, row.modality, row.text, row.speaker or "", row.source

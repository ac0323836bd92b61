"""Captions as the data section of a request.

Whatever a line says is data: each line is a JSON object on one line of its own, and since angle brackets are escaped,
no line can close the section that holds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from ray_tasks.corpus.week_time import format_for_people
from ray_tasks.engines.steps import as_data, as_told
from ray_tasks.rows import Caption, Line


@lru_cache(maxsize=16_384)
def line_json(line: Line, number: int | None = None) -> str:
    """A line as data: its number, the clock's time, and what was seen or who said what."""
    told = {} if number is None else {"line": number}
    return as_data({**told, "time": _clock(line.start_ms), **as_told(line.modality, line.speaker, line.text)})


def lines_json(lines: Iterable[Line], most_chars: int) -> tuple[str, int]:
    """The latest lines that fit into so many characters, in order of time, and how many do not."""
    told = [line_json(line) for line in lines]
    kept = _fitting(told[::-1], most_chars, extra=1)
    return "\n".join(kept[::-1]), len(told) - len(kept)


def numbered_json(captions: Sequence[Caption], most_chars: int) -> tuple[str, int]:
    """Captions as data, numbered from 0, each with the lines that fit into its share, and how many lines do not.

    The first line of a caption is there in any case, cut where it is too long alone.
    """
    share = most_chars // max(1, len(captions))
    rows: list[str] = []
    left_out = 0
    for number, caption in enumerate(captions):
        told = [_told(line) for line in caption.lines if line.text.strip()]
        kept = _fitting(told, share, extra=4)
        left_out += len(told) - len(kept)
        lines = kept or [text[:share] for text in told[:1]]
        rows.append(as_data({"caption": number, "time": _clock(caption.start_ms), "lines": lines}))
    return "\n".join(rows), left_out


def _told(line: Line) -> str:
    if line.modality == "visual":
        return line.text
    return f"{line.speaker or 'unknown speaker'} says: {line.text}"


def _fitting(texts: Sequence[str], most_chars: int, *, extra: int) -> list[str]:
    """The first texts that fit, each with some signs around it."""
    room = most_chars
    for number, text in enumerate(texts):
        room -= len(text) + extra
        if room < 0:
            return list(texts[:number])
    return list(texts)


def _clock(ms: int) -> str:
    return format_for_people(ms).split(" ", 1)[1]

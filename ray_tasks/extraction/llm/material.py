"""Captions as the data section of a request.

Whatever a line says is data: each line is a JSON object on one line of its own, and since angle brackets are escaped,
no line can close the section that holds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from ray_tasks.corpus.week_time import format_for_people
from ray_tasks.engines.steps import as_data
from ray_tasks.rows import Caption, Line


@lru_cache(maxsize=16_384)
def line_json(line: Line, number: int | None = None) -> str:
    """A line as data: its number, the clock's time, and what was seen or who said what."""
    told: dict[str, Any] = {} if number is None else {"line": number}
    told["time"] = _clock(line.start_ms)
    if line.modality == "speech":
        told |= {"speaker": line.speaker, "said": line.text}
    else:
        told["seen"] = line.text
    return as_data(told)


def lines_json(lines: Iterable[Line], most_chars: int) -> str:
    """The latest lines that fit into so many characters, in order of time."""
    kept: list[str] = []
    room = most_chars
    for text in reversed([line_json(line) for line in lines]):
        room -= len(text) + 1
        if room < 0:
            break
        kept.append(text)
    return "\n".join(reversed(kept))


def numbered_json(captions: Sequence[Caption], most_chars: int) -> str:
    """Captions as data, numbered from 0, each with as many of its lines as fit into its share of the characters."""
    share = most_chars // max(1, len(captions))
    return "\n".join(
        as_data(
            {
                "caption": number,
                "time": _clock(caption.start_ms),
                "lines": _fitting([_told(line) for line in caption.lines if line.text.strip()], share),
            }
        )
        for number, caption in enumerate(captions)
    )


def _told(line: Line) -> str:
    if line.modality == "visual":
        return line.text
    return f"{line.speaker or 'unknown speaker'} says: {line.text}"


def _fitting(texts: Sequence[str], most_chars: int) -> list[str]:
    """The first texts that fit; the first one in any case, cut where it is too long alone."""
    kept: list[str] = []
    room = most_chars
    for text in texts:
        room -= len(text) + 4
        if room < 0:
            break
        kept.append(text)
    return kept or [text[:most_chars] for text in texts[:1]]


def _clock(ms: int) -> str:
    return format_for_people(ms).split(" ", 1)[1]

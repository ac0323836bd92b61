"""Recordings written down by hand: one line per observation, fused into captions as real ones are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ray_tasks.corpus.fuse import fuse
from ray_tasks.corpus.week_time import HOUR_MS, MINUTE_MS, SECOND_MS, day_of
from ray_tasks.extraction.fine import extract_fine
from ray_tasks.extraction.types import window_end
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Atom, Caption, Observation, View

WEARER = "P1_MARA"

_LINE = re.compile(r"(\d+:\d+:\d+)(?:-(\d+:\d+:\d+))? (?:(\*)|([^:]*):) ?(.*)")


def clock(text: str) -> int:
    """Milliseconds of ``11:00:30``."""
    hour, minute, second = (int(part) for part in text.split(":"))
    return hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS


def record(script: str, wearer: str = WEARER) -> list[Caption]:
    """Captions of a script: ``11:00:03 * I pick up the jug.`` is seen, ``11:00:05-11:00:09 Tobi: Yes.`` is said.

    A line without an end lasts two seconds; a speaker left out is unknown.
    """
    rows = []
    for number, text in enumerate(filter(None, (line.strip() for line in script.splitlines()))):
        match = _LINE.fullmatch(text)
        assert match, text
        start_text, end_text, seen, speaker, words = match.groups()
        start = clock(start_text)
        end = clock(end_text) if end_text else start + 2 * SECOND_MS
        lang = "zh" if re.search(r"[\u4e00-\u9fff]", words) else "en"
        modality = "visual" if seen else "speech"
        rows.append(
            Observation(wearer, day_of(start), start, end, modality, speaker or None, words, lang, f"script#{number}")  # type: ignore[arg-type]
        )
    return fuse(rows, {})


def texts(atoms: Sequence[Atom], view: View) -> list[str]:
    """The texts of one view, in order."""
    return [atom.text for atom in atoms if atom.view == view]


def actions(script: str, wearer: str = WEARER) -> list[str]:
    """The action texts of a script."""
    return texts(extract_fine(record(script, wearer), [], wearer=wearer).atoms, "action")


def utterances(script: str, wearer: str = WEARER) -> list[str]:
    """The utterance texts of a script."""
    return texts(extract_fine(record(script, wearer), [], wearer=wearer).atoms, "utterance")


def ledger_of(script: str) -> Ledger:
    """The ledger of the fine views of a script."""
    return extract_fine(record(script), [], wearer=WEARER).ledger


def seen_by(captions: Sequence[Caption], at_ms: int) -> list[Caption]:
    """What is there at a time: windows that are over, with their lines that have ended."""
    kept = []
    for caption in captions:
        lines = tuple(line for line in caption.lines if line.end_ms <= at_ms)
        if window_end(caption) <= at_ms and lines:
            visual = sum(line.modality == "visual" for line in lines)
            end_ms = max(window_end(caption), *(line.end_ms for line in lines))
            kept.append(replace(caption, lines=lines, end_ms=end_ms, n_visual=visual, n_speech=len(lines) - visual))
    return kept

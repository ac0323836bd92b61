"""Subtitle text to cues, with the line of each and with what could not be read.

The grammar is that of the library `srt` (its SRT_REGEX). Its `parse` generator is not used as it ends at the first
number that is too large, tells no positions, and lets a cue with an unreadable stamp vanish into the text of the one
before it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import srt

from ray_tasks.corpus.decoding import LINE_END
from ray_tasks.corpus.week_time import DAY_MS

BrokenReason = Literal["bad_stamp", "no_stamp"]

_INVISIBLE = re.compile("[\ufeff\u200b\u200e\u200f\u2060\\x00]")
_LINE_FEED = re.compile("\n")
_INDEX = re.compile(r"-?\d+\.?")
_STAMP = re.compile(r"(\d{1,4})([:：.,，．。])(\d{1,2})([:：.,，．。])(\d{1,3})(?:[:：.,，．。](\d{0,9}))?")
_HEADER = re.compile(r"(?=.*\d\s*[:：]\s*\w).*[-=–—] *>.*")
_STAMP_LIKE = re.compile(r"(?:\d+[:：]){2}\d|.*-->")
_SETTINGS = re.compile(r"(?:(?:[XY]\d|align|position|line|size|vertical|region):\S*\s*)+", re.IGNORECASE)
_LONG_NUMBER_AS_INDEX = re.compile(r"^(\d{9})\d{10,}(?=\n\d+[:：])", re.MULTILINE)
_LONG_NUMBER = re.compile(r"(\d{18})(?=\d)")


class Cue(NamedTuple):
    """A cue: its place in the file (from 1), the lines of its stamp and of its end, offsets in ms, and its text."""

    number: int
    line: int
    last_line: int
    start_ms: int
    end_ms: int
    text: str


class BrokenCue(NamedTuple):
    """A cue that could not be read, and the line at which it shows."""

    line: int
    reason: BrokenReason
    excerpt: str


@dataclass
class CueFile:
    """What a subtitle file holds, in its order. `stray_lines` are the first lines of text that belongs to no cue."""

    cues: list[Cue] = field(default_factory=list)
    broken: list[BrokenCue] = field(default_factory=list)
    stray_lines: list[int] = field(default_factory=list)

    @property
    def found(self) -> int:
        """Cues in the file, readable or not."""
        return len(self.cues) + len(self.broken)


def read_cues(text: str) -> CueFile:
    """The cues of a subtitle text; an unreadable one costs itself only."""
    text = _prepared(text)
    line_starts = [0, *(match.end() for match in _LINE_FEED.finditer(text))]
    found = CueFile()
    end = 0
    matches = list(srt.SRT_REGEX.finditer(text))
    for match, follower in zip(matches, [*matches[1:], None], strict=False):
        stamp = match.start(2)
        line = bisect_right(line_starts, stamp)
        between = text[end : min(match.start(), line_starts[line - 1])]
        _read_between(between, bisect_right(line_starts, end), found)
        end = match.end()
        if stamp != line_starts[line - 1]:  # something precedes it in its line, for example a minus sign
            _add_broken(found, line, "bad_stamp", text[line_starts[line - 1] : match.end(3)])
            continue
        content, lost = match.group(5), ""
        if follower and "\n\n" in content:
            content, lost = _split_at_lost_cue(content, match.group(1), follower.group(1))
        _add_cue(found, line, match, content)
        if lost:
            _add_broken(found, line + 3 + content.count("\n"), "no_stamp", lost)
    _read_between(text[end:], bisect_right(line_starts, end), found)
    return found


def _prepared(text: str) -> str:
    """Line feeds only, no invisible characters, no white space round lines, no number that stalls the grammar."""
    text = _INVISIBLE.sub("", LINE_END.sub("\n", text) if "\r" in text else text).replace("\t", " ")
    text = "\n".join(line.strip() for line in text.rstrip().split("\n"))
    if _LONG_NUMBER.search(text):
        text = _LONG_NUMBER.sub("\\1\u200b", _LONG_NUMBER_AS_INDEX.sub(r"\1", text))
    return text


def _add_cue(found: CueFile, line: int, match: re.Match[str], content: str) -> None:
    """Adds a matched cue, and the cues that its text swallowed because their stamps or blank lines are damaged."""
    stamps, extra = (match.group(2), match.group(3)), match.group(4).strip()
    lines = content.replace("\u200b", "").split("\n")
    headers = [index for index, text in enumerate(lines) if _HEADER.fullmatch(text)] if ">" in content else []
    ends = [*(_text_end(lines, header) for header in headers), len(lines)]
    own = lines[: ends[0]] if not extra or _SETTINGS.fullmatch(extra) else [extra, *lines[: ends[0]]]
    _add_stamped(found, line, stamps, own)
    for header, last in zip(headers, ends[1:], strict=True):
        inner = srt.SRT_REGEX.match(lines[header])
        stamps = (inner.group(2), inner.group(3)) if inner else (lines[header], "")
        _add_stamped(found, line + 1 + header, stamps, lines[header + 1 : last])


def _text_end(lines: list[str], header: int) -> int:
    """Where the text before a header ends: at its index line, if it has one."""
    return header - 1 if header and _INDEX.fullmatch(lines[header - 1]) else header


def _add_stamped(found: CueFile, line: int, stamps: tuple[str, str], lines: list[str]) -> None:
    start, end = _offset_ms(stamps[0]), _offset_ms(stamps[1])
    if start is None or end is None:
        _add_broken(found, line, "bad_stamp", " --> ".join(stamp for stamp in stamps if stamp))
        return
    found.cues.append(Cue(found.found + 1, line, line + len(lines), start, end, "\n".join(lines).strip()))


def _add_broken(found: CueFile, line: int, reason: BrokenReason, text: str) -> None:
    found.broken.append(BrokenCue(line, reason, " ".join(text.split())[:60]))


def _offset_ms(stamp: str) -> int | None:
    """Milliseconds of ``HH:MM:SS,mmm`` (any usual separators) or ``MM:SS.mmm``; None where it is no time of one day.

    The digits after the last separator are read as a decimal fraction.
    """
    full = _STAMP.fullmatch(stamp)
    if not full:
        return None
    hours, _, minutes, mark, seconds, fraction = full.groups()
    if fraction is None and mark not in ":：":
        hours, minutes, seconds, fraction = "0", hours, minutes, seconds
    if int(minutes) > 59 or int(seconds) > 59:
        return None
    offset = (int(hours) * 60 + int(minutes)) * 60_000 + int(seconds) * 1000 + int((fraction or "").ljust(3, "0")[:3])
    return offset if offset < DAY_MS else None


def _split_at_lost_cue(content: str, index: str | None, next_index: str | None) -> tuple[str, str]:
    """(text, rest): the rest is a following cue that lost its stamp line, told by its index between the neighbours'."""
    if not index or not next_index or not index.isdigit() or not next_index.isdigit():
        return content, ""
    if len(next_index) > 9 or int(next_index) != int(index) + 2:
        return content, ""
    text, mark, rest = content.partition(f"\n\n{int(index) + 1}\n")
    return (text, mark.strip() + "\n" + rest) if mark and rest.strip() and ">" not in rest else (content, "")


def _read_between(text: str, line: int, found: CueFile) -> None:
    """What stands between two readable cues: each line like a stamp is a broken cue, any other text is stray."""
    if not text.strip():
        return
    lines = text.split("\n")
    stamps = [index for index, content in enumerate(lines) if _STAMP_LIKE.match(content)]
    for index in stamps:
        _add_broken(found, line + index, "bad_stamp", lines[index])
    words = [index for index, content in enumerate(lines) if content and not _INDEX.fullmatch(content)]
    if words and not stamps:
        found.stray_lines.append(line + words[0])

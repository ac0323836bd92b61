"""Bytes to text without ever guessing garbage.

Order of tries: byte-order mark, UTF-16 without one, UTF-8, the Chinese national encodings (GB 2312, GBK, GB 18030).
Anything else is read as damaged UTF-8: bad bytes stay visible as lone surrogates, so the cue that holds one can be
refused while its neighbours survive. General detectors are not used, because on a file of one cue they take GBK for
Big5 and return wrong characters without a warning.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNIT = {"utf-8": 1, "utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 4, "utf-32-be": 4}
_BAD = re.compile("[\ud800-\udfff]")
_LONG_SEQUENCE = re.compile("[\u0800-\ud7ff\ue000-\uffff\U00010000-\U0010ffff]")
_HAN = re.compile("[\u4e00-\u9fff]")
_CHINESE_TEXT = re.compile("[\u4e00-\u9fff\u3000-\u301f\uff01-\uff5e\u2010-\u2026\u00b7]")
_COMMON_IN_SPEECH = frozenset(
    "的一是不了我你他她它这那个们有在就说要会去来好对吗吧呢没也都还到和上下大小什么怎可以能给把得着过想看知道谢开水人多里"
)
_SAMPLE = 4096

LINE_END = re.compile(r"\r+\n|\r|\n")
"""All the ways in which files end a line, also the second carriage return that careless copying leaves."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, the encoding it was read with, and bad bytes as {line from 1: offset in the file of its first bad byte}."""

    text: str
    encoding: str
    bad_lines: dict[int, int]


def decode(data: bytes) -> Decoded:
    """The text of a file; a character in it that stands for a bad byte is_bad."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _damaged(data[len(mark) :], encoding, skipped=len(mark))
    wide = _wide_encoding(data)
    if wide:
        return _damaged(data, wide)
    try:
        return Decoded(data.decode("utf-8"), "utf-8", {})
    except UnicodeDecodeError:
        chinese = _as_chinese(data)
        return Decoded(chinese, "gb18030", {}) if chinese is not None else _damaged(data, "utf-8")


def is_bad(text: str) -> bool:
    """Whether decoded text holds a byte that could not be read."""
    return _BAD.search(text) is not None


def _wide_encoding(data: bytes) -> str | None:
    """UTF-16 without a mark: ASCII digits and stamps then leave zero bytes at every other place."""
    head = data[:_SAMPLE]
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if max(even, odd) * 5 <= len(head) or min(even, odd) * 5 > max(even, odd):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _damaged(data: bytes, encoding: str, skipped: int = 0) -> Decoded:
    """Text with lone surrogates for what cannot be read; a cut last unit is left out and reported."""
    whole = len(data) - len(data) % _UNIT[encoding]
    errors = "surrogateescape" if encoding == "utf-8" else "surrogatepass"
    try:
        text = data[:whole].decode(encoding, errors)
    except UnicodeDecodeError as error:  # beyond what surrogates can carry: keep what precedes it
        whole = error.start
        text = data[:whole].decode(encoding, errors)
    bad: dict[int, int] = {}
    line, position, offset = 1, 0, skipped
    for match in _BAD.finditer(text):
        between = text[position : match.start()]
        line += len(LINE_END.findall(between))
        offset += len(between.encode(encoding, errors))
        position = match.start()
        bad.setdefault(line, offset)
    if whole < len(data):
        bad.setdefault(len(LINE_END.findall(text)) + 1, skipped + whole)
    return Decoded(text, encoding, bad)


def _as_chinese(data: bytes) -> str | None:
    """The text as GB 18030 if it reads like Chinese, else None.

    Other two-byte encodings decode under GB 18030 too, into rare characters: real Chinese speech is nearly all
    GB 2312, has no kana, and every twelfth character at least is one of the commonest.
    """
    damaged = data.decode("utf-8", "surrogateescape")
    if len(_LONG_SEQUENCE.findall(damaged)) >= len(_BAD.findall(damaged)):
        return None  # mostly valid UTF-8 with some bad bytes
    try:
        text = data.decode("gb18030")
    except UnicodeDecodeError:
        return None
    foreign = [character for character in text if character > "\x7f"]
    han = [character for character in foreign if _HAN.match(character)]
    plain = len("".join(foreign).encode("gb2312", "ignore")) // 2
    written = sum(1 for character in foreign if _CHINESE_TEXT.match(character))
    common = sum(1 for character in han if character in _COMMON_IN_SPEECH)
    if not han or plain < 0.9 * len(foreign) or written < 0.97 * len(foreign) or common * 12 < len(han):
        return None
    return text

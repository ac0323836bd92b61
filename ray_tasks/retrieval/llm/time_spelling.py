"""One spelling for the times that models write: plain digits and dashes, and Chinese words of time in English."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_DIGITS: Final = {
    sign: value
    for value, signs in enumerate(("零〇", "一", "二两", "三", "四", "五", "六", "七", "八", "九"))
    for sign in signs
}
_NUMBER_WORDS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_HAN = rf"[{''.join(_DIGITS)}十\d]{{1,4}}"
_LATE: Final = ("下午", "傍晚", "晚上", "夜里")
_HAN_PARTS: Final = {
    "凌晨": "early morning",
    "早上": "morning",
    "早晨": "morning",
    "上午": "morning",
    "中午": "noon",
    "下午": "afternoon",
    "傍晚": "evening",
    "晚上": "evening",
    "夜里": "night",
}
_HAN_WORDS: Final = {
    "大前天": "three days ago",
    "前天": "the day before yesterday",
    "昨晚": "last night",
    "昨天": "yesterday",
    "昨日": "yesterday",
    "今早": "this morning",
    "今晚": "tonight",
    "今天": "today",
    "今日": "today",
    "现在": "now",
    "刚才": "just now",
    "到": "to",
    "至": "to",
    "、": ",",
    "。": "",
    **_HAN_PARTS,
}
_HAN_DAY = re.compile(rf"第({_HAN})[天日]|day\s*({_HAN})(?!{_HAN}|[点點时時])")
_HAN_CLOCK = re.compile(rf"({'|'.join(_HAN_PARTS)})?\s*({_HAN})[点點时時](?:({_HAN})分?|(半))?(?:({_HAN})秒)?")
_HAN_WORD = re.compile("|".join(_HAN_WORDS))
_HAS_HAN = re.compile(r"[\u3001\u3002\u3007\u4e00-\u9fff]")


def plain_time(text: str) -> str:
    """A text in lower case with plain digits and dashes, one space between words, and Chinese words in English."""
    plain = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    plain = re.sub(r"[‐‑‒–—―−]", "-", plain)
    plain = re.sub(r"[→⇒➔]|(?<!>)=>", "->", plain)
    plain = re.sub(r"^\s*[>≥]=?", "since ", plain)
    plain = re.sub(r"^\s*[<≤]=?", "until ", plain)
    if _HAS_HAN.search(plain):
        plain = _in_english(plain)
    plain = re.sub(r"\b(?:days|d)(?=\s*\d{1,4}\b)", "day", plain)
    plain = re.sub(rf"\bday[\s_-]+({'|'.join(_NUMBER_WORDS)})\b", _numbered, plain)
    plain = re.sub(r"\b(day\d{1,4})\s*:\s*(?=\d{1,2}:\d{2}|\D|$)", r"\1 ", plain)
    plain = re.sub(r"(?:(?<=\d)|(?<![a-z]))t(?=\d{1,2}:?\d{2})", " ", plain)
    plain = re.sub(r"(?<=\d\d)z\b", "", plain)
    plain = re.sub(r"\b(day\s*\d{1,4}),?\s+am$", r"\1 00:00 to 12:00", plain)
    plain = re.sub(r"\b(day\s*\d{1,4}),?\s+pm$", r"\1 12:00 to 24:00", plain)
    return " ".join(plain.replace("〜", "~").replace("_", " ").split())


def _in_english(plain: str) -> str:
    """Days, times of day and words of time that are written in Chinese; what else there is stays and is not read."""
    plain = _HAN_DAY.sub(lambda match: f" day {_han_number(match[1] or match[2])} ", plain)
    plain = _HAN_CLOCK.sub(_han_clock, plain)
    return _HAN_WORD.sub(lambda match: f" {_HAN_WORDS[match[0]]} ", plain)


def _han_clock(match: re.Match[str]) -> str:
    """``下午三点半`` as 15:30:00."""
    part, hour = match[1] or "", _han_number(match[2])
    minute = 30 if match[4] else _han_number(match[3] or "0")
    hour += 12 if part in _LATE and hour < 12 else 0
    return f" {hour:02d}:{minute:02d}:{_han_number(match[5] or '0'):02d} "


def _han_number(text: str) -> int:
    """A number below a hundred in Chinese signs, such as 十五 or 二十, or in digits; 99 for what is none."""
    if text.isdigit():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    try:
        return (_DIGITS[tens] if tens else 1) * 10 * bool(ten) + (_DIGITS[ones] if ones else 0)
    except KeyError:
        return 99


def _numbered(match: re.Match[str]) -> str:
    return f"day {_NUMBER_WORDS.index(match[1]) + 1}"

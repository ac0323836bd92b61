"""How a statement is worded: language, length, no quoted or verbatim speech, no loose end, plain words."""

from __future__ import annotations

import re
from typing import Final

from ray_tasks.extraction.llm.faults import Fault
from ray_tasks.extraction.llm.sources import Source, stems_of
from ray_tasks.extraction.llm.speech_verbs import speech_base
from ray_tasks.extraction.llm.statement import Statement
from ray_tasks.extraction.people import in_first_person
from ray_tasks.extraction.wordlists import CONJUNCTIONS, DETERMINERS, POSSESSIVES, word_set
from ray_tasks.extraction.words import is_english, stem

FEWEST_WORDS: Final = 8
MOST_WORDS: Final = 20
FEWEST_CONVERSATION_WORDS: Final = 10
_STRAIGHT: Final = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "\u00a0": " "})
_FOREIGN: Final = re.compile(r"[\u0400-\u04ff\u0600-\u06ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_QUOTED: Final = re.compile(r"[\"“”„«»「」『』`]|(?<!\w)'[^']+'(?!\w)")
_VERBATIM: Final = re.compile(r":\s*\S")
_CLOCK: Final = re.compile(r"\d:\d")
_NUMBERED: Final = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_LOOSE: Final = (
    word_set("to into of from and or but that whether if because than the a an")
    | CONJUNCTIONS
    | (DETERMINERS - word_set("this that these those all both one two three four five six seven eight nine ten her"))
    | POSSESSIVES
) - {"her"}
_SYMBOLS: Final = re.compile(r"(?:^|\s)[+&](?=\s|$)|\w/\w|\bplus\b|\band/or\b")
_UMBRELLA: Final = re.compile(
    r"\b(?:techniques?|topics?|things?|stuff|ideas?|matters?|various|miscellaneous)\b"
    r"|\b(?:the|some|our|their|my|several|different|other|future|about|on|of|discuss(?:es|ing)?|with)\s+"
    r"(?:projects?|plans?|issues?|activit(?:y|ies)|tasks?|subjects?|items?|details)\b"
    r"(?!\s+(?:of|for|about|on|to|that)\b)",
    re.IGNORECASE,
)


def normalise(text: str, me: str) -> str:
    """A reply's text on one line with straight apostrophes, no list mark, the wearer as "I", and a full stop."""
    shown = "".join(sign for sign in text.translate(_STRAIGHT) if sign.isprintable() or sign.isspace())
    plain = _NUMBERED.sub("", " ".join(shown.split()))
    plain = in_first_person(plain, me)
    if plain and plain[-1] not in ".!?…\"”'":
        plain = plain.rstrip(" ,;:") + "."
    return plain[:1].upper() + plain[1:]


def check_wording(statement: Statement, fewest: int, most: int) -> list[Fault]:
    """Faults of language, length, quotes and loose ends."""
    text = statement.text
    if not text.strip(" .!?"):
        return [Fault("empty")]
    if _FOREIGN.search(text) or not is_english(text):
        return [Fault("not_english")]
    faults = []
    count = len(text.split())
    if count > most:
        faults.append(Fault("too_long", f"{count} words"))
    elif count < fewest:
        faults.append(Fault("too_short", f"{count} words"))
    if _QUOTED.search(text) or (_VERBATIM.search(_CLOCK.sub("", text))):
        faults.append(Fault("quoted"))
    if statement.low[-1] in _LOOSE or text.rstrip(".").endswith((",", "…", "..")):
        faults.append(Fault("unfinished", statement.words[-1]))
    return faults


def check_ground(statement: Statement, source: Source, share: float) -> list[Fault]:
    """A fault where less than a share of what is told is found in the lines, so that no example of a prompt passes.

    Names do not count, since who acts is checked by itself, nor do verbs of speaking.
    """
    named = {low for i, low in enumerate(statement.low) if i < statement.verb or statement.is_name(i)}
    spoken = {word for word in statement.low if speech_base(word)}
    told = stems_of(statement.text) - {stem(word) for word in named | spoken}
    if source.foreign or not told or len(told & source.stems) >= share * len(told):
        return []
    return [Fault("ungrounded")]


def check_plain_words(statement: Statement) -> list[Fault]:
    """Faults of summaries: signs in the place of "and", and nouns that could stand for anything."""
    faults = []
    if symbols := _SYMBOLS.search(statement.text):
        faults.append(Fault("symbol", symbols.group().strip()))
    if umbrella := _UMBRELLA.search(statement.text):
        faults.append(Fault("umbrella", umbrella.group()))
    return faults

"""Who is who: the people a shard has named so far, known by how their names are used and never by a list of names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from ray_tasks.extraction.letters import LOWER, UPPER, has_case
from ray_tasks.extraction.verbs import first_person, verb_base, verb_forms
from ray_tasks.extraction.wordlists import ADVERBS, AUXILIARIES, FUNCTION_WORDS, INTERJECTIONS, word_set
from ray_tasks.extraction.words import distinct
from ray_tasks.rows import Line, wearer_name

_UNNAMED_LABELS: Final = word_set(
    """
    other others person people another unknown unidentified someone somebody stranger everyone all voice speaker
    narrator music lyrics song background noise tv radio ai 其他人 其他 别人 众人 大家 路人 陌生人 未知 音乐 歌词
    """
)
_NOT_PEOPLE: Final = word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december english chinese french german spanish italian japanese korean russian
    everyone everybody someone somebody nobody people both neither none
    """
)
_ANIMATE: Final = word_set(
    """
    ask answer applaud bake carry catch chat chew chuckle clap clean cook crouch cut drink eat enter explain fetch
    fiddle fill fold fry gesture give glance grab greet grill hammer hand hold hug join kneel knead laugh lean lift
    listen look nod pack paint peel pick plant pour push put read sand saw say scold sew shrug sing sip sit smile
    sort speak squat stand stir sweep take talk tell thank throw type unpack wait walk wash watch wave wear whisper
    wipe write yawn
    """
)
_NAME: Final = rf"([{UPPER}][{LOWER}]{{1,}}(?:-[{UPPER}][{LOWER}]+)?)"
_LEADING: Final = re.compile(
    rf"^(?:(?:[Tt]hen|[Nn]ow|[Aa]nd|[Rr]ight now|[Jj]ust then),? )*{_NAME} ((?:[a-z]+ ){{0,3}}[a-z]+)"
)
_ADDRESSED: Final = re.compile(
    r"\b(?:talk|speak|spoke|chat|smil|wav|nod|listen|respond|repl|explain|hand|giv|gave|pass|show|introduc|whisper)[a-z]*"
    rf"(?: [a-z']+){{0,4}}? (?:to|with|at) {_NAME}\b"
)
_HELPED: Final = re.compile(
    r"\b(?:ask|asked|asking|asks|tell|told|telling|tells|help|helped|helping|helps|follow|followed|following|greet"
    rf"|greeted|thank|thanked|hug|hugged|hand|handed|handing|gave|give|giving|teach|taught|teaching) {_NAME}\b"
)
_CAPITALISED: Final = re.compile(rf"[{UPPER}][{LOWER}{UPPER}]*(?:-[{UPPER}][{LOWER}]+)?")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_GLUED: Final = re.compile(rf"\b(?:[{UPPER}][{LOWER}]+){{2,}}\b")
_PART: Final = re.compile(rf"[{UPPER}][{LOWER}]+")


class Roster:
    """The names a shard has used so far, each with the time from which it is known.

    Lines are learned in order of captions; a name counts for an atom only from the end of the line that first used it,
    so no name is known from the future.
    """

    def __init__(self, wearer: str) -> None:
        self.me = wearer_name(wearer)
        self._known: dict[str, int] = {}
        self._phrases: list[str] = []

    def learn(self, lines: Iterable[Line]) -> None:
        """Takes the names of speaker labels and of words used like names in visual lines."""
        for line in lines:
            names = label_names(line.speaker)
            if line.modality == "visual":
                names = (*names, *_names_by_use(line.text))
            for name in names:
                if line.end_ms < self._known.get(name, line.end_ms + 1):
                    self._known[name] = line.end_ms
                    if (" " in name or not has_case(name)) and name not in self._phrases:
                        self._phrases.append(name)

    def knows(self, name: str, at_ms: int) -> bool:
        """Whether a name had been used by `at_ms`."""
        return name == self.me or self._known.get(name, at_ms + 1) <= at_ms

    def named(self, text: str, at_ms: int) -> tuple[str, ...]:
        """The people named in a text, in order of first mention, as far as they are known at `at_ms`."""
        single = [name for name in _capitalised(text) if name != "I" and self.knows(name, at_ms)]
        phrases = [name for name in self._phrases if name in text and self._known[name] <= at_ms]
        if not phrases:
            return tuple(single)
        return tuple(sorted({*single, *phrases}, key=lambda name: (text.find(name), name)))

    def unglue(self, text: str, at_ms: int) -> str:
        """Names written without a space between them (``MaraTobi``) as ``Mara and Tobi``, where all parts are known."""
        if not _GLUED.search(text):
            return text

        def apart(match: re.Match[str]) -> str:
            parts = _PART.findall(match.group())
            if not all(self.knows(part, at_ms) for part in parts):
                return match.group()
            rest = text[match.end() :]
            if re.match(rf" and (?:[{UPPER}]|me\b|I\b)", rest) or rest.startswith(", "):
                return ", ".join(parts)
            return f"{', '.join(parts[:-1])} and {parts[-1]}"

        return _GLUED.sub(apart, text)


@lru_cache(maxsize=65_536)
def _capitalised(text: str) -> tuple[str, ...]:
    return distinct(_CAPITALISED.findall(text))


@lru_cache(maxsize=4096)
def label_names(label: str | None) -> tuple[str, ...]:
    """The people a speaker label names: ``Mara/Tobi`` names two, ``Others``, ``Music`` and ``18`` nobody."""
    if not label:
        return ()
    parts = [part.strip() for part in re.split(r"\s*(?:[/&、+;]|,|，|\band\b)\s*", label)]
    return distinct(part for part in parts if set(_LETTERS.findall(part.casefold())) - _UNNAMED_LABELS)


@lru_cache(maxsize=65_536)
def _names_by_use(text: str) -> tuple[str, ...]:
    """Capitalised words that a visual line uses as names: they talk, hold, walk, or are talked to."""
    names = [match.group(1) for pattern in (_ADDRESSED, _HELPED) for match in pattern.finditer(text)]
    leading = _LEADING.match(text)
    if leading and _acts(leading.group(2).split()):
        names.append(leading.group(1))
    return distinct(name for name in names if _may_be_name(name))


def _acts(words: list[str]) -> bool:
    """Whether the words after a subject are a verb that only one living being is the subject of."""
    if words[0] in ("are", "were"):
        return False
    for word in words:
        if word in ADVERBS or word in AUXILIARIES:
            continue
        return verb_base(word) in _ANIMATE and "base" not in verb_forms(word)
    return False


def _may_be_name(word: str) -> bool:
    low = word.casefold()
    return low not in _NOT_PEOPLE and low not in FUNCTION_WORDS and low not in INTERJECTIONS and not verb_forms(low)


def in_first_person(text: str, name: str) -> str:
    """A text in which the wearer's own name is "I", "me" or "my", with the verb made to agree."""
    if name not in text:
        return text
    who = re.escape(name)
    text = re.sub(rf"\b{who}'s(?= (?:\w+ly )?\w+ing\b)", f"{name} is", text)
    text = re.sub(rf"\b{who}(?:'s|')(?=\s)", "my", text)
    text = re.sub(rf"^{who} and ([{UPPER}]\w+)\b", r"\1 and I", text)
    text = re.sub(rf"\band {who}(?= (?:\w+ly )?(\w+))", _joined_subject, text)
    opening = r"(^|[.,;:] |\b(?:and|then|while|when|as|that|where|because|if) )"
    text = re.sub(rf"{opening}{who} ((?:\w+ly |also |then |just |now |still )?)(\w+)", _as_subject, text)
    text = re.sub(rf"\b{who}\b", "me", text)
    return text[:1].upper() + text[1:]


def _joined_subject(match: re.Match[str]) -> str:
    return "and I" if verb_forms(match.group(1)) or match.group(1) in AUXILIARIES else "and me"


def _as_subject(match: re.Match[str]) -> str:
    before, adverb, word = match.groups()
    if not verb_forms(word) and word not in AUXILIARIES:
        return match.group()
    return f"{before}I {adverb}{first_person(word)}"

"""What makes the prose of a caption usable: it tells what its lines tell, in the first person, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from ray_tasks.corpus.language import has_han, language_of
from ray_tasks.extraction.people import Roster, label_names
from ray_tasks.extraction.speech import analyse
from ray_tasks.extraction.verbs import verb_forms
from ray_tasks.extraction.wordlists import ADVERBS, AUXILIARIES, FUNCTION_WORDS, INTERJECTIONS, word_set
from ray_tasks.extraction.words import content_words, lower_words, stem
from ray_tasks.rows import Line

FAULTS: Final = {
    "empty": "there is no passage",
    "not_english": "write it in English only",
    "quoted": "use no quotation marks; report what is said",
    "prompt_told": "it repeats the instructions; tell only what the lines say",
    "too_short": "it leaves out too much of the lines",
    "too_long": "it is much longer than the lines; add nothing to them",
    "loop": "it says the same sentence over and over",
    "not_first_person": "tell it in the first person: the wearer is I",
    "wearer_named": "it calls the wearer by name; the wearer is I",
    "unknown_name": "no line holds this name",
    "name_missing": "this person of the lines is missing",
    "things_missing": "most of the things that the lines name are missing",
    "out_of_order": "it does not keep to the order of the lines",
}
"""What can be wrong with a passage, and how the model is told."""

_QUOTE: Final = re.compile(r"[\"“”„«»「」『』]")
_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")
_OWN_WORDS: Final = word_set("i i'm i've i'll i'd me my mine myself we we're we've we'll we'd us our ours ourselves")
_OPENERS: Final = word_set(
    """
    meanwhile afterwards afterward eventually once during nearby everyone someone somebody nobody everybody people
    others nothing something everything whoever there's it's that's he's she's they're we're
    """
)
_RUN: Final = 8
_REPEATS: Final = 3
_LEAST_THINGS: Final = 0.4
_WORDS_TO_SPARE: Final = 30


def faults_of(
    prose: str, lines: Sequence[Line], me: str, *, instructions: str, shortest: float, longest: float
) -> dict[str, str]:
    """The broken rules of a passage, each with the words that break it ("" where no words do).

    `me` is the wearer's name; `shortest` and `longest` are shares of the number of words of the lines.
    """
    found = _faults_of_form(prose, lines, instructions, shortest, longest)
    if found:
        return found
    if not _OWN_WORDS & set(lower_words(prose)) and _wearer_acts(lines, me):
        found["not_first_person"] = ""
    if _names(me, prose) and not any(_names(me, line.text) for line in lines if line.modality == "speech"):
        found["wearer_named"] = me
    if not any(has_han(line.text) for line in lines):  # names and words of a Chinese line look different in English
        found |= _faults_of_content(prose, lines, me)
    return found


def word_count(text: str) -> int:
    """Words of a text; each Chinese character counts as one."""
    return sum(len(word) if has_han(word) else 1 for word in _WORD.findall(text))


def _faults_of_form(
    prose: str, lines: Sequence[Line], instructions: str, shortest: float, longest: float
) -> dict[str, str]:
    """What can be told without looking at who and what a passage names."""
    words, told = word_count(prose), sum(word_count(line.text) for line in lines)
    if not words:
        return {"empty": ""}
    if has_han(prose) or language_of(prose) != "en":
        return {"not_english": ""}
    found = {}
    if _QUOTE.search(prose):
        found["quoted"] = ""
    if _runs(prose) & _runs(instructions) - frozenset().union(*(_runs(line.text) for line in lines)):
        found["prompt_told"] = ""
    if words < shortest * told:
        found["too_short"] = f"{words} words for {told}"
    if words > longest * told + _WORDS_TO_SPARE:
        found["too_long"] = f"{words} words for {told}"
    sentences = [sentence.casefold() for sentence in _SENTENCE.split(prose)]
    if any(sentences.count(sentence) >= _REPEATS for sentence in sentences):
        found["loop"] = ""
    return found


def _faults_of_content(prose: str, lines: Sequence[Line], me: str) -> dict[str, str]:
    found = {}
    known = {me.lower()} | {word for line in lines for word in _plain_words(f"{line.speaker or ''} {line.text}")}
    unknown = [name for name in _unusual_capitals(prose) if name not in known and stem(name) not in map(stem, known)]
    if unknown:
        found["unknown_name"] = ", ".join(dict.fromkeys(unknown))
    missing = [name for name in _people(lines, me) if not _names(name, prose)]
    if missing:
        found["name_missing"] = ", ".join(missing)
    stems = {stem(word) for word in content_words(prose)}
    things = {stem(word) for line in lines if line.modality == "visual" for word in content_words(line.text)}
    if things and len(things & stems) < _LEAST_THINGS * len(things):
        found["things_missing"] = ""
    if _backwards(prose, lines):
        found["out_of_order"] = ""
    return found


def _wearer_acts(lines: Sequence[Line], me: str) -> bool:
    return any(line.modality == "visual" or me in label_names(line.speaker) for line in lines)


def _people(lines: Sequence[Line], me: str) -> list[str]:
    """Others who say something, or who are named in what is seen, by what these lines alone tell."""
    roster = Roster("")
    roster.learn(lines)
    end_ms = max(line.end_ms for line in lines)
    found: list[str] = []
    for line in lines:
        if line.modality == "visual":
            found.extend(roster.named(line.text, end_ms))
        elif analyse(line.text).has_content:
            found.extend(label_names(line.speaker))
    return [name for name in dict.fromkeys(found) if name and name != me]


def _names(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _plain_words(text: str) -> list[str]:
    return [word.lower().replace("’", "'").removesuffix("'s") for word in _WORD.findall(text)]


def _unusual_capitals(prose: str) -> Iterator[str]:
    """Capitalised words, in lower case, that are no plain beginning of a sentence."""
    for sentence in _SENTENCE.split(prose):
        words = _WORD.findall(sentence)
        for position, word in enumerate(words):
            plain = word.lower().replace("’", "'").removesuffix("'s")
            if not word[:1].isupper() or plain == "i" or plain.startswith("i'"):
                continue
            if position or not _begins(plain, words[1] if len(words) > 1 else ""):
                yield plain


def _begins(word: str, follower: str) -> bool:
    """Whether a word may begin a sentence without being a name: a name is followed by its verb, or by another name."""
    if word in FUNCTION_WORDS | INTERJECTIONS | _OPENERS or word.endswith(("ing", "ly")) or verb_forms(word):
        return True
    after = follower.lower()
    forms = verb_forms(after)
    followed_as_name = after in AUXILIARIES | ADVERBS | {"and"} or "third" in forms or "past" in forms
    return not (followed_as_name or follower[:1].isupper())


@lru_cache(maxsize=4096)
def _runs(text: str) -> frozenset[tuple[str, ...]]:
    """The runs of words that are long enough to be copied rather than met by chance."""
    words = tuple(_plain_words(text))
    return frozenset(words[start : start + _RUN] for start in range(len(words) - _RUN + 1))


def _backwards(prose: str, lines: Sequence[Line]) -> bool:
    """Whether most lines that have a word of their own come in the prose before the line that they follow."""
    told = [{stem(word) for word in content_words(line.text)} for line in lines]
    said = [stem(word) for word in lower_words(prose)]
    places = []
    for index, words in enumerate(told):
        own = words - set().union(*told[:index], *told[index + 1 :])
        found = [said.index(word) for word in own if word in said]
        if found:
            places.append(min(found))
    pairs = [(one, other) for at, one in enumerate(places) for other in places[at + 1 :]]
    return len(places) > 2 and 2 * sum(one > other for one, other in pairs) > len(pairs)

"""What one transcript line does: its content, its speech act, and whether it is only half of a question and its answer.

Content words stay as they were said, because search depends on them (EgoCITE Table 8: speech normalisation, here with
the content after a colon instead of a rewritten clause).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from ray_tasks.extraction.predicate import find_predicate, low
from ray_tasks.extraction.verbs import verb_forms
from ray_tasks.extraction.wordlists import (
    ADVERBS,
    AUXILIARIES,
    DETERMINERS,
    INTERJECTIONS,
    PARTICLES,
    PREPOSITIONS,
    SUBJECTS,
    word_set,
)
from ray_tasks.extraction.words import content_words, is_english, is_laughter, lower_words, without_quotes

Reply = Literal["yes", "no", "fragment", "none"]
Question = Literal["polar", "open", "none"]

_YES: Final = word_set(
    """
    yes yeah yep yup right correct exactly indeed sure okay ok alright mhm mm-hmm uh-huh true absolutely
    definitely certainly of course totally fine agreed 对 对对 对对对 对的 好 好的 好好好 行 是 是的 可以 没错 嗯嗯
    """
)
_NO: Final = word_set("no nope nah not really yet never 不 不是 没有 不对 不行")
_YES_PHRASES: Final = frozenset({"no problem", "okay no problem", "no doubt", "that one works", "sounds good"})
_NO_PHRASES: Final = frozenset({"no way", "of course not", "no need", "oh no"})
_REPLY_FILLER: Final = word_set(
    """
    oh ah um uh hmm hm mm well so then please that's it's i is it all you know me too see think 嗯 哦 啊
    """
)
_OPEN_WORDS: Final = word_set("what what's who who's whose where where's when when's why how how's which whom")
_INVERTED: Final = word_set(
    """
    is are was were am do does did have has had can could will would should shall must may might isn't aren't
    wasn't weren't don't doesn't didn't haven't hasn't can't couldn't won't wouldn't shouldn't
    """
)
_DEICTIC: Final = word_set("i you we me us my your our mine yours i'm you're we're")
_LEAD_IN: Final = re.compile(
    r"^(?:(?:h+m+|u+m+|u+h+|o+h+|a+h+|m+|er|eh|wow|whoa|hey|well|okay|ok|alright|so|ha(?:ha)+h?|hehe(?:he)*)\b[\s,.!…，。-]+)+"
    r"(?=\S)",
    re.IGNORECASE,
)
_LAUGHTER_END: Final = re.compile(r"[\s,.!…，。]+(?:a?ha(?:ha)+h?|he(?:he)+)[.!…]*$", re.IGNORECASE)
_ZH_SOUNDS: Final = frozenset("嗯啊哦噢喔哈呵嘿哎呀唉呃额喂嘻咦哇诶欸嗨嘛呢吧")
_ZH_QUESTION: Final = re.compile(r"[？?]|(?:吗|呢|什么|谁|哪|怎么|几)")
_CLAUSE_SIGNS: Final = SUBJECTS | AUXILIARIES | {"let's", "like"}
_DAYS: Final = word_set("today tonight tomorrow yesterday")
_LONG_ENOUGH: Final = 5
_LONGEST_FRAGMENT: Final = 4


@dataclass(frozen=True, slots=True)
class Speech:
    """One line's analysis.

    `content` is without quote marks, fillers and laughter at its edges, "" where nothing is left; `has_content` tells
    whether it says something by itself.
    """

    content: str
    question: Question
    reply: Reply
    laughs: bool
    english: bool
    has_content: bool

    @property
    def suggests(self) -> bool:
        """Whether the line is a proposal."""
        return self.content.lower().replace("’", "'").startswith("let's ")


@lru_cache(maxsize=65_536)
def analyse(text: str) -> Speech:
    """The analysis of one transcript line without its speaker."""
    plain = without_quotes(text)
    words = lower_words(plain)
    laughs = bool(words) and all(is_laughter(word) or word in ("oh", "ah", "wow") for word in words)
    laughs = laughs and any(is_laughter(word) for word in words)
    if not is_english(plain):
        sounds = all(character in _ZH_SOUNDS or not character.isalpha() for character in plain)
        reply: Reply = "yes" if set(words) <= _YES and words else "no" if set(words) <= _NO and words else "none"
        kind: Question = "open" if _ZH_QUESTION.search(plain) and not sounds else "none"
        told = not sounds and reply == "none"
        return Speech("" if sounds else plain, kind, reply, laughs, english=False, has_content=told)
    lead_in = _LEAD_IN.match(plain)
    content = _LAUGHTER_END.sub("", plain[lead_in.end() :] if lead_in else plain).strip(" ,，:：")
    content = content[:1].upper() + content[1:]
    return Speech(
        content, _question(content), _reply(plain, content), laughs, english=True, has_content=_has_content(content)
    )


def _has_content(content: str) -> bool:
    """Whether a line has a word of content, speaks of a day, or is long enough to say something without one."""
    if content_words(content):
        return True
    words = {word for word in lower_words(content) if word not in INTERJECTIONS and not is_laughter(word)}
    return len(words) >= _LONG_ENOUGH or bool(words & _DAYS)


def _question(content: str) -> Question:
    words = lower_words(content)
    if not words:
        return "none"
    if not content.rstrip().endswith(("?", "？")) and not (words[0] in _OPEN_WORDS and len(words) > 2 and _asks(words)):
        return "none"
    return "open" if any(word in _OPEN_WORDS for word in words[:3]) else "polar"


def _asks(words: tuple[str, ...]) -> bool:
    """Whether a question word is followed by an inverted verb, which tells "what is this" from "what I need"."""
    return words[1] in _INVERTED or words[0].endswith("'s")


def _reply(plain: str, content: str) -> Reply:
    """Whether a line only answers: with yes, with no, or with a fragment such as "That one"."""
    words = [word for word in lower_words(plain) if not is_laughter(word)]
    if not words or plain.rstrip().endswith(("?", "？")):
        return "none"
    if " ".join(words) in _YES_PHRASES:
        return "yes"
    if " ".join(words) in _NO_PHRASES:
        return "no"
    core = [word for word in words if word not in _REPLY_FILLER]
    if core and all(word in _YES for word in core):
        return "yes"
    if core and all(word in _NO for word in core):
        return "no"
    said = content.split()
    begins_place = low(said[0]) in PREPOSITIONS if said else False
    if not said or len(said) > _LONGEST_FRAGMENT + begins_place or find_predicate(said):
        return "none"
    plain_words = [low(word) for word in said]
    is_clause = verb_forms(plain_words[0]) or any(word in _CLAUSE_SIGNS or "'" in word for word in plain_words)
    only_sounds = all(word in INTERJECTIONS for word in plain_words)
    cut_off = said[-1].endswith(("...", "…", "?", "？"))
    return "none" if is_clause or only_sounds or cut_off or "?" in content else "fragment"


@lru_cache(maxsize=4096)
def as_statement(question: str) -> str | None:
    """A yes-or-no question as the statement it asks about: ``Are all the lanterns outside?`` -> ``all the lanterns are
    outside``; None where the word order is not plain or where "you" and "I" would change their meaning.
    """
    words = [word.strip("?？!., ") for word in question.split()]
    plain = [word.lower().replace("’", "'") for word in words]
    if len(words) < 3 or plain[0] not in _INVERTED or "n't" in plain[0] or set(plain) & (_DEICTIC | {"or"}):
        return None
    if re.search(r"[.,;:!?。，？！…](?=.*\w)", question):
        return None
    end = _subject_end(words, plain)
    if end is None or end >= len(words):
        return None
    verb = [] if plain[0] == "do" else [plain[0]]
    subject = [plain[1] if plain[1] in DETERMINERS or not words[1][0].isupper() else words[1], *words[2:end]]
    rest = words[end + 1 :] if plain[end] == "any" else words[end:]
    return " ".join([*subject, *verb, *rest])


def _subject_end(words: list[str], plain: list[str]) -> int | None:
    """Where the subject of an inverted question ends."""
    if plain[1] in ("it", "they", "he", "she", "there", "everyone", "everybody", "someone") or words[1][0].isupper():
        return 2
    if plain[1] not in DETERMINERS:
        return None
    after_it = DETERMINERS | PREPOSITIONS | ADVERBS | AUXILIARIES | SUBJECTS
    if plain[1] in ("this", "that", "these", "those") and (
        len(words) < 4 or plain[2] in after_it or verb_forms(plain[2]) or plain[2].endswith("ing")
    ):
        return 2
    position = 2
    while position < len(words) and plain[position] in DETERMINERS:
        position += 1
    position += 1
    closing = PREPOSITIONS | PARTICLES | ADVERBS | DETERMINERS
    while position < len(words) - 1 and plain[position] not in closing and not verb_forms(plain[position]):
        position += 1
    return position

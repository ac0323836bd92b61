"""Where the subject of an English clause ends and its verb stands, by closed word classes and word order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from ray_tasks.extraction.letters import begins_name
from ray_tasks.extraction.verbs import AMBIGUOUS_NOUNS, Form, verb_forms
from ray_tasks.extraction.wordlists import (
    ADVERBS,
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    FUNCTION_WORDS,
    INTERJECTIONS,
    PARTICLES,
    PREPOSITIONS,
    PRONOUNS,
    word_set,
)

Subject = Literal["wearer", "other", "none"]

EDGE: Final = ".,!?:;…，。"
WEARER_WORDS: Final = word_set("i i'm i've i'll i'd we we're we've we'll we'd my our")
_THIRD: Final = word_set("he she they everyone everybody someone somebody nobody it you both")
_CONTRACTED: Final = ("'m", "'re", "'s", "'ve", "'ll", "'d")
_BE: Final = word_set("am is are was were be been being 'm 're 's")
_HAVE: Final = word_set("have has had 've")
_MODAL: Final = word_set("will would can could shall should may might must 'll 'd do does did")
_BEFORE_VERB: Final = ADVERBS | {"right", "busy", "been"}
_LONGEST_SUBJECT: Final = 7
_SOMEONE_ELSE: Final = word_set(
    """
    me myself they he she their his her him himself herself themselves theirs them you yourself us hers it's
    """
)
_NEVER_WEARER: Final = word_set("let be thank please do don't welcome excuse")
_FOLLOWERS: Final = DETERMINERS | PREPOSITIONS | PARTICLES | PRONOUNS | ADVERBS | {"left", "right"}


@dataclass(frozen=True, slots=True)
class Predicate:
    """`words[verb]` is the main verb in `form`; `prefix` is what stands before it, without adverbs: ``Mara is``."""

    verb: int
    form: Form
    prefix: str
    subject: Subject


def low(word: str) -> str:
    """A word in lower case without punctuation at its edges."""
    return word.strip(EDGE).lower()


def find_predicate(words: Sequence[str]) -> Predicate | None:
    """The main verb of a clause that names its subject first; None where no subject or no known verb is found."""
    if not words or words[0].endswith((",", ":")):
        return None
    start = _subject_end(words)
    if start is None:
        return None
    end, auxiliaries = start
    position = end
    while position < len(words):
        word = low(words[position])
        if word in AUXILIARIES and not _is_main(word, words, position):
            auxiliaries.append(word)
        elif word not in _BEFORE_VERB:
            break
        position += 1
    if position >= len(words):
        return None
    form = _form(low(words[position]), auxiliaries)
    if form is None:
        return None
    prefix = " ".join(word for word in words[:position] if low(word) not in ADVERBS)
    return Predicate(position, form, prefix, _kind(words))


def _kind(words: Sequence[str]) -> Subject:
    return "wearer" if low(words[0]) in WEARER_WORDS or "I" in words[:4] else "other"


def _subject_end(words: Sequence[str]) -> tuple[int, list[str]] | None:
    """Where the subject ends, and the auxiliary contracted to it (``I'm`` -> ``'m``)."""
    first = low(words[0])
    for tail in _CONTRACTED:
        if first.endswith(tail) and (first.removesuffix(tail) in _THIRD | {"i", "we"} or begins_name(words[0])):
            follower = low(words[1]) if len(words) > 1 else ""
            if tail == "'s" and first.removesuffix(tail) not in _THIRD and "ing" not in verb_forms(follower):
                break
            return 1, [tail]
    if first in _THIRD or first in ("i", "we"):
        return _past_joined(words, 1), []
    if first in DETERMINERS or _is_name(words[0]):
        return _noun_subject_end(words)
    return None


def _past_joined(words: Sequence[str], position: int) -> int:
    """Skips "and Mara", "and the others", "and I" after the first part of a subject."""
    while position + 1 < len(words) and low(words[position]) == "and":
        position += 2
        if low(words[position - 1]) in DETERMINERS and position < len(words):
            position += 1
    return position


def _noun_subject_end(words: Sequence[str]) -> tuple[int, list[str]] | None:
    """The first word after a name or noun phrase that can only be its verb."""
    several = False
    for position in range(1, min(len(words), _LONGEST_SUBJECT + 1)):
        word = low(words[position])
        forms = verb_forms(word)
        if word == "and":
            several = True
        elif (
            word in AUXILIARIES
            or word in ADVERBS
            or "third" in forms
            or forms == {"past"}
            or ((several or word.endswith("s")) and "base" in forms and word not in AMBIGUOUS_NOUNS)
        ):
            return position, []
        elif words[position].endswith((",", ":")) or (word in CONJUNCTIONS and word != "and"):
            return None
    return None


def _is_name(word: str) -> bool:
    plain = low(word)
    return (
        begins_name(word)
        and plain not in FUNCTION_WORDS
        and plain not in INTERJECTIONS
        and not verb_forms(plain.removesuffix("'s"))
    )


def _is_main(word: str, words: Sequence[str], position: int) -> bool:
    """Whether a form of "have" or "do" is the main verb because an object follows."""
    if word not in _HAVE and word not in ("do", "does", "did"):
        return False
    follower = low(words[position + 1]) if position + 1 < len(words) else ""
    return follower in DETERMINERS


def _form(verb: str, auxiliaries: Sequence[str]) -> Form | None:
    """The form in which a verb stands, given the auxiliaries before it."""
    forms = verb_forms(verb)
    last = auxiliaries[-1] if auxiliaries else ""
    if last in _BE:
        return "ing" if "ing" in forms else None
    if last in _HAVE:
        return "past" if "past" in forms else None
    if last in _MODAL:
        return "base" if "base" in forms else None
    for form in ("past", "third", "base"):
        if form in forms:
            return form
    return None


def with_wearer(words: Sequence[str]) -> tuple[list[str], bool] | None:
    """A clause without subject with the wearer as its subject, and whether that needs no support from its context.

    ``Hand the phone to Mara`` -> ``I hand the phone to Mara`` (certain: nobody else is told about in the bare form);
    ``Looking at the shelf`` -> ``I am looking at the shelf`` and ``Took the jug`` -> ``I took the jug`` (uncertain).
    None where the words do not begin with a verb, ask, or speak of someone to whom the verb may belong.
    """
    plain = [low(word) for word in words]
    verb = next((index for index, word in enumerate(plain) if word not in ADVERBS), None)
    if verb is None or words[-1].endswith("?") or words[verb].endswith((",", ":")) or set(plain) & _SOMEONE_ELSE:
        return None
    forms = verb_forms(plain[verb])
    follower = plain[verb + 1] if verb + 1 < len(words) else ""
    has_follower = follower in _FOLLOWERS or words[verb + 1 : verb + 2] != [follower]
    if plain[verb] in _NEVER_WEARER or (plain[verb] in AMBIGUOUS_NOUNS and not has_follower):
        return None
    if _has_own_subject(words[verb + 1 :]):
        return None
    rest = [_lowered(words[0]), *words[1:]]
    if "ing" in forms and (has_follower or not follower):
        return ["I", "am", *rest], False
    if "base" in forms and ("past" not in forms or "your" in plain):
        return ["I", *("my" if word == "your" else word for word in rest)], True
    if "past" in forms and has_follower:
        return ["I", *rest], False
    return None


def _has_own_subject(words: Sequence[str]) -> bool:
    """Whether another subject follows a comma: "Holding a jug, Mara sits down"."""
    after_comma = [word for before, word in pairwise(words) if before.endswith(",")]
    return any(
        low(word) not in WEARER_WORDS and (_is_name(word) or low(word) in _THIRD | DETERMINERS) for word in after_comma
    )


def _lowered(word: str) -> str:
    return word[:1].lower() + word[1:]

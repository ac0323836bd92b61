"""One sentence for an activity or a conversation, made of its most telling lines and words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import sqrt
from typing import Final

from ray_tasks.extraction.letters import LOWER, UPPER
from ray_tasks.extraction.notes import Talk, terms_of
from ray_tasks.extraction.predicate import EDGE, find_predicate
from ray_tasks.extraction.pronouns import has_unresolved
from ray_tasks.extraction.reader import Fact
from ray_tasks.extraction.verbs import AMBIGUOUS_NOUNS, verb_forms
from ray_tasks.extraction.wordlists import PLACES, word_set
from ray_tasks.extraction.words import content_words, distinct, stem

Weight = Callable[[str], float]

MOST_WORDS: Final = 45
"""The longest text of an activity or a conversation."""

MOST_NAMES: Final = 6
WITH: Final = "with "
ALSO: Final = "also: "
"""How the parts of an activity text begin that name people and things; parts are joined by "; "."""

_LEAD_WORDS: Final = 28
_FEWEST_LEAD_WORDS: Final = 12
_LONG_STATEMENT: Final = 20
_MOST_LEADS: Final = 3
_ENOUGH: Final = 8
_LONG_RUN: Final = 6
_MOST_TERMS: Final = 6
_ROOMS: Final = PLACES - word_set(
    """
    door floor counter outside outdoors indoors home upstairs downstairs room bank station platform field
    """
)
_OPEN_PLACES: Final = word_set("street road bridge sidewalk balcony stairs terrace beach farm pier train bus")
_IN_PLACE: Final = re.compile(
    r"\b(?:in|into|to|at|inside|toward|towards|through|around|of)\s+"
    rf"((?:the|my|a|an|our|this|[{UPPER}][{LOWER}]+'s)\s+(?:(?!to |in |at |of |and )[a-z-]+\s+){{0,2}}?(?:"
    + "|".join(sorted(_ROOMS | {"room"}))
    + r"))\b"
)


def activity_text(acts: Sequence[Fact], present: Sequence[str], me: str, weight: Weight) -> str:
    """What is done, where, with whom, and with what: leading acts, then place, people and things they leave out.

    `present` are the people named or heard during the activity, `weight` tells how telling a term is.
    """
    worth = _worth((terms_of(fact.text, fact.people) for fact in acts), weight)
    leads = [fact.text.rstrip(EDGE) for fact in _leads(acts, worth, _LEAD_WORDS)]
    said = "; ".join(leads)
    parts = [said]
    place = _place(fact.text for fact in acts)
    if place and place not in said:
        parts.append(f"{'on' if place.split()[-1] in _OPEN_PLACES else 'in'} {place}")
    others = [name for name in present if name != me and name not in said][:MOST_NAMES]
    if others:
        parts.append(WITH + ", ".join(others))
    things = _telling_words([fact.text for fact in acts], worth, said, present)
    room = MOST_WORDS - 1 - sum(len(part.split()) for part in parts)
    if things and room > 0:
        parts.append(ALSO + ", ".join(things[:room]))
    return "; ".join(parts) + "."


def conversation_text(talk: Sequence[Talk], me: str, weight: Weight) -> str:
    """Who talks about what: participants, telling words, and the most telling lines with their speakers."""
    facts = {Fact("utterance", one.speech.content, one.people): one for one in reversed(talk) if one.speech.has_content}
    told = list(reversed(facts))
    worth = _worth((terms_of(one.speech.content, one.people) for one in talk), weight)
    names = distinct(name for one in talk for name in one.speakers)
    topics = _telling_words([one.speech.content for one in talk], worth, "", names)
    head = _participants(talk, me)
    opening = f"{head} about {', '.join(topics)}." if topics else f"{head}."
    room = max(_FEWEST_LEAD_WORDS, MOST_WORDS - len(opening.split()) - _MOST_LEADS)
    lines = [f"{_voice(facts[fact], me)}: {fact.text}" for fact in _leads(told, worth, min(room, _LEAD_WORDS))]
    return " ".join([opening, *lines])


def _worth(texts: Iterable[tuple[str, ...]], weight: Weight) -> dict[str, float]:
    """How telling each term of a block is: its rarity, times a measure of how many texts hold it."""
    counts = Counter(term for terms in texts for term in dict.fromkeys(terms))
    return {term: weight(term) * min(count, _ENOUGH) ** 0.7 for term, count in counts.items()}


def _leads(facts: Sequence[Fact], worth: dict[str, float], most_words: int) -> list[Fact]:
    """The most telling statements that repeat each other least, in order of time."""
    # Terms are kept in order: a sum over a set would round differently from run to run and so turn ties round.
    waiting = {fact: (distinct(terms_of(fact.text, fact.people)), _fitness(fact)) for fact in facts}
    order = {fact: position for position, fact in enumerate(waiting)}
    covered: set[str] = set()
    chosen: list[Fact] = []
    length = 0
    while waiting and len(chosen) < _MOST_LEADS:
        scores = {
            fact: fitness * sum(worth.get(term, 0.0) for term in terms if term not in covered)
            for fact, (terms, fitness) in waiting.items()
        }
        best = max(scores, key=lambda fact: (scores[fact], -order[fact]))
        length += len(best.text.split())
        if chosen and (scores[best] <= 0 or length > most_words):
            break
        chosen.append(best)
        covered.update(waiting.pop(best)[0])
    return sorted(chosen, key=order.__getitem__)


def _fitness(fact: Fact) -> float:
    """How fit a statement is to stand for others: less so if long, without a verb, or with an open pronoun."""
    words = fact.text.split()
    fitness = 1.0 / sqrt(len(words) + 4)
    if has_unresolved(fact.text):
        fitness *= 0.6
    if len(words) > _LONG_STATEMENT:
        fitness *= 0.5
    if fact.view == "action" and find_predicate(words) is None:
        fitness *= 0.7
    return fitness


def _place(texts: Iterable[str]) -> str | None:
    """The place named most often; the earliest of equals."""
    named = Counter(match.group(1) for text in texts for match in _IN_PLACE.finditer(text))
    return named.most_common(1)[0][0] if named else None


def _telling_words(texts: Sequence[str], worth: dict[str, float], said: str, names: Sequence[str]) -> list[str]:
    """The most telling words but verbs and names that `said` leaves out, in the form in which they first stand."""
    skip = {stem(word) for word in content_words(said)}
    parts = {part.lower() for name in names for part in name.split()}
    forms: dict[str, str] = {}
    for text in texts:
        for word in content_words(text):
            forms.setdefault(stem(word), word.removesuffix("'s"))
    kept = [term for term, word in forms.items() if term in worth and term not in skip and word not in parts]
    kept = [term for term in kept if not forms[term].isdigit() and (forms[term].isascii() or len(term) <= _LONG_RUN)]
    things = [term for term in kept if not verb_forms(forms[term]) or forms[term] in AMBIGUOUS_NOUNS]
    return [forms[term] for term in sorted(things, key=lambda term: -worth[term])[:_MOST_TERMS]]


def _voice(one: Talk, me: str) -> str:
    return " and ".join("I" if name == me else name for name in one.speakers) or "Someone"


def _participants(talk: Sequence[Talk], me: str) -> str:
    """``Mara, Tobi and I talk``: those who say most, in order of appearance, and "others" for the rest."""
    lines = Counter(name for one in talk for name in one.speakers)
    most = {name for name, _ in lines.most_common(MOST_NAMES)}
    names = [name for name in lines if name in most and name != me]
    if lines and (len(lines) > len(most) or any(not one.speakers for one in talk)):
        names.append("others")
    if me in most:
        names.append("I")
    if not names:
        return "People talk"
    if len(names) == 1:
        return "I talk" if names == ["I"] else f"{names[0]} talks"
    return f"{', '.join(names[:-1])} and {names[-1]} talk"

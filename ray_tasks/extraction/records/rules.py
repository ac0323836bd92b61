"""Interaction records by sentence rules: acts and utterances of the rules engine, taken apart (Imprint section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from ray_tasks.extraction.people import label_names
from ray_tasks.extraction.predicate import EDGE, low
from ray_tasks.extraction.reader import Fact, Reading, read_shard
from ray_tasks.extraction.records.phrases import read_act
from ray_tasks.extraction.records.types import Interaction, Record, Records, make_records
from ray_tasks.extraction.speech import analyse
from ray_tasks.extraction.verbs import verb_base, verb_forms
from ray_tasks.extraction.wordlists import DETERMINERS, word_set
from ray_tasks.extraction.words import content_words, distinct
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Caption, Line, wearer_name

ENGINE: Final = "rules"
VERSION: Final = "records-1"
"""To be raised with every change of a rule, so that no records made by older ones are taken from a cache."""

_OWN: Final = word_set("i we my our")
_SOMEBODY: Final = word_set("he she they someone somebody everyone everybody both you")
_UNNAMED: Final = word_set(
    """
    man woman men women girl boy girls boys guy guys lady child children kid kids baby person people photographer
    cameraman waiter waitress driver clerk staff cashier neighbor neighbour colleague friend friends mother father mom
    dad sister brother auntie uncle teacher customer customers owner boss stranger guest guests others
    """
)
_SPEAKING: Final = {"denies": "deny", "disagrees": "disagree"}


class RulesRecordExtractor:
    """The RecordExtractor without a model. It holds no state; equal input gives equal output, ids included."""

    engine: str = ENGINE
    version: str = VERSION

    def extract(self, captions: Sequence[Caption], halo: Sequence[Caption] = (), *, wearer: str) -> Records:
        """The records of captions; the ledger counts their lines. See RecordExtractor."""
        ledger = Ledger()
        found: list[Record] = []
        for caption, readings in zip(captions, read_shard(tuple(captions), tuple(halo), wearer), strict=True):
            found.extend(_records_of(caption, readings, ledger, wearer_name(wearer)))
        ledger.check(f"records of {wearer}")
        return Records(tuple(found), ledger)


def _records_of(caption: Caption, readings: Sequence[Reading], ledger: Ledger, me: str) -> list[Record]:
    """The records of a caption; every line is counted once."""
    told: list[tuple[int, Interaction]] = []
    for line, reading in zip(caption.lines, readings, strict=True):
        ledger.taken += 1
        read = [_interaction(fact, line, me) for fact in reading.facts]
        fresh = [one for one in read if isinstance(one, Interaction) and one not in [before for _, before in told]]
        told.extend((line.start_ms, one) for one in fresh)
        if fresh:
            ledger.done += 1
            ledger.notes.update(["without_object"] if not all(one.object for one in fresh) else [])
        else:
            reasons = [one for one in read if isinstance(one, str)]
            ledger.filtered[reading.reason or next(iter(reasons), "duplicate_in_caption")] += 1
    return make_records(caption, told)


def _interaction(fact: Fact, line: Line, me: str) -> Interaction | str:
    """A fact as an interaction, or why it is none."""
    if fact.view == "utterance":
        return _said(fact, line, me)
    act = read_act(fact.text, fact.people, me)
    if act is None:
        return "no_predicate"
    people = _subjects(act.subject, fact.people, me)
    if not people:
        return "no_person"
    return Interaction(
        people, act.action, act.object, act.tool, act.app, act.location, attributes=distinct(act.attributes)
    )


def _said(fact: Fact, line: Line, me: str) -> Interaction:
    """What is said: the act of speaking, what it is about, its own words, and to whom it is said."""
    speakers = label_names(line.speaker)
    lead = fact.text.partition(":")[0].split()
    shown = {part for name in speakers for part in name.split()} | {"I", "and", "Someone"}
    rest = [word for word in lead if word.strip(",") not in shown]
    verb = rest[0].lower() if rest else "says"
    action = verb_base(verb) or _SPEAKING.get(verb) or verb.removesuffix("s")
    heard = [me if name == "me" else name for name in rest[1:] if name == "me" or name in fact.people]
    content = analyse(line.text).content
    about = _topic(content) or _topic(fact.text.partition(":")[2])
    return Interaction(
        speakers or ("someone",),
        action,
        about,
        speech=" ".join(line.text.split()),
        attributes=distinct(f"to {name}" for name in heard if name not in speakers),
    )


def _subjects(words: Sequence[str], people: Sequence[str], me: str) -> tuple[str, ...]:
    """Who acts, by the words before the verb; empty where that is no person."""
    text = " ".join(words)
    found = [name for name in people if name != me and name in text]
    plain = [word.strip(",").lower() for word in words]
    if "i" in plain or "we" in plain or me in text.split():
        found.append(me)
    if not found and plain and plain[0] in _SOMEBODY:
        found.append("someone")
    if not found and _UNNAMED & set(plain[:4]) and plain[0] not in _OWN:
        found.append(" ".join(word for word in plain if word not in DETERMINERS))
    return distinct(found)


@lru_cache(maxsize=65_536)
def _topic(content: str) -> str:
    """What a sentence is about: its first nouns, as far as closed classes of words tell, else its first content words.

    ``Where did you put the blue kettle?`` -> "blue kettle"; "" for a sentence without content.
    """
    runs: list[list[str]] = [[]]
    telling = set(content_words(content))
    before = ""
    for raw in content.split():
        word = low(raw).replace("’", "'").removesuffix("'s")
        noun = word in telling and (before in DETERMINERS or not verb_forms(word))
        if noun:
            runs[-1].append(raw.strip(EDGE).removesuffix("'s"))
        if runs[-1] and (not noun or raw[-1] in EDGE):
            runs.append([])
        before = word
    first = next((run for run in runs if run), [])
    return " ".join(first[:3] or list(content_words(content))[:3])

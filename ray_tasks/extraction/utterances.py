"""Transcript lines to utterance texts: speaker, speech act and content, answers joined with what they answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ray_tasks.extraction.context import Said
from ray_tasks.extraction.people import Roster, label_names
from ray_tasks.extraction.speech import Speech, analyse, as_statement
from ray_tasks.extraction.words import content_words, distinct
from ray_tasks.rows import Line

_SHORTEST_STATEMENT: Final = 2


@dataclass(frozen=True, slots=True)
class Utterance:
    """The text of an utterance and the people in it."""

    text: str
    people: tuple[str, ...]
    answers: bool = False


def utterance(line: Line, before: Sequence[Said], roster: Roster, at_ms: int) -> Utterance | None:
    """The utterance of a spoken line, given the spoken lines before it; None where it says nothing by itself and
    answers nothing.

    ``Mara: Are all the lanterns outside?`` and then ``Tobi: Yes.`` become "Mara asks: Are all the lanterns outside?"
    and "Tobi confirms to Mara: all the lanterns are outside."
    """
    speech = analyse(line.text)
    speakers = tuple("I" if name == roster.me else name for name in label_names(line.speaker))
    if speech.reply != "none":
        answered = _answer(line, speech, before, speakers, roster, at_ms)
        if answered is not None:
            return answered
    if not speech.has_content:
        return None
    addressee, content = _addressee(speech.content, speakers, roster, at_ms)
    lead = _lead(speech, speakers, addressee)
    named = roster.named(content, at_ms)
    return Utterance(f"{lead}: {content}", _people([*speakers, *([addressee] if addressee else []), *named], roster))


def _people(names: Sequence[str], roster: Roster) -> tuple[str, ...]:
    return distinct(roster.me if name in ("I", "me") else name for name in names)


def _subject(speakers: Sequence[str]) -> str:
    if not speakers:
        return "Someone"
    others = [name for name in speakers if name != "I"]
    return " and ".join([*others, "I"] if "I" in speakers else others)


def _does(speakers: Sequence[str], verb: str) -> str:
    """Subject and verb in the present: ``Mara asks``, ``I ask``, ``Mara and Tobi ask``."""
    plain = "I" in speakers or len(speakers) > 1
    third = verb[:-1] + "ies" if verb.endswith("y") and verb != "say" else verb + "s"
    return f"{_subject(speakers)} {verb if plain else third}"


def _lead(speech: Speech, speakers: Sequence[str], addressee: str | None) -> str:
    if speech.question != "none":
        return _does(speakers, "ask") + (f" {addressee}" if addressee else "")
    if speech.suggests:
        return _does(speakers, "suggest") + (f" to {addressee}" if addressee else "")
    return f"{_does(speakers, 'tell')} {addressee}" if addressee else _does(speakers, "say")


def _addressee(content: str, speakers: Sequence[str], roster: Roster, at_ms: int) -> tuple[str | None, str]:
    """Who is called by name at the edge of a line, as "me" for the wearer, and the content without the call."""
    for name in roster.named(content, at_ms):
        if name in speakers or (name == roster.me and "I" in speakers):
            continue
        who = re.escape(name)
        rest = re.sub(rf"^(?:Hey,? )?{who}\s*[,，:]\s*(?=\S)|\s*[,，]\s*{who}(?=[.?!？。]*$)", "", content)
        if rest != content and content_words(rest):
            return ("me" if name == roster.me else name), rest[:1].upper() + rest[1:]
    return None, content


def _answer(
    line: Line, speech: Speech, before: Sequence[Said], speakers: Sequence[str], roster: Roster, at_ms: int
) -> Utterance | None:
    """A yes, a no or a fragment together with the one question it can answer, or the statement it agrees with."""
    candidates = [said for said in before if said.may_be_answered_by(line) and _is_asked(said, line, roster, at_ms)]
    follows = bool(candidates) and candidates[-1] is before[-1]
    questions = [said for said in candidates if said.speech.question != "none" and said.speech.has_content]
    if speech.reply == "fragment":
        questions = [said for said in questions if said.speech.question == "open" and said is before[-1]]
    else:
        questions = [said for said in questions if said.speech.question == "polar" or not said.speech.english]
    if len({said.line.text for said in questions}) == 1:
        asked = questions[-1]
        question = _addressee(asked.speech.content, label_names(asked.line.speaker), roster, at_ms)[1]
        text = _answer_text(speech, question, _doing_to(speakers, asked, roster))
    elif not questions and speech.reply != "fragment" and follows and _is_statement(candidates[-1]):
        asked = candidates[-1]
        verb = "agree" if speech.reply == "yes" else "disagree"
        text = f"{_doing_to(speakers, asked, roster)(verb, 'with')}: {asked.speech.content}"
    else:
        return None
    others = label_names(asked.line.speaker)
    named = (*roster.named(asked.speech.content, at_ms), *roster.named(speech.content, at_ms))
    return Utterance(text, _people([*speakers, *others, *named], roster), answers=True)


def _is_asked(asked: Said, line: Line, roster: Roster, at_ms: int) -> bool:
    """Whether whoever speaks a line is called by name in a question, or nobody is."""
    addressee, _ = _addressee(asked.speech.content, label_names(asked.line.speaker), roster, at_ms)
    answering = ["me" if name == roster.me else name for name in label_names(line.speaker)]
    return addressee is None or addressee in answering


def _is_statement(said: Said) -> bool:
    return said.speech.question == "none" and len(content_words(said.speech.content)) >= _SHORTEST_STATEMENT


def _answer_text(speech: Speech, question: str, doing: Callable[[str, str], str]) -> str:
    if speech.reply == "fragment":
        return f"{doing('answer', '')} ({question}): {speech.content}"
    statement = as_statement(question)
    if statement is None:
        return f"{doing(f'answer {speech.reply}', 'to')}: {question}"
    return f"{doing('confirm' if speech.reply == 'yes' else 'deny', 'to')}: {statement}."


def _doing_to(speakers: Sequence[str], asked: Said, roster: Roster) -> Callable[[str, str], str]:
    """A function of verb and preposition: ("confirm", "to") -> ``I confirm to Tobi``; an unnamed asker is left out."""
    askers = " and ".join("me" if name == roster.me else name for name in label_names(asked.line.speaker))

    def doing(verb: str, preposition: str) -> str:
        head, _, rest = verb.partition(" ")
        return " ".join(filter(None, [_does(speakers, head), rest, preposition if askers else "", askers]))

    return doing

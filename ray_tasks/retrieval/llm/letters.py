"""Reading the chosen letter out of a model's reply, or saying why there is none.

Every single letter of the plain reply (letter_text) becomes a mention with the words around it. Ten rules then look at
the mentions in this order, and the first that decides wins:

1. the engine's own error message: no answer, whatever letter it holds;
2. a thought that never ends: truncated;
3. committed statements (``Answer: B``, ``I choose B``, ``Wait, it is B``): the last one stands, a correction included;
4. JSON that breaks off before its answer: truncated;
5. conclusions (``..., so C.``, ``B is correct``): the last one;
6. a letter alone in its line or sentence, or one that opens the reply (``c) under the bench``);
7. guesses (``I would say B``): read, but marked weak;
8. a cut-off reply (``Answer:`` and nothing more): truncated;
9. a refusal or an admission that memory does not tell: declined;
10. one letter alone somewhere in running text: read, marked weak unless it is in brackets or closes the reply.

What no rule decides is unparsed. A letter that is negated, ruled out, asked about or supposed is no answer, nor is the
article "A". Two letters in the deciding statement are unparsed, and a letter that no option carries is not offered:
neither is ever mended by a guess.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ray_tasks.retrieval.llm import letter_cues as cues
from ray_tasks.retrieval.llm.letter_mentions import WORD_LETTERS, Mention, find_mentions
from ray_tasks.retrieval.llm.letter_text import plain_reply
from ray_tasks.retrieval.types import Status

LetterStatus = Literal["answered", "weak", "unparsed_two", "not_offered", "truncated", "declined", "error", "unparsed"]
_ANSWER_STATUS: Final[dict[LetterStatus, Status]] = {
    "answered": "answered",
    "weak": "answered",
    "declined": "declined",
    "error": "error",
}


@dataclass(frozen=True, slots=True)
class Letter:
    """What was read: `label` is one of the offered ones for answered and weak, None for every other status."""

    label: str | None
    status: LetterStatus

    @property
    def answer_status(self) -> Status:
        """The coarser status that an Answer carries; the finer one belongs in its notes where it is not "answered"."""
        return _ANSWER_STATUS.get(self.status, "unparsed")


@dataclass(frozen=True, slots=True)
class _Reading:
    text: str
    open_thought: bool
    cut_json: bool
    labels: frozenset[str]
    mentions: tuple[Mention, ...]  # asserted ones only, in order

    @property
    def declines(self) -> bool:
        return bool(cues.DECLINED.search(self.text))

    @property
    def admits_doubt(self) -> bool:
        """Whether some clause says that memory does not tell, without speaking of one of the options."""
        clauses = re.split(r"[.,;:!?\n]", self.text)
        return any(cues.DECLINED.search(f"{clause};") and not find_mentions(clause, self.labels) for clause in clauses)


def read_letter(reply: str, labels: Sequence[str]) -> Letter:
    """The label that `reply` chooses among `labels` (single Latin letters), or the reason why there is none.

    Raises ValueError where a label is not a single Latin letter.
    """
    offered = frozenset(label.upper() for label in labels)
    if any(not re.fullmatch("[A-Z]", label) for label in offered):
        raise ValueError(f"labels must be single Latin letters, not {list(labels)}")
    plain = plain_reply(reply)
    mentions = tuple(mention for mention in find_mentions(plain.text, offered) if mention.asserted)
    reading = _Reading(plain.text, plain.open_thought, plain.cut_json, offered, mentions)
    for rule in RULES:
        letter = rule(reading)
        if letter is not None:
            return letter
    return Letter(None, "unparsed")


def _decide(mention: Mention, reading: _Reading, weak: bool = False) -> Letter:
    """The letter of a deciding mention: two letters are unparsed, an unknown one is not offered."""
    if len(mention.letters) > 1:
        return Letter(None, "unparsed_two")
    letter = mention.letters[0]
    if letter not in reading.labels:
        return Letter(None, "not_offered")
    return Letter(letter, "weak" if weak else "answered")


def _error(reading: _Reading) -> Letter | None:
    return Letter(None, "error") if cues.ERROR_REPLY.match(reading.text) else None


def _open_thought(reading: _Reading) -> Letter | None:
    return Letter(None, "truncated") if reading.open_thought else None


def _committed(reading: _Reading) -> Letter | None:
    """The last statement that names the answer; ``Answer: none`` is one too."""
    last: tuple[int, Letter] | None = None
    for mention in reading.mentions:
        if mention.asked:
            continue
        named = cues.BEFORE_ANSWER.search(mention.before) and not _may_be_prose(mention, reading)
        corrected = cues.BEFORE_CORRECTION.search(mention.before) and mention.ends_clause
        if named or corrected:
            clause = re.split(r"[,.;!?\n]", mention.before)[-1]
            last = (mention.start, _decide(mention, reading, weak=bool(cues.SOFT_TAIL.search(clause))))
    for match in cues.DECLINED_VALUE.finditer(reading.text):
        if last is None or match.start() > last[0]:
            last = (match.start(), Letter(None, "declined"))
    return last[1] if last else None


def _may_be_prose(mention: Mention, reading: _Reading) -> bool:
    """Whether a letter after ``Answer`` may be no label: a small one, or one not offered, inside a phrase."""
    if mention.marked or len(mention.letters) > 1:
        return False
    if mention.letters[0] not in reading.labels:
        return not mention.ends_clause
    return mention.lower and mention.letters[0] in WORD_LETTERS and not mention.ends_clause


def _is_label(mention: Mention) -> bool:
    """Whether a mention outside a formal statement is surely a label: small letters need brackets."""
    return mention.marked or not mention.lower


def _cut_json(reading: _Reading) -> Letter | None:
    return Letter(None, "truncated") if reading.cut_json else None


def _concluded(reading: _Reading) -> Letter | None:
    """The last conclusion; weak where the reply also says that it cannot tell."""
    found = [mention for mention in reading.mentions if _is_conclusion(mention, reading)]
    return _decide(found[-1], reading, weak=reading.admits_doubt) if found else None


def _is_conclusion(mention: Mention, reading: _Reading) -> bool:
    if mention.asked or not set(mention.letters) <= reading.labels:
        return False
    if cues.BEFORE_GUESS.search(mention.before) or cues.BEFORE_THING.search(mention.before):
        return False
    led = cues.BEFORE_CONCLUSION.search(mention.before) and mention.ends_clause
    return bool(led or (_is_label(mention) and cues.AFTER_CONFIRMED.match(mention.after)))


def _standing_alone(reading: _Reading) -> Letter | None:
    """A letter that is a line or a sentence of its own, or that opens the reply; a list of options is neither."""
    found = [mention for mention in reading.mentions if _is_alone(mention) or _opens_reply(mention, reading)]
    letters = {letter for mention in found for letter in mention.letters}
    if not found:
        return None
    if len(letters) > 1:
        return Letter(None, "unparsed_two")
    return _decide(found[-1], reading, weak=reading.admits_doubt or all(mention.asked for mention in found))


def _is_alone(mention: Mention) -> bool:
    if cues.BEFORE_GUESS.search(mention.before):
        return False
    opened = re.search(r"(?:^|[\n.;!?])[\s\-•]*$", mention.text[: mention.start])
    return bool(opened and re.match(r"[)\]}>\"']*\s*[.!?,:]?[)\]}>\"']*\s*(?:$|\n)", mention.after))


def _opens_reply(mention: Mention, reading: _Reading) -> bool:
    if re.search(r"[^\s\-•]", mention.text[: mention.start]):
        return False
    delimited = re.match(r"[)\]}>\"']*\s*([).:,\]–—(-])|[)\]}>\"']*\s*\n", mention.after)
    offered = set(mention.letters) <= reading.labels
    clear = mention.letters[0] not in WORD_LETTERS and not mention.lower
    if not (delimited or mention.marked or (offered and (clear or cues.CLAUSE_WORDS.match(mention.after)))):
        return False
    return not _enumerates(mention, reading)


def _enumerates(first: Mention, reading: _Reading) -> bool:
    """Whether other labels are written in the same manner, as in a list that goes through the options."""
    mark = re.match(r"[\]}>\"']*\s*([).:])", first.after)
    if not mark:
        return False
    sign = mark.group(1)
    anywhere = sign in (")", ":")
    for other in reading.mentions:
        at_line_start = bool(re.search(r"(?:^|\n)[\s\-•]*$", other.before))
        same_sign = other.after.lstrip("]}>\"' ").startswith(sign)
        if same_sign and other.letters != first.letters and (anywhere or at_line_start):
            return True
    return False


def _guessed(reading: _Reading) -> Letter | None:
    found = [
        mention
        for mention in reading.mentions
        if _is_label(mention) and mention.ends_clause and cues.BEFORE_GUESS.search(mention.before)
    ]
    if not found:
        return None
    if len({mention.letters for mention in found}) > 1:
        return Letter(None, "unparsed_two")
    return _decide(found[-1], reading, weak=True)


def _cut_off(reading: _Reading) -> Letter | None:
    return Letter(None, "truncated") if cues.LABEL_AT_END.search(reading.text) else None


def _declined(reading: _Reading) -> Letter | None:
    return Letter(None, "declined") if reading.declines else None


def _alone_in_prose(reading: _Reading) -> Letter | None:
    """One label in running text; several different ones are unparsed."""
    found = [
        mention
        for mention in reading.mentions
        if _is_label(mention)
        and not mention.asked
        and set(mention.letters) & reading.labels
        and not cues.BEFORE_THING.search(mention.before)
        and (mention.marked or mention.letters[0] not in WORD_LETTERS or mention.ends_clause)
    ]
    letters = {letter for mention in found for letter in mention.letters}
    if len(letters) > 1:
        return Letter(None, "unparsed_two")
    if not found:
        return None
    closes_reply = not re.search(r"\w", found[-1].text[found[-1].end :])
    return _decide(found[-1], reading, weak=not (closes_reply or any(mention.marked for mention in found)))


RULES: Final[tuple[Callable[[_Reading], Letter | None], ...]] = (
    _error,
    _open_thought,
    _committed,
    _cut_json,
    _concluded,
    _standing_alone,
    _guessed,
    _cut_off,
    _declined,
    _alone_in_prose,
)
"""In the order of the module's docstring; what none decides is unparsed."""

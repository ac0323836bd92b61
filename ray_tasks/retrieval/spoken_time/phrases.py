"""Phrases of time: pieces that belong together, the words that place something before or after them, and ranges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ray_tasks.retrieval.spoken_time.day_parts import hours_of
from ray_tasks.retrieval.spoken_time.pieces import Piece

_FILLER: Final = (
    r"(?:at|in|on|of|during|around|about|approximately|roughly|exactly|for|over|throughout|the|my|our|your|earlier|"
    r"all|whole|entire|maybe|some ?time)"
)
_CLOSE: Final = (
    r"(?P<close>just|right|shortly|directly|immediately|straight|soon|"
    r"a (?:little|bit|short|while)(?: (?:bit|while|time))?)"
)
_RELATION: Final = r"(?P<relation>not before|before|after|until|till|up to|since|by|prior to)"
_SAME_RELATIONS: Final = {"not before": "after", "till": "until", "up to": "until", "prior to": "before"}
_MODIFIER: Final = r"(?P<modifier>early|late|first thing)"
_EDGE: Final = r"(?P<edge>end|close|beginning|start|middle) of"
_WORDS: Final = rf"(?:{_FILLER} )*"
_RELATED: Final = rf"(?:(?:{_CLOSE} )?{_RELATION} )?"
_OPENING: Final = re.compile(
    rf"(?:\b(?P<range>from|between) )?(?<![\w']){_RELATED}{_WORDS}(?:{_MODIFIER} )?{_WORDS}(?:{_EDGE} )?{_WORDS}$"
)
_LINK: Final = re.compile(rf"(?:'s)?,? {_RELATED}{_WORDS}(?:{_MODIFIER} )?{_WORDS}|")
_TO: Final = re.compile(rf",? ?(?P<sign>to|until|till|through|and|~) ?{_WORDS}")
_LEADS_TO_CLOCK: Final = re.compile(
    r"(?<!look )(?<!looks )(?<!looked )(?<!looking )(?<!laughing )(?<!pointing )"
    r"\b(?P<word>at|around|by|before|after|since|until|till) (?:about |around |exactly |roughly )?$"
)
_NO_PART_OF_DAY: Final = re.compile(
    r"^(?:(?:at|in|of|about|around|for) )+(?!the (?:end|close|beginning|start|middle)\b)"
)
_RANGE_WORD: Final = re.compile(r"(?:from|between) ")
_LONGEST_OPENING: Final = 60


@dataclass(frozen=True, slots=True)
class Member:
    """A piece of a phrase, and how the phrase lies to it: before, after, until, since or by it, or at it."""

    piece: Piece
    relation: str | None = None
    close: bool = False
    modifier: str | None = None


@dataclass(frozen=True, slots=True)
class Phrase:
    """Pieces that place one time together, at [start, end) of the text.

    `edge`: the beginning, middle or end of its days is meant. `to`: where this begins a range, the phrase that ends it.
    """

    start: int
    end: int
    members: tuple[Member, ...]
    edge: str | None = None
    to: Phrase | None = None

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces without what places them."""
        return tuple(member.piece for member in self.members)


@dataclass
class _Growing:
    members: list[Member]

    @property
    def end(self) -> int:
        return self.members[-1].piece.end

    def fits(self, piece: Piece, relation: str | None) -> bool:
        """Whether a piece adds to this phrase: no second day or clock time, and no part that contradicts the first."""
        pieces = [member.piece for member in self.members]
        if piece.window or any(one.window for one in pieces):
            return False
        if piece.days and any(one.days for one in pieces):
            return False
        if piece.clock and any(one.clock for one in pieces):
            return False
        fine = any(one.part or one.clock for one in pieces)
        if fine and relation == "until" and (piece.part or piece.clock):
            return False  # the end of a range
        parts = [one.part for one in pieces if one.part]
        return not (piece.part and parts) or relation is not None or _overlap(piece.part, parts[-1])


def find_phrases(text: str, pieces: Sequence[Piece]) -> list[Phrase]:
    """The phrases that the pieces of a text form, in its order; numbers that are no times are left out."""
    growing: list[_Growing] = []
    for piece in _without_counts(text, pieces):
        gap = text[growing[-1].end : piece.start] if growing else ""
        link = _LINK.fullmatch(gap) if growing else None
        if link and growing[-1].fits(piece, _relation(link)):
            growing[-1].members.append(Member(piece, _relation(link), bool(link["close"]), _modifier(link)))
        else:
            growing.append(_Growing([Member(piece)]))
    phrases = [_opened(text, one) for one in growing]
    return _with_days(text, _as_ranges(text, phrases))


def _without_counts(text: str, pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces without bare numbers, unless a word or a piece beside them makes them times of day."""
    kept: list[Piece] = []
    for number, piece in enumerate(pieces):
        before = pieces[number - 1] if number else None
        after = pieces[number + 1] if number + 1 < len(pieces) else None
        if (
            not piece.bare
            or _is_hour(text, piece, before, after)
            or (after and _is_range(text, piece, after))
            or (before in kept and before and _is_range(text, before, piece))
        ):
            kept.append(piece)
    return kept


def _is_hour(text: str, piece: Piece, before: Piece | None, after: Piece | None) -> bool:
    """Whether a bare number stands behind "at" at the end of a sentence, or behind such a word and beside a day."""
    lead = _LEADS_TO_CLOCK.search(text, max(piece.start - 30, 0), piece.start)
    if lead is None:
        return False
    rest = text[piece.end :].lstrip()
    if lead["word"] == "at" and (not rest or rest[0] in "?.,;!)"):
        return True
    if after and (after.days or after.part) and _LINK.fullmatch(text[piece.end : after.start]):
        return True
    return bool(before and (before.days or before.part) and _LINK.fullmatch(text[before.end : piece.start]))


def _is_range(text: str, first: Piece, second: Piece) -> bool:
    """Whether two clock times are a range that "from" or "between" opens."""
    both = first.clock and second.clock and _opens_range(text, first)
    return bool(both and _TO.fullmatch(text[first.end : second.start]))


def _opens_range(text: str, piece: Piece) -> bool:
    opening = _OPENING.search(text, max(piece.start - _LONGEST_OPENING, 0), piece.start)
    return bool(opening and opening["range"])


def _opened(text: str, growing: _Growing) -> Phrase:
    """A phrase with the words before it. What they say of before and after concerns its finest piece."""
    members, start = list(growing.members), growing.members[0].piece.start
    opening = _OPENING.search(text, max(start - _LONGEST_OPENING, 0), start)
    if opening is None:
        return Phrase(start, growing.end, tuple(members))
    relation = _relation(opening)
    finest = min(range(len(members)), key=lambda place: (_coarseness(members[place].piece), place))
    if relation and members[finest].relation is None:
        members[finest] = replace(members[finest], relation=relation, close=bool(opening["close"]))
    modifier = _modifier(opening)
    if modifier:
        members = [replace(one, modifier=one.modifier or modifier) if one.piece.part else one for one in members]
    # "headphones for yesterday": a bare day keeps only such words before it as place it
    of_day = all(member.piece.part is None and member.piece.clock is None for member in members)
    before = _NO_PART_OF_DAY.sub("", opening.group()) if of_day else opening.group()
    return Phrase(start - len(before), growing.end, tuple(members), opening["edge"])


def _as_ranges(text: str, phrases: Sequence[Phrase]) -> list[Phrase]:
    """Phrases with those that end a range ("between X and Y", "X to Y") joined to those that begin it."""
    joined: list[Phrase] = []
    for phrase in phrases:
        if joined and _makes_range(text, joined[-1], phrase):
            members = tuple(replace(one, relation=None) if one.relation == "until" else one for one in phrase.members)
            joined[-1] = replace(joined[-1], end=phrase.end, to=replace(phrase, members=members))
        else:
            joined.append(phrase)
    return joined


def _makes_range(text: str, first: Phrase, second: Phrase) -> bool:
    """Whether a phrase ends a range that the one before begins."""
    sign = _TO.fullmatch(text[first.end : second.members[0].piece.start])
    if first.to is not None or sign is None:
        return False
    if sign["sign"] == "and" and not text.startswith("between", first.start):
        return False
    return not any(piece.window or piece.each for piece in (*first.pieces, *second.pieces))


def _with_days(text: str, phrases: Sequence[Phrase]) -> list[Phrase]:
    """Phrases, where a range takes the day right before it ("today between 10 and 11"), and no other keeps "from"."""
    joined: list[Phrase] = []
    for phrase in phrases:
        if phrase.to is None:
            range_word = _RANGE_WORD.match(text, phrase.start, phrase.members[0].piece.start)
            joined.append(replace(phrase, start=range_word.end()) if range_word else phrase)
        elif joined and _is_day_of(text, joined[-1], phrase):
            joined[-1] = replace(phrase, start=joined[-1].start, members=(*phrase.members, *joined[-1].members))
        else:
            joined.append(phrase)
    return joined


def _is_day_of(text: str, day: Phrase, span: Phrase) -> bool:
    """Whether a phrase is nothing but the day of the range after it."""
    if len(day.members) > 1 or day.to or day.members[0].relation or not day.pieces[0].days:
        return False
    named = any(piece.days for piece in (*span.pieces, *(span.to.pieces if span.to else ())))
    return not named and not text[day.end : span.start].strip(" ,")


def _relation(match: re.Match[str]) -> str | None:
    """One of before, after, until, since and by."""
    return _SAME_RELATIONS.get(match["relation"], match["relation"])


def _modifier(match: re.Match[str]) -> str | None:
    return "early" if match["modifier"] == "first thing" else match["modifier"]


def _coarseness(piece: Piece) -> int:
    return 0 if piece.clock else 1 if piece.part else 2


def _overlap(part: str, other: str) -> bool:
    (low, high), (other_low, other_high) = hours_of(part), hours_of(other)
    return max(low, other_low) < min(high, other_high)

"""Which clauses of a visual caption hold nothing to remember (EgoCITE Table 8, motion filtering).

Every rule asks for all words of a clause: one word outside the listed classes, such as a named object, person or
place, or an object pronoun, and the clause is kept.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

from ray_tasks.extraction.verbs import verb_base
from ray_tasks.extraction.wordlists import AUXILIARIES, BODY, word_set
from ray_tasks.extraction.words import content_words, lower_words

DropReason = Literal["no_content", "undirected_motion", "micro_gesture"]

_FRAME: Final = (
    word_set(
        """
    i we you my your our let's let us i'm i've i'll i'd we're we've we'll he she they he's she's they're the a
    an to and then now again also still slowly just right once more another while so continue continued
    continuing continues keep keeps kept keeping start started starting begin began going gonna bit little
    slightly few small quickly gently briefly slowly further by this way first next finally back as
"""
    )
    | AUXILIARIES
)
"""Words that may stand around a motion or a gesture without giving it an aim."""

_MOTIONS: Final = word_set("turn move walk go step rotate spin advance proceed head pace look glance gaze lean")
_DIRECTIONS: Final = word_set(
    """
    left right forward forwards backward backwards back ahead around up down straight over along away sideways
    side sides front rear on onward step steps two three several direction from toward towards in upward upwards
    downward downwards diagonally clockwise circle
    """
)
_GESTURES: Final = word_set(
    """
    touch scratch rub adjust blink lick pinch lower lift tilt turn bend straighten sway swing rock extend
    retract withdraw move clench wiggle twist stretch rest raise push pull put
    """
)
_EXPRESSIVE_BODY: Final = word_set("hand hands arm arms finger fingers")
_EYEWEAR_ACTS: Final = word_set("adjust push touch straighten")


@lru_cache(maxsize=65_536)
def reason_to_drop(clause: str) -> DropReason | None:
    """Why a clause is not worth an atom, or None.

    "I turn around" is undirected motion, "I go down to the cellar" is kept; "I touch my nose" is a micro gesture,
    "I raise my hand" is kept; "I said a sentence" has no content.
    """
    words = lower_words(clause)
    rest = [word for word in words if word not in _FRAME]
    acts = {verb_base(word) or word for word in rest}
    if _is_undirected(rest, acts) or (not rest and "going" in words):
        return "undirected_motion"
    if _is_micro_gesture(rest, acts):
        return "micro_gesture"
    return None if content_words(clause) or _tells_something(words) else "no_content"


def _is_undirected(rest: list[str], acts: set[str]) -> bool:
    """Whether the words are nothing but motions, looks and directions: "turn left", "take two steps forward"."""
    steps = "take" in acts and any(word in ("step", "steps") for word in rest)
    motions = _MOTIONS | {"take"} if steps else _MOTIONS
    return bool(acts & motions) and all(word in _DIRECTIONS or verb_base(word) in motions for word in rest)


def _is_micro_gesture(rest: list[str], acts: set[str]) -> bool:
    """Whether the words are nothing but a small movement of a part of the body or of the glasses on the nose."""
    if "glasses" in rest:
        return all(word in _DIRECTIONS or word == "glasses" or verb_base(word) in _EYEWEAR_ACTS for word in rest)
    parts = [word for word in rest if word in BODY]
    if not parts or not acts & _GESTURES or (acts & {"raise", "put"} and set(parts) <= _EXPRESSIVE_BODY):
        return False
    return all(word in BODY or word in _DIRECTIONS or (verb_base(word) or word) in _GESTURES for word in rest)


def _tells_something(words: tuple[str, ...]) -> bool:
    """Whether somebody is looked at or spoken to, somebody gets up, or the time is looked at."""
    to_somebody = any(word in ("everyone", "them", "him", "her", "me", "others", "it", "this") for word in words[1:])
    getting_up = "up" in words and any(verb_base(word) == "get" for word in words)
    return to_somebody or getting_up or words[-2:] == ("the", "time")

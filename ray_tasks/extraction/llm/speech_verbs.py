"""Verbs of speaking and their forms."""

from __future__ import annotations

from functools import cache
from typing import Final

from ray_tasks.extraction.wordlists import word_list, word_set

# A plus marks a verb that doubles its last letter: admit, admitted, admitting.
_REGULAR: Final = word_list(
    """
    accept acknowledge add address admire admit+ advise agree announce answer apologise apologize argue ask assure
    beg+ brag+ call caution chat+ claim clarify comfort comment compare complain compliment confess confirm
    congratulate consult converse correct debate declare decline demand deny describe disagree discuss doubt
    encourage enquire exclaim explain express greet guess hint hope inform inquire insist instruct interrupt invite
    joke justify mention moan mutter narrate negotiate note object offer order persuade plan+ point praise predict
    promise propose protest question quip quiz quote reassure recall recite recommend refer+ refuse remark remind
    repeat reply report request respond reveal scold shout signal specify state stress suggest summarise summarize
    talk tease thank urge vow warn welcome whisper wish wonder worry admire estimate emphasise emphasize agree
    introduce list name count review plead criticise criticize translate dictate
    """
)
_IRREGULAR: Final = {
    "say": ("says", "said", "saying"),
    "tell": ("tells", "told", "telling"),
    "speak": ("speaks", "spoke", "speaking"),
    "teach": ("teaches", "taught", "teaching"),
    "swear": ("swears", "swore", "swearing"),
    "sing": ("sings", "sang", "singing"),
    "read": ("reads", "reading"),
    "let": ("lets", "letting"),
}
_VOWELS: Final = "aeiou"

GREETINGS: Final = word_set("greet thank praise congratulate compliment welcome tease scold comfort introduce")
"""Verbs whose hearer is all they need: "Tobi thanks Mara"."""

BARE: Final = word_set("say tell ask reply answer respond call shout whisper express let")
"""Verbs that say nothing before it is told what is said."""

MANUAL_TOO: Final = word_set(
    """
    add address admire call caution clarify consult correct count decline describe dictate estimate guess hint
    interrupt introduce invite let list moan name note object offer order plan point quiz read refer review reveal
    shout signal sing specify stress swear teach translate wish wonder worry narrate plead mutter whisper greet
    thank praise tease comfort welcome doubt hope insist
    """
)
"""Verbs that need not tell what is said: "I count the jugs", "Tobi sings loudly"."""


@cache
def _forms() -> dict[str, str]:
    forms: dict[str, str] = {}
    for entry in _REGULAR:
        base = entry.rstrip("+")
        stem = base + base[-1] if entry.endswith("+") else base
        soft_y = base.endswith("y") and base[-2] not in _VOWELS
        third = (
            f"{base[:-1]}ies" if soft_y else f"{base}es" if base.endswith(("s", "x", "z", "ch", "sh")) else f"{base}s"
        )
        past = f"{base[:-1]}ied" if soft_y else f"{base}d" if base.endswith("e") else f"{stem}ed"
        ing = f"{base[:-1]}ing" if base.endswith("e") and not base.endswith("ee") else f"{stem}ing"
        forms.update(dict.fromkeys((base, third, past, ing), base))
    for base, others in _IRREGULAR.items():
        forms.update(dict.fromkeys((base, *others), base))
    return forms


@cache
def speech_base(word: str) -> str | None:
    """The base form of a verb of speaking (``told`` -> ``tell``), or None for other words in lower case."""
    return _forms().get(word)

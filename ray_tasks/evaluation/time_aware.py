"""The split of EgoLifeQA into time-aware and time-unaware questions (EgoCITE Appendix C.1, Table 9)."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

TIME_KEYWORDS: Final[dict[str, tuple[str, ...]]] = {
    "time of day": ("morning", "noon", "afternoon", "evening", "night", "midnight", "dawn", "dusk", "tonight"),
    "calendar": ("today", "yesterday", "tomorrow", "day", "days", "date", "week", "weekend"),
    "frequency": (
        *("usually", "often", "always", "never", "sometimes", "frequently", "rarely", "routinely", "regularly"),
        "habit",
    ),
    "ordering": (
        *("first", "last", "latest", "earlier", "earliest", "before", "previous", "previously", "recent", "recently"),
        *("ago", "then", "initially", "originally", "prior", "final", "finally"),
    ),
    "generic": (
        *("when", "again", "already", "just", "past", "moment", "hour", "minute", "o'clock", "order", "sequence"),
    ),
}
"""Table 9, row by row. A keyword counts as a whole word of the question's text, never of its choices, in any case."""

_KEYWORDS = "|".join(re.escape(word) for words in TIME_KEYWORDS.values() for word in words)
_TIME_AWARE = re.compile(rf"(?<![^\W_])(?:{_KEYWORDS}|day[ _]?\d+)(?![^\W_])", re.IGNORECASE)


def is_time_aware(question_text: str) -> bool:
    """Whether a question contains a keyword of Table 9 or a day label, glued (``DAY3``) or not."""
    plain = unicodedata.normalize("NFKC", question_text).replace("’", "'").replace("‘", "'")
    return _TIME_AWARE.search(plain) is not None

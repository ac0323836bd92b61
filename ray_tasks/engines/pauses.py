"""How long to wait before a request is sent again."""

from __future__ import annotations

import random
import time
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

FIRST_PAUSE_S: Final = 0.5
"""The longest first pause; each further one may be twice as long."""

AWAY_PAUSE_S: Final = 10.0
"""The longest pause while endpoints are away: they are to be found soon after they are back."""

SPREAD: Final = 0.1
"""By so much of itself at most a wished pause is prolonged, so that not all come back in the same moment."""


def pause(turn: int, longest_s: float, wished_s: float | None, generator: random.Random) -> float:
    """Seconds before the request after the turn-th fault (from 0): full jitter, or what the server wishes."""
    if wished_s is not None:
        return min(longest_s, wished_s * (1 + generator.uniform(0, SPREAD)))
    return generator.uniform(0, min(longest_s, FIRST_PAUSE_S * 2 ** min(turn, 30)))


def retry_after_s(header: str | None, now: float | None = None) -> float | None:
    """The seconds of a Retry-After header, a number or an HTTP date; None where there is none that can be read.

    `now`: seconds since 1970, by default those of the clock.
    """
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            moment = parsedate_to_datetime(header)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = moment.timestamp() - (time.time() if now is None else now)
    return max(0.0, seconds) if seconds == seconds else None

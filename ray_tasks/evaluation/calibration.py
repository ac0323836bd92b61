"""Whether probabilities of answers say how often these are right."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

BINS: Final = 5


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Answers whose probability lies in (low, high] (the lowest bin holds 0 too): how sure and how often right."""

    low: float
    high: float
    n: int
    mean_probability: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Figures over n answers with a probability and a key, all between 0 and 1.

    expected_error: mean over answers of |accuracy - mean probability| of their bin (expected calibration error with
    BINS bins of equal width). brier: mean squared difference of probability and outcome of the chosen answers.
    """

    n: int
    expected_error: float
    brier: float
    bins: tuple[ReliabilityBin, ...]


def calibrate(answers: Iterable[tuple[float | None, bool | None]]) -> Calibration | None:
    """The figures of (probability of the chosen answer, whether it was right); None where none has both.

    Answers without a probability or without a key are left out; empty bins are not listed.
    """
    known = [(chance, right) for chance, right in answers if chance is not None and right is not None]
    if not known:
        return None
    groups: dict[int, list[tuple[float, bool]]] = {}
    for chance, right in known:
        groups.setdefault(min(max(math.ceil(chance * BINS) - 1, 0), BINS - 1), []).append((chance, right))
    bins = tuple(
        ReliabilityBin(
            number / BINS,
            (number + 1) / BINS,
            len(members),
            math.fsum(chance for chance, _ in members) / len(members),
            sum(right for _, right in members) / len(members),
        )
        for number, members in sorted(groups.items())
    )
    return Calibration(
        len(known),
        math.fsum(one.n * abs(one.accuracy - one.mean_probability) for one in bins) / len(known),
        math.fsum((chance - right) ** 2 for chance, right in known) / len(known),
        bins,
    )

"""The weights by which signals are summed: a small table that a person can read, change and replace.

The default is untrained: round numbers, equal where nothing speaks against it. A table learned from questions has the
same form, so it can be loaded in its place.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from ray_tasks.errors import UsageError

Signal = Literal["dense", "clip", "coarse", "words", "window"]
Variant = Literal["question", "core", "with_choice", "choice"]


class WeightsError(UsageError):
    """A table of weights that cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Term:
    """One addend: the z-score of a signal for a variant of the question, times a weight.

    dense: largest cosine of the clip's rows; clip: cosine of the clip's own vector; coarse: largest cosine of the
    activities and conversations over it; words: BM25 of the clip; window: BM25 of the 13 clips round it.
    For with_choice and choice the largest z-score among the choices counts; with_choice is the question itself where no
    choice says more than a time.
    """

    signal: Signal
    variant: Variant
    weight: float


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """A score is the weighted mean of the terms, plus recency x ln R (EgoCITE Eq. 1), less penalties for wrong times.

    outside_question and outside_choices are taken off clips that touch no window named by the question, or by any of
    its choices. `provenance` says where the weights come from.
    """

    terms: tuple[Term, ...]
    recency: float
    outside_question: float
    outside_choices: float
    provenance: str

    def __post_init__(self) -> None:
        if not self.terms or sum(abs(term.weight) for term in self.terms) == 0:
            raise WeightsError("a table of weights needs at least one term that is not zero")
        for term in self.terms:
            if term.signal not in get_args(Signal) or term.variant not in get_args(Variant):
                raise WeightsError(f"unknown signal or variant: {term.signal} of {term.variant}")

    def to_json(self) -> str:
        """The table as JSON; the inverse of from_json."""
        return json.dumps(asdict(self), indent=2)

    @classmethod
    def from_json(cls, text: str) -> FusionWeights:
        """A table from its JSON; raises WeightsError where it is none."""
        try:
            values = json.loads(text)
            terms = tuple(Term(**term) for term in values.pop("terms"))
            return cls(terms=terms, **values)
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
            raise WeightsError(f"not a table of weights: {error}") from error


DEFAULT_WEIGHTS = FusionWeights(
    terms=(
        Term("dense", "question", 1.0),
        Term("dense", "core", 1.0),
        Term("dense", "with_choice", 1.0),
        Term("dense", "choice", 0.5),
        Term("clip", "core", 1.0),
        Term("words", "with_choice", 1.0),
        Term("words", "choice", 0.5),
        Term("window", "core", 1.0),
        Term("window", "with_choice", 1.0),
        Term("coarse", "with_choice", 1.0),
    ),
    recency=6.0,
    outside_question=2.0,
    outside_choices=3.0,
    provenance="untrained: round weights",
)

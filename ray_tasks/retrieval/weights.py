"""The weights by which signals are summed: a small table that a person can read, change and replace.

Two tables ship with the package: `learned`, which `daybook tune` made from questions (weights.json beside this file,
with what it was trained on and how well it does on questions left out), and `untrained`, with round numbers, equal
where nothing speaks against it. A table in a file of one's own has the same form.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from ray_tasks.errors import UsageError
from ray_tasks.storage.shards import content_key

Signal = Literal["dense", "seen", "said", "clip", "coarse", "words", "said_words", "row_words", "window5", "window"]
Variant = Literal["question", "core", "context", "with_choice", "choice"]
Over = Literal["max", "mean"]
Column = tuple[Signal, Variant, Over, int]
"""A signal without its weight: (signal, variant, over, reach), see Term."""

MOST_REACH = 20


class WeightsError(UsageError):
    """A table of weights that cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Term:
    """One addend: the z-score of a signal for a variant of the question, times a weight.

    Signals: dense is the largest cosine of the clip's rows, seen and said that of its rows of action or of speech; clip
    is the cosine of the clip's own vector; coarse the largest cosine of the activities and conversations over it; words
    is BM25 of the clip, said_words that of its rows of speech; row_words is the share of
    the words that one row holds together; window5 and window are BM25 of the 5 and 13 clips round it.

    Variants: see queries.Variants. Where a variant has a text for each choice, `over` says whether the best choice or
    the mean of all counts. `reach`, if not 0, takes the mean over so many clips on both sides, in the same recording.
    """

    signal: Signal
    variant: Variant
    weight: float
    over: Over = "max"
    reach: int = 0

    @property
    def column(self) -> Column:
        """What is weighed, without the weight."""
        return (self.signal, self.variant, self.over, self.reach)


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """A score is the weighted mean of the terms, plus what time adds.

    Time adds recency x ln R (EgoCITE Eq. 1) and closeness x -ln(hours + 0.1), and takes outside_question and
    outside_choices off clips that touch no window named by the question, or by any of its choices. `provenance` says
    in a sentence where the weights come from, `training` in figures.
    """

    terms: tuple[Term, ...]
    recency: float
    outside_question: float
    outside_choices: float
    provenance: str
    closeness: float = 0.0
    training: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.terms or sum(abs(term.weight) for term in self.terms) == 0:
            raise WeightsError("a table of weights needs at least one term that is not zero")
        for term in self.terms:
            if term.signal not in get_args(Signal) or term.variant not in get_args(Variant):
                raise WeightsError(f"unknown signal or variant: {term.signal} of {term.variant}")
            if term.over not in get_args(Over) or not 0 <= term.reach <= MOST_REACH:
                raise WeightsError(f"{term.signal} of {term.variant}: over {term.over!r}, reach {term.reach!r}")
        numbers = [self.recency, self.closeness, self.outside_question, self.outside_choices]
        if not all(abs(float(number)) < float("inf") for number in (*numbers, *(t.weight for t in self.terms))):
            raise WeightsError("a weight is not a finite number")

    @property
    def columns(self) -> tuple[Column, ...]:
        """The signals that the terms name, each once; no other is computed."""
        return tuple(dict.fromkeys(term.column for term in self.terms))

    @property
    def digest(self) -> str:
        """A hash of all that changes scores, for the keys of stored answers."""
        values = asdict(self)
        decisive = {name: values[name] for name in sorted(values) if name not in ("provenance", "training")}
        return content_key(json.dumps(decisive, sort_keys=True))[:16]

    def to_json(self) -> str:
        """The table as JSON, a line for each term; the inverse of from_json."""
        values = asdict(self)
        lines = ",\n    ".join(json.dumps(term) for term in values.pop("terms"))
        rest = json.dumps(values, indent=2)
        return f'{{\n  "terms": [\n    {lines}\n  ],{rest[1:]}\n'

    @classmethod
    def from_json(cls, text: str) -> FusionWeights:
        """A table from its JSON; raises WeightsError where it is none."""
        try:
            values = json.loads(text)
            terms = tuple(Term(**term) for term in values.pop("terms"))
            return cls(terms=terms, **values)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise WeightsError(f"not a table of weights: {error}") from error


UNTRAINED = FusionWeights(
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

LEARNED_FILE = Path(__file__).with_name("weights.json")


def load_weights(choice: str) -> FusionWeights:
    """The table of a name (`learned`, `untrained`) or of a file; raises WeightsError that names the file."""
    if choice == "untrained":
        return UNTRAINED
    path = LEARNED_FILE if choice == "learned" else Path(choice)
    try:
        return _read(path, path.stat().st_mtime_ns)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise WeightsError(
            f"weights={choice}: {path} cannot be read ({reason}); use learned, untrained or a file"
        ) from error


@lru_cache(maxsize=8)
def _read(path: Path, _changed_ns: int) -> FusionWeights:
    try:
        return FusionWeights.from_json(path.read_text(encoding="utf-8"))
    except WeightsError as error:
        raise WeightsError(f"{path}: {error}") from error

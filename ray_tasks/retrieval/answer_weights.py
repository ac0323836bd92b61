"""The weights by which features become probabilities of choices, and how sure an answer must be to count as found."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any, get_args

from ray_tasks.retrieval.answer_features import FEATURES
from ray_tasks.retrieval.choice_kinds import Kind
from ray_tasks.retrieval.weights import WeightsError
from ray_tasks.strict_json import parse_json

FINDING = ("best_cosine", "words_held")
"""What decides whether a question counts as answered: see finding.py."""


@dataclass(frozen=True, slots=True)
class FoundWeights:
    """A logistic model of whether the memory holds what a question asks for; below the threshold it is not found."""

    bias: float
    weights: Mapping[str, float]
    threshold: float

    def chance(self, features: Mapping[str, float]) -> float:
        """The probability that what was found answers the question."""
        total = self.bias + math.fsum(weight * features[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(min(total, 50.0), -50.0)))


@dataclass(frozen=True, slots=True)
class AnswerWeights:
    """Weights of each kind's features; probabilities are the softmax of the weighted sum over the temperature.

    provenance: on what they were trained, how many questions, and the cross-validated figures.
    """

    kinds: Mapping[Kind, Mapping[str, float]]
    temperatures: Mapping[Kind, float]
    found: FoundWeights
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind in get_args(Kind):
            if kind not in self.kinds or kind not in self.temperatures:
                raise WeightsError(f"weights of answers lack the kind {kind}")
            if unknown := sorted(set(self.kinds[kind]) - set(FEATURES[kind])):
                raise WeightsError(f"weights of answers name unknown features of {kind}: {', '.join(unknown)}")
            if not self.temperatures[kind] > 0:
                raise WeightsError(f"the temperature of {kind} must be above 0, not {self.temperatures[kind]}")
        if unknown := sorted(set(self.found.weights) - set(FINDING)):
            raise WeightsError(f"weights of answers name unknown features: {', '.join(unknown)}")

    def to_json(self) -> str:
        """The weights as JSON; the inverse of from_json."""
        return json.dumps(asdict(self), indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> AnswerWeights:
        """Weights from their JSON; raises WeightsError where it is none."""
        try:
            values = parse_json(text.encode())
            found = FoundWeights(**values.pop("found"))
            return cls(found=found, **values)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise WeightsError(f"not weights of answers: {error}") from error


UNTRAINED = AnswerWeights(
    kinds={
        "person": {"best_row": 0.7, "items_naming": 0.35, "occasions_naming": 0.35},
        "time": {"mass_inside": 1.0},
        "count": {"best_number": 2.0, "times_counted": 0.5},
        "yes_no": {"fits": 10.0},
        "other": {"fits_together": 0.65, "words": 0.65},
    },
    temperatures=dict.fromkeys(get_args(Kind), 1.0),
    found=FoundWeights(-5.0, {"best_cosine": 8.0, "words_held": 2.0}, 0.3),
    provenance={"trained_on": "nothing: round numbers"},
)


@lru_cache(maxsize=1)
def trained_weights() -> AnswerWeights:
    """The weights that come with the package."""
    file = resources.files(__package__) / "answer_weights.json"
    return AnswerWeights.from_json(file.read_text(encoding="utf-8"))

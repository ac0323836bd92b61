"""From candidates to a table of weights.

Weights are pulled towards a prior, not towards nothing: the untrained table, which is known to do well on questions
that it has not seen. What is learned is how far to leave it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ray_tasks.embedding.whole_vectors import Float64, Int64
from ray_tasks.index.search import DEFAULT_DECAY
from ray_tasks.retrieval.weights import UNTRAINED, Column, FusionWeights, Term
from ray_tasks.tuning.candidates import HOURS_UNIT, TIME_FEATURES, Candidates
from ray_tasks.tuning.loss import Sample, fit

DEFAULT_STRENGTH = 0.5
PRIOR_STEEPNESS = 1.5
"""Logits in a unit of the untrained score: what its terms are multiplied by to serve as the prior."""
NEGLIGIBLE = 0.01
"""Terms with less than this share of all weight are left out of a table."""
TOTAL = 10.0
"""What the weights of a learned table add up to, for people."""
_LOG_DECAY = float(-np.log(DEFAULT_DECAY))


@dataclass(frozen=True)
class Material:
    """Candidates of many questions over the same columns, as one sample in standardised features.

    scales (f,): the standard deviations that features were divided by; they hold no targets.
    """

    columns: tuple[Column, ...]
    sample: Sample
    scales: Float64

    @classmethod
    def of(cls, candidates: Sequence[Candidates], columns: Sequence[Column]) -> Material:
        """The material of some questions; rows are numbered by the place of their question."""
        width = len(columns) + len(TIME_FEATURES)
        features = np.concatenate([np.zeros((0, width), np.float32), *(one.features for one in candidates)])
        scales = features.std(axis=0, dtype=np.float64) if len(features) else np.ones(width)
        scales = np.where(scales > 1e-6, scales, 1.0)
        nothing = np.zeros(0, np.float32)
        return cls(
            tuple(columns),
            Sample(
                (features / scales).astype(np.float32),
                np.concatenate([nothing, *(one.log_mass for one in candidates)]),
                np.concatenate([nothing, *(one.gains for one in candidates)]),
                np.repeat(np.arange(len(candidates)), [len(one.gains) for one in candidates]),
            ),
            scales,
        )

    def without(self, left_out: Sequence[int]) -> Material:
        """The same without some features, by number; a column that is left out is gone, one of time is always 0."""
        columns = [number for number in range(len(self.columns)) if number not in left_out]
        kept = [*columns, *range(len(self.columns), len(self.scales))]
        features = self.sample.features[:, kept]
        for number in left_out:
            if number >= len(self.columns):
                features[:, kept.index(number)] = 0.0
        sample = Sample(features, self.sample.log_mass, self.sample.gains, self.sample.questions)
        return Material(tuple(self.columns[number] for number in columns), sample, self.scales[kept])

    @property
    def prior(self) -> Float64:
        """(f,) the untrained table in standardised units."""
        total = sum(abs(term.weight) for term in UNTRAINED.terms)
        known = {term.column: term.weight / total for term in UNTRAINED.terms}
        of_time = (
            UNTRAINED.recency * _LOG_DECAY * HOURS_UNIT,
            0.0,
            UNTRAINED.outside_question,
            UNTRAINED.outside_choices,
        )
        of_terms = [PRIOR_STEEPNESS * known.get(column, 0.0) for column in self.columns]
        return np.array([*of_terms, *of_time]) * self.scales

    def fit(self, questions: Int64, strength: float) -> Float64:
        """(f,) standardised weights learned from some questions."""
        return fit(self.sample.of(questions), self.prior, strength)

    def scores(self, weights: Float64) -> Float64:
        """(rows,) scores of all candidates."""
        return (self.sample.features @ weights.astype(np.float32)).astype(np.float64)

    def table(self, weights: Float64, provenance: str, training: Mapping[str, Any]) -> FusionWeights:
        """Standardised weights as a table in round numbers; see fusion for what they are multiplied with."""
        raw = weights / self.scales
        of_terms, of_time = raw[: len(self.columns)], raw[len(self.columns) :]
        total = float(of_terms.sum()) or 1.0
        terms = tuple(
            Term(signal, variant, round(TOTAL * float(weight) / total, 2), over, reach)
            for (signal, variant, over, reach), weight in zip(self.columns, of_terms, strict=True)
            if weight >= NEGLIGIBLE * total
        )
        hours, closeness, outside_question, outside_choices = (float(value) / total for value in of_time)
        return FusionWeights(
            terms=tuple(sorted(terms, key=lambda term: -term.weight)),
            recency=round(hours / HOURS_UNIT / _LOG_DECAY, 2),
            closeness=round(closeness, 4),
            outside_question=round(outside_question, 2),
            outside_choices=round(outside_choices, 2),
            provenance=provenance,
            training=training,
        )

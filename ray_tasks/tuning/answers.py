"""Learning how features of choices become probabilities, and when a question counts as not found.

Everything is judged out of fold: questions that share a target or a text lie in one fold, and every figure is the mean
over several ways of folding. A kind with too few questions, or without gain over untrained weights, keeps those.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from ray_tasks.errors import UsageError
from ray_tasks.evaluation.calibration import calibrate
from ray_tasks.retrieval.answer_features import FEATURES
from ray_tasks.retrieval.answer_weights import FINDING, UNTRAINED, AnswerWeights, FoundWeights
from ray_tasks.retrieval.choice_kinds import Kind
from ray_tasks.tuning.logit import Float64, fit_choices, fit_yes_no, softmax

PENALTY = 0.03
FOLDS = 5
SEEDS = (0, 1, 2, 3)
LEAST_QUESTIONS = 30
"""Of a kind with fewer questions nothing is learned."""
REFUSED = 0.1
"""Share of the questions with an answer that the threshold may call not found."""
TEMPERATURES = tuple(float(value) for value in np.geomspace(0.4, 2.5, 24))


@dataclass(frozen=True, slots=True)
class ChoiceExample:
    """A question whose key is known: features by name, each with one value for each choice, and the key's number.

    Examples of one group (the same target, or the same text) are never split over folds.
    """

    kind: Kind
    features: Mapping[str, tuple[float, ...]]
    key: int
    group: str


@dataclass(frozen=True, slots=True)
class FoundExample:
    """Features of a search, and whether the memory held the answer; `sort` names how the question was made."""

    features: Mapping[str, float]
    found: bool
    group: str
    sort: str = ""


def fit_answers(
    choices: Sequence[ChoiceExample], searches: Sequence[FoundExample], provenance: Mapping[str, Any]
) -> AnswerWeights:
    """Weights with their cross-validated figures under `provenance`.

    Raises UsageError where there is too little to learn anything.
    """
    kinds, temperatures, figures = dict(UNTRAINED.kinds), dict(UNTRAINED.temperatures), {}
    for kind in get_args(Kind):
        examples = [example for example in choices if example.kind == kind]
        if len(examples) < LEAST_QUESTIONS:
            figures[kind] = {"n": len(examples), "weights": "untrained: too few questions"}
            continue
        kinds[kind], temperatures[kind], figures[kind] = _fit_kind(kind, examples)
    if all("accuracy" not in figure for figure in figures.values()):
        raise UsageError(f"nothing can be learned: no kind of choices has {LEAST_QUESTIONS} questions with a key")
    found, found_figures = _fit_found(searches)
    told = {**provenance, "folds": FOLDS, "seeds": len(SEEDS), "kinds": figures, "found": found_figures}
    return AnswerWeights(kinds, temperatures, found, told)


def _fit_kind(kind: Kind, examples: Sequence[ChoiceExample]) -> tuple[dict[str, float], float, dict[str, Any]]:
    """Weights, temperature and figures of one kind."""
    options = [np.array([example.features[name] for name in FEATURES[kind]]).T for example in examples]
    keys = [example.key for example in examples]
    groups = [example.group for example in examples]
    untrained = np.array([UNTRAINED.kinds[kind].get(name, 0.0) for name in FEATURES[kind]])

    def learned(places: Sequence[int]) -> Float64:
        return fit_choices([options[i] for i in places], [keys[i] for i in places], PENALTY)

    def fixed(places: Sequence[int]) -> Float64:  # noqa: ARG001 - the same whatever it is given
        return untrained

    trials = {"trained": learned, "untrained": fixed}
    measured = {name: _cross_validate(options, keys, groups, fit) for name, fit in trials.items()}
    better = min(measured, key=lambda name: measured[name]["nll"])
    everything = list(range(len(examples)))
    weights = trials[better](everything)
    temperature = _temperature(options, keys, groups, everything, trials[better], SEEDS[0])
    figures = {"n": len(examples), "weights": better, **measured[better], "untrained": measured["untrained"]}
    named = {name: round(float(weight), 4) for name, weight in zip(FEATURES[kind], weights, strict=True)}
    return named, round(temperature, 4), figures


Fit = Callable[[Sequence[int]], Float64]


def _cross_validate(
    options: Sequence[Float64], keys: Sequence[int], groups: Sequence[str], fit: Fit
) -> dict[str, float]:
    """Accuracy (percent), mean -log p of the key, and how far probabilities tell accuracy, all out of fold.

    The temperature of a fold is chosen among the questions of the others, so nothing is judged by what it was made of.
    """
    right: list[bool] = []
    losses: list[float] = []
    surest: list[float] = []
    for seed in SEEDS:
        for inside, outside in grouped_folds(groups, seed):
            weights, temperature = fit(inside), _temperature(options, keys, groups, inside, fit, seed + 100)
            for place in outside:
                chances = softmax(options[place] @ weights / temperature)
                right.append(int(np.argmax(chances)) == keys[place])
                losses.append(-float(np.log(max(chances[keys[place]], 1e-12))))
                surest.append(float(chances.max()))
    measured = calibrate(zip(surest, right, strict=True))
    return {
        "accuracy": round(100 * float(np.mean(right)), 2),
        "nll": round(float(np.mean(losses)), 4),
        "sureness": round(100 * float(np.mean(surest)), 2),
        "calibration_error": round(measured.expected_error, 4) if measured else 0.0,
    }


def _temperature(
    options: Sequence[Float64], keys: Sequence[int], groups: Sequence[str], places: Sequence[int], fit: Fit, seed: int
) -> float:
    """The temperature under which out-of-fold logits of some questions give their keys the highest probability."""
    logits: list[tuple[Float64, int]] = []
    for inside, outside in grouped_folds([groups[i] for i in places], seed):
        weights = fit([places[i] for i in inside])
        logits += [(options[places[i]] @ weights, keys[places[i]]) for i in outside]
    return min(
        TEMPERATURES,
        key=lambda value: -sum(float(np.log(max(softmax(row / value)[key], 1e-12))) for row, key in logits),
    )


def _fit_found(examples: Sequence[FoundExample]) -> tuple[FoundWeights, dict[str, Any]]:
    """The model of what is found, with its threshold and figures; untrained where one of the outcomes is missing."""
    found = np.array([example.found for example in examples], np.bool_)
    if found.sum() < LEAST_QUESTIONS or (~found).sum() < LEAST_QUESTIONS:
        return UNTRAINED.found, {"n": len(examples), "weights": "untrained: too few searches of either outcome"}
    rows = np.array([[example.features[name] for name in FINDING] for example in examples])
    groups = [example.group for example in examples]
    sorts = np.array([example.sort for example in examples])
    called: list[npt.NDArray[np.bool_]] = []
    areas: list[float] = []
    for seed in SEEDS:
        refused = np.zeros(len(examples), np.bool_)
        for inside, outside in grouped_folds(groups, seed):
            bias, slopes = fit_yes_no(rows[inside], found[inside], PENALTY / 10)
            scores = bias + rows @ slopes
            here, there = np.array(inside), np.array(outside)
            refused[there] = scores[there] < np.quantile(scores[here][found[here]], REFUSED)
            areas.append(_area(scores[there], found[there]))
        called.append(refused)
    rates = {
        str(sort): {
            "n": int((sorts == sort).sum()),
            "called_not_found": round(100 * float(np.mean([refused[sorts == sort].mean() for refused in called])), 1),
        }
        for sort in np.unique(sorts)
    }
    bias, slopes = fit_yes_no(rows, found, PENALTY / 10)
    least = float(np.quantile(bias + rows[found] @ slopes, REFUSED))
    weights = FoundWeights(
        round(bias, 4),
        {name: round(float(slope), 4) for name, slope in zip(FINDING, slopes, strict=True)},
        round(float(1 / (1 + np.exp(-least))), 4),
    )
    return weights, {"n": len(examples), "area_under_curve": round(float(np.mean(areas)), 3), "by_sort": rates}


def _area(scores: Float64, yes: npt.NDArray[np.bool_]) -> float:
    """The probability that a yes has a higher score than a no (a tie counts half); a half where one is missing."""
    if not yes.any() or yes.all():
        return 0.5
    above = scores[yes][:, None] - scores[~yes][None, :]
    return float((above > 0).mean() + 0.5 * (above == 0).mean())


def grouped_folds(groups: Sequence[str], seed: int) -> list[tuple[list[int], list[int]]]:
    """(inside, outside) places of FOLDS folds; a group lies in one fold. Folds without questions are left out."""
    names = sorted(set(groups))
    np.random.default_rng(seed).shuffle(names)
    fold = {name: number % FOLDS for number, name in enumerate(names)}
    places = range(len(groups))
    folds = [
        ([i for i in places if fold[groups[i]] != number], [i for i in places if fold[groups[i]] == number])
        for number in range(FOLDS)
    ]
    return [(inside, outside) for inside, outside in folds if inside and outside]

"""Answers in groups: figures of any group, by how far back the evidence lies, and by how much was recorded by then.

An answer is here what ``evaluate --json`` writes of it: `correct`, `hit`, `near_hit` (true, false or null), `at_ms`,
`targets` as [start_ms, end_ms] pairs, `seconds`, tokens. Evaluations made before these keys existed lack some of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from ray_tasks.corpus.week_time import HOUR_MS, day_of
from ray_tasks.evaluation.aggregate import Rate

AnswerJson = Mapping[str, Any]
RATES: Final = ("accuracy", "hit", "hit_first", "near_hit", "grounded", "grounded_accuracy")
_OUTCOMES: Final = {
    "accuracy": "correct",
    "hit": "hit",
    "hit_first": "hit_first",
    "near_hit": "near_hit",
    "grounded": "grounded",
}

GAPS: Final = (
    ("up to 1 h", 1.0),
    ("1 to 6 h", 6.0),
    ("6 to 24 h", 24.0),
    ("1 to 2 days", 48.0),
    ("2 to 4 days", 96.0),
    ("over 4 days", math.inf),
)
"""Bins of the time between evidence and question: a name and the largest number of hours (inclusive)."""
AFTER: Final = "after the question"
NO_TARGET: Final = "no target"

SHORT_PRICES: Final = (1.0, 6.0)
LONG_PRICES: Final = (2.0, 9.0)
"""What an input and an output token cost, short and long context, in short-context input tokens (EgoCITE C.2)."""
LONG_CONTEXT_METHODS: Final = frozenset({"long-context", "GPT-5.4 agent", "Gemini-3.1-Pro agent"})
"""Methods, ours and published, that put a whole recording before the model."""


def figures(answers: Sequence[AnswerJson], method: str) -> dict[str, Any]:
    """All figures of a group.

    Rates are {percent, low, high, n} with 95% bootstrap bounds, tokens and normalized_cost the mean of a question (the
    cost in short-context input tokens), latency_ms its median and 95th percentile; None where there is nothing.
    """
    result: dict[str, Any] = {"n": len(answers), **rates(answers)}
    result["evidence_minutes"] = _mean(answers, "evidence_minutes")
    result["unanswered"] = sum(answer.get("predicted") is None for answer in answers)
    for name in ("tokens_in", "tokens_out", "rounds"):
        result[name] = _mean(answers, name)
    result["normalized_cost"] = normalized_cost(result["tokens_in"], result["tokens_out"], method)
    result["latency_ms"] = _latency(answers)
    return result


def rates(answers: Sequence[AnswerJson]) -> dict[str, dict[str, Any]]:
    """The rates alone, each over the questions that have it; grounded accuracy over those answered right."""
    found = {name: Rate.of(answer.get(key) for answer in answers) for name, key in _OUTCOMES.items()}
    found["grounded_accuracy"] = Rate.of(answer.get("grounded") for answer in answers if answer.get("correct"))
    return {name: asdict(rate) for name, rate in found.items()}


def normalized_cost(tokens_in: float | None, tokens_out: float | None, method: str) -> float | None:
    """EgoCITE's cost of a question: input and output tokens weighted by what they cost at short or long context."""
    if tokens_in is None or tokens_out is None:
        return None
    price_in, price_out = LONG_PRICES if method in LONG_CONTEXT_METHODS else SHORT_PRICES
    return price_in * tokens_in + price_out * tokens_out


def by_field(answers: Sequence[AnswerJson], field: str, order: Sequence[Any] = ()) -> dict[Any, list[AnswerJson]]:
    """Answers by a field of theirs: first the values of `order` that occur, then others sorted."""
    present = {answer.get(field) for answer in answers}
    names = [name for name in order if name in present] + sorted(present - set(order), key=str)
    return {name: [answer for answer in answers if answer.get(field) == name] for name in names}


def gap_of(answer: AnswerJson) -> str:
    """The bin of an answer: how long before the question its nearest target ended.

    Targets that end after the question count only where there is no other; AFTER is for questions that have none
    before, NO_TARGET for those without any (and for evaluations that did not keep them).
    """
    targets, at_ms = answer.get("targets") or [], answer.get("at_ms")
    if not targets or at_ms is None:
        return NO_TARGET
    gaps = [(at_ms - end) / HOUR_MS for _, end in targets if end <= at_ms]
    if not gaps:
        return AFTER
    return next(name for name, most in GAPS if min(gaps) <= most)


def by_gap(answers: Sequence[AnswerJson]) -> dict[str, list[AnswerJson]]:
    """Answers by the time between their evidence and the question, nearest first; only bins that occur."""
    groups: dict[str, list[AnswerJson]] = {name: [] for name in (*(name for name, _ in GAPS), AFTER, NO_TARGET)}
    for answer in answers:
        groups[gap_of(answer)].append(answer)
    return {name: group for name, group in groups.items() if group}


def by_horizon(answers: Sequence[AnswerJson]) -> dict[int, list[AnswerJson]]:
    """Questions asked on the days 1 to n, for every n up to the last day asked (Imprint Table 5).

    A question sees only what was recorded before it, so those asked by DAYn are answered from DAY1 to DAYn alone.
    """
    days = [(day_of(answer["at_ms"]), answer) for answer in answers if answer.get("at_ms") is not None]
    last = max((day for day, _ in days), default=0)
    return {until: [answer for day, answer in days if day <= until] for until in range(1, last + 1)}


def _mean(answers: Sequence[AnswerJson], name: str) -> float | None:
    values = [answer[name] for answer in answers if answer.get(name) is not None]
    return math.fsum(values) / len(values) if values else None


def _latency(answers: Sequence[AnswerJson]) -> dict[str, float | None]:
    seconds = [answer["seconds"] for answer in answers if answer.get("seconds") is not None]
    if not seconds:
        return {"p50": None, "p95": None}
    p50, p95 = np.percentile([1000.0 * value for value in seconds], [50, 95])
    return {"p50": float(p50), "p95": float(p95)}

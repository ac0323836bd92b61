"""Invented results of evaluations, as `evaluate --json` writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ray_tasks.corpus.week_time import HOUR_MS, week_ms
from ray_tasks.evaluation.side_by_side import StoredResult

NOON = 12 * HOUR_MS


def answer(number: int, correct: bool | None, hit: bool | None = None, **more: Any) -> dict[str, Any]:
    """Question `number` of the day of that number, asked at noon about an hour before."""
    at_ms = week_ms(number) + NOON
    return {
        "id": number,
        "predicted": "A",
        "correct": correct,
        "hit": hit,
        "hit_first": hit,
        "near_hit": hit,
        "evidence_minutes": 5.0,
        "seconds": 0.5 * number,
        "tokens_in": 1000,
        "tokens_out": 10,
        "rounds": 2,
        "category": "EntityLog" if number % 2 else "HabitInsight",
        "time_aware": bool(number % 2),
        "at_ms": at_ms,
        "targets": [[at_ms - HOUR_MS, at_ms - HOUR_MS]],
        **more,
    }


def result(
    outcomes: Sequence[bool | None],
    *,
    name: str = "one",
    method: str = "egocite",
    wearer: str = "B1_MARA",
    benchmark: str = "egolifeqa",
    questions: str = "abc",
    **settings: Any,
) -> StoredResult:
    """A result whose questions 1, 2, ... were right, wrong or without a key; each hit what it got right."""
    document = {
        "benchmark": benchmark,
        "wearer": wearer,
        "method": method,
        "config": {
            "benchmark": benchmark,
            "questions": f"{wearer}.json",
            "questions_sha256": questions,
            "memory_id": "m1",
            "method": method,
            "settings": {"rounds": 3, **settings},
            "code": "c1",
        },
        "answers": [answer(number, outcome, outcome) for number, outcome in enumerate(outcomes, start=1)],
    }
    return StoredResult(name, document)

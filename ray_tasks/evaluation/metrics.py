"""The metrics of one answered question; their only definition (DESIGN §9, EgoCITE Appendix C.2).

All times are week time in ms, all intervals include both ends. Evidence is checked here once more, whatever the index
has already refused: nothing may end after the question, and no more than MAX_EVIDENCE items may be kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ray_tasks.corpus.week_time import MINUTE_MS, format_week_time
from ray_tasks.retrieval.types import MAX_EVIDENCE, Evidence, Question

NEAR_MS: Final = 5 * MINUTE_MS
"""How far from an interval a target may lie for a near hit."""

Interval = tuple[int, int]


class EvidenceError(ValueError):
    """A method broke a rule about its evidence; its whole evaluation is void."""


class CausalityError(EvidenceError):
    """Evidence that ends after the question was asked."""


def check_evidence(question: Question, evidence: Sequence[Evidence]) -> None:
    """Raises CausalityError for an item that ends after the question, EvidenceError for too many or reversed ones."""
    if len(evidence) > MAX_EVIDENCE:
        raise EvidenceError(
            f"question {question.question_id}: {len(evidence)} evidence items, more than the {MAX_EVIDENCE} allowed"
        )
    for item in evidence:
        if item.end_ms > question.at_ms:
            raise CausalityError(
                f"question {question.question_id}, asked at {format_week_time(question.at_ms)}: "
                f"evidence {item.item_id} ({item.view}) ends later, at {format_week_time(item.end_ms)}"
            )
        if item.end_ms < item.start_ms:
            raise EvidenceError(
                f"question {question.question_id}: evidence {item.item_id} ({item.view}) ends before it starts"
            )


def is_hit(targets: Sequence[int], intervals: Iterable[Interval], tolerance_ms: int = 0) -> bool | None:
    """Whether any interval, widened by the tolerance on both sides, contains any target; None without targets.

    A hit has tolerance 0, a near hit NEAR_MS, so that every hit is a near hit.
    """
    return overlaps([(target, target) for target in targets], intervals, tolerance_ms)


def overlaps(targets: Sequence[Interval], intervals: Iterable[Interval], tolerance_ms: int = 0) -> bool | None:
    """The same for targets that are intervals themselves: whether any two have a moment in common."""
    if not targets:
        return None
    spans = list(intervals)
    return any(
        start - tolerance_ms <= target_end and target_start <= end + tolerance_ms
        for start, end in spans
        for target_start, target_end in targets
    )


def covered_minutes(intervals: Iterable[Interval]) -> float:
    """Minutes of the union of intervals: what overlaps counts once, a point counts nothing."""
    total, reached = 0, None
    for start, end in sorted(intervals):
        begin = start if reached is None else max(start, reached)
        total += max(0, end - begin)
        reached = end if reached is None else max(end, reached)
    return total / MINUTE_MS

"""Scored answers: how one answer is scored, and the Parquet rows in which answers are kept (DESIGN §3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Final

import pyarrow as pa

from ray_tasks import rows
from ray_tasks.evaluation.grounding import is_grounded
from ray_tasks.evaluation.metrics import NEAR_MS, check_evidence, covered_minutes, is_hit, overlaps
from ray_tasks.evaluation.questions import BenchmarkQuestion, normalise_text
from ray_tasks.evaluation.time_aware import is_time_aware
from ray_tasks.retrieval.types import Answer, Evidence

EVIDENCE_TYPE: Final = pa.struct(
    [
        ("start_ms", pa.int64()),
        ("end_ms", pa.int64()),
        ("view", pa.string()),
        ("text", pa.string()),
        ("score", pa.float64()),
    ]
)

ANSWER_SCHEMA: Final = pa.schema(
    [
        ("question_id", pa.string()),
        ("benchmark", pa.string()),
        ("wearer", pa.string()),
        ("method", pa.string()),
        ("category", pa.string()),
        ("time_aware", pa.bool_()),
        ("key", pa.string()),  # null where the file gives no usable key
        ("predicted", pa.string()),  # null where nothing was answered
        ("correct", pa.bool_()),  # null where there is no key
        ("confidence", pa.float64()),  # probability of `predicted`; null where the method gives none
        ("hit", pa.bool_()),  # null, as the next two, where there is no usable target
        ("hit_first", pa.bool_()),
        ("near_hit", pa.bool_()),
        ("grounded", pa.bool_()),  # right, and told by what was retrieved; null where there is no key
        ("basis", pa.string()),  # the field of a record that tells the answer; null without one
        ("evidence_minutes", pa.float64()),
        ("evidence_ids", pa.list_(pa.string())),
        ("evidence", pa.list_(EVIDENCE_TYPE)),  # in the order of evidence_ids
        ("rounds", pa.int32()),
        ("tokens_in", pa.int64()),
        ("tokens_out", pa.int64()),
        ("seconds", pa.float64()),
        ("status", pa.string()),  # answered | declined | unparsed | error
        ("error", pa.string()),  # null unless status is error
        ("notes", pa.list_(pa.string())),
        ("text", pa.string()),  # the reply, or the explanation, as the method gave it
    ]
)
"""One answered question. Times are week time in ms, seconds are wall time of answering."""


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """An item of evidence as it is kept with an answer."""

    start_ms: int
    end_ms: int
    view: str
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """A row of ANSWER_SCHEMA."""

    question_id: str
    benchmark: str
    wearer: str
    method: str
    category: str
    time_aware: bool
    key: str | None
    predicted: str | None
    correct: bool | None
    confidence: float | None
    hit: bool | None
    hit_first: bool | None
    near_hit: bool | None
    grounded: bool | None
    basis: str | None
    evidence_minutes: float
    evidence_ids: tuple[str, ...]
    evidence: tuple[EvidenceItem, ...]
    rounds: int
    tokens_in: int
    tokens_out: int
    seconds: float
    status: str
    error: str | None
    notes: tuple[str, ...]
    text: str


def score_answer(
    question: BenchmarkQuestion, answer: Answer, *, benchmark: str, method: str, seconds: float
) -> ScoredAnswer:
    """Scores one answer; only a letter that is offered and meant as an answer counts, never a guess after a failure.

    Raises CausalityError or EvidenceError where the evidence breaks a rule (metrics.check_evidence).
    """
    check_evidence(question.question, answer.evidence)
    intervals = [(item.start_ms, item.end_ms) for item in answer.evidence]
    predicted, status, notes = _read_choice(question, answer)
    correct = None if question.answer is None else predicted == question.answer
    return ScoredAnswer(
        question_id=question.question.question_id,
        benchmark=benchmark,
        wearer=question.question.wearer,
        method=method,
        category=question.category,
        time_aware=is_time_aware(question.question.text),
        key=question.answer,
        predicted=predicted,
        correct=correct,
        confidence=None if predicted is None else dict(answer.probabilities).get(predicted),
        hit=overlaps(question.target_spans, intervals),
        hit_first=is_hit(question.targets[:1], intervals),
        near_hit=overlaps(question.target_spans, intervals, NEAR_MS),
        grounded=None if correct is None else correct and is_grounded(question.question, answer),
        basis=answer.basis or None,
        evidence_minutes=covered_minutes(intervals),
        evidence_ids=tuple(item.item_id for item in answer.evidence),
        evidence=tuple(_keep(item) for item in answer.evidence),
        rounds=answer.rounds,
        tokens_in=answer.tokens_in,
        tokens_out=answer.tokens_out,
        seconds=seconds,
        status=status,
        error=(answer.error or answer.text or "no reason given") if status == "error" else None,
        notes=notes,
        text=answer.text,
    )


def to_table(answers: Iterable[ScoredAnswer]) -> pa.Table:
    """Scored answers as a table of exactly ANSWER_SCHEMA."""
    return rows.to_table(answers, ANSWER_SCHEMA)


def from_table(table: pa.Table) -> list[ScoredAnswer]:
    """Scored answers of a table; the inverse of to_table."""
    names = [field.name for field in fields(ScoredAnswer)]
    answers = []
    for row in table.select(names).to_pylist():
        row["evidence"] = tuple(EvidenceItem(**item) for item in row["evidence"])
        row["evidence_ids"], row["notes"] = tuple(row["evidence_ids"]), tuple(row["notes"])
        answers.append(ScoredAnswer(**row))
    return answers


def _read_choice(question: BenchmarkQuestion, answer: Answer) -> tuple[str | None, str, tuple[str, ...]]:
    """The letter that counts, the status and the notes of an answer."""
    if answer.status != "answered":
        discarded = ("letter_discarded",) if answer.choice is not None else ()
        return None, answer.status, (*answer.notes, *discarded)
    if answer.choice is None:
        return None, "unparsed", answer.notes
    if answer.choice not in question.labels:
        return None, "unparsed", (*answer.notes, "not_offered")
    texts = {label: normalise_text(text) for label, text in question.question.choices}
    twin = question.answer not in (None, answer.choice) and texts[answer.choice] == texts[question.answer or ""]
    return answer.choice, "answered", (*answer.notes, *(("same_text_as_key",) if twin else ()))


def _keep(item: Evidence) -> EvidenceItem:
    return EvidenceItem(item.start_ms, item.end_ms, item.view, item.text, item.score)

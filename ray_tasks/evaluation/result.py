"""The document that ``evaluate --json`` writes (DESIGN §10), and what it says beside the fixed keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ray_tasks.evaluation import aggregate
from ray_tasks.evaluation.answers import ScoredAnswer
from ray_tasks.evaluation.calibration import calibrate
from ray_tasks.evaluation.duplicates import DuplicateGroup, DuplicateReport
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.evaluation.runner import Evaluation
from ray_tasks.ledger import Ledger


def build_result(evaluation: Evaluation, config: Mapping[str, Any], ledger: Ledger | None = None) -> dict[str, Any]:
    """The result as plain JSON values.

    Rates are percent (null where there is nothing to divide by), times in answers are week time in ms. `config` is
    shown as it is; `ledger` is the question file's, so that skipped entries are seen beside the figures.
    """
    answers = evaluation.answers
    tokens_in = sum(answer.tokens_in for answer in answers)
    tokens_out = sum(answer.tokens_out for answer in answers)
    return {
        **_figures(evaluation.overall),
        "unanswered": evaluation.unanswered,
        "by_category": {name: _figures(summary) for name, summary in evaluation.by_category.items()},
        "by_time_aware": {name: _figures(summary) for name, summary in evaluation.by_time_aware.items()},
        "latency_ms": aggregate.latency_ms(answers),
        "tokens": tokens_in + tokens_out,
        "config": dict(config),
        "benchmark": evaluation.benchmark,
        "wearer": evaluation.wearer,
        "method": evaluation.method,
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "seconds": evaluation.seconds,
        "batch_size": evaluation.batch_size,
        "failed_batches": evaluation.failed_batches,
        "kept": evaluation.kept,
        "calls": evaluation.calls.to_json(),
        "no_target": sum(not question.targets for question in evaluation.questions),
        "no_key": sum(question.answer is None for question in evaluation.questions),
        "confidence": _confidence(evaluation.overall),
        "calibration": _calibration(answers),
        "statuses": aggregate.count_statuses(answers),
        "notes": aggregate.count_notes(answers),
        "flags": dict(sorted(Counter(flag for question in evaluation.questions for flag in question.flags).items())),
        "duplicates": _duplicates(evaluation.duplicates),
        "questions_file": ledger.to_json() if ledger else None,
        "answers": [_answer(question, answer) for question, answer in zip(evaluation.questions, answers, strict=True)],
    }


def _figures(summary: aggregate.Summary) -> dict[str, Any]:
    return {
        "n": summary.n,
        "accuracy": summary.accuracy.percent,
        "hit": summary.hit.percent,
        "hit_first": summary.hit_first.percent,
        "near_hit": summary.near_hit.percent,
        "evidence_minutes": summary.evidence_minutes,
        "grounded_accuracy": summary.grounded_accuracy.percent,
        "grounded": summary.grounded.percent,
    }


def _confidence(summary: aggregate.Summary) -> dict[str, Any]:
    rates = {
        "accuracy": summary.accuracy,
        "hit": summary.hit,
        "hit_first": summary.hit_first,
        "near_hit": summary.near_hit,
        "grounded_accuracy": summary.grounded_accuracy,
        "grounded": summary.grounded,
    }
    bounds = {name: {"low": rate.low, "high": rate.high, "n": rate.n} for name, rate in rates.items()}
    return {
        "level": aggregate.CONFIDENCE,
        "method": f"percentile bootstrap, {aggregate.BOOTSTRAP_RESAMPLES} resamples, seed {aggregate.BOOTSTRAP_SEED}",
        **bounds,
    }


def _calibration(answers: Sequence[ScoredAnswer]) -> dict[str, Any] | None:
    """How far probabilities say how often answers are right; null where a method gives none."""
    measured = calibrate([(answer.confidence, answer.correct) for answer in answers])
    return None if measured is None else asdict(measured)


def _duplicates(report: DuplicateReport) -> dict[str, Any]:
    return {
        "unique": report.unique,
        "accuracy_by_unique": report.accuracy,
        "groups": [_group(group) for group in report.groups],
        "inconsistent": [list(group.question_ids) for group in report.inconsistent],
    }


def _group(group: DuplicateGroup) -> dict[str, Any]:
    return {
        "ids": list(group.question_ids),
        "shuffled": group.shuffled,
        "keys_agree": group.keys_agree,
        "predicted": list(group.predicted),
        "consistent": group.consistent,
    }


def _answer(question: BenchmarkQuestion, answer: ScoredAnswer) -> dict[str, Any]:
    return {
        "id": answer.question_id if question.original_id is None else question.original_id,
        "predicted": answer.predicted,
        "correct": answer.correct,
        "probability": answer.confidence,
        "hit": answer.hit,
        "near_hit": answer.near_hit,
        "evidence": [[item.start_ms, item.end_ms, item.view, item.text] for item in answer.evidence],
        "hit_first": answer.hit_first,
        "grounded": answer.grounded,
        "basis": answer.basis,
        "key": answer.key,
        "category": answer.category,
        "time_aware": answer.time_aware,
        "status": answer.status,
        "error": answer.error,
        "notes": list(answer.notes),
        "flags": list(question.flags),
        "evidence_minutes": answer.evidence_minutes,
        "seconds": answer.seconds,
        "tokens_in": answer.tokens_in,
        "tokens_out": answer.tokens_out,
        "rounds": answer.rounds,
        "question": question.question.text,
        "at_ms": question.question.at_ms,
        "targets": [list(span) for span in question.target_spans],
    }

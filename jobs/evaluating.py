"""Asking a memory the questions of a benchmark, and keeping the answers under an id made of all that decides them."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from jobs.answering import Respondent
from ray_tasks.errors import UsageError
from ray_tasks.evaluation.answers import to_table
from ray_tasks.evaluation.egolifeqa import BENCHMARK, QuestionFile, read_egolifeqa
from ray_tasks.evaluation.result import build_result
from ray_tasks.evaluation.runner import Evaluation, evaluate_questions
from ray_tasks.provenance import code_digest, file_digest
from ray_tasks.storage.cache import table_bytes
from ray_tasks.storage.shards import content_key
from ray_tasks.storage.store import MissingObjectError

BENCHMARKS: Final = {BENCHMARK: read_egolifeqa}


@dataclass(frozen=True)
class Asked:
    """A question file, read, with the digest of its content and the form it has."""

    file: QuestionFile
    digest: str
    benchmark: str

    @classmethod
    def read(cls, path: Path, wearer: str, benchmark: str = BENCHMARK) -> Asked:
        """Reads a file for one wearer; raises UsageError for an unknown form or an unusable file."""
        if benchmark not in BENCHMARKS:
            raise UsageError(f"--benchmark {benchmark}: known are {', '.join(BENCHMARKS)}")
        return cls(BENCHMARKS[benchmark](path, wearer), file_digest(path), benchmark)


def run_evaluation(respondent: Respondent, asked: Asked, wearer: str) -> tuple[Evaluation, dict[str, Any], str]:
    """Asks all questions of a file; gives the evaluation, its JSON form and where its answers were stored."""
    memory = respondent.memory(wearer)
    evaluation = evaluate_questions(
        asked.file.questions, memory, respondent.method, benchmark=asked.benchmark, clock=time.perf_counter
    )
    result = build_result(evaluation, _config(respondent, asked), asked.file.ledger)
    store, prefix = respondent.store, _prefix(respondent, asked, wearer)
    store.write(f"{prefix}/answers.parquet", table_bytes(to_table(evaluation.answers)))
    store.write(f"{prefix}/result.json", json.dumps(result, ensure_ascii=False, indent=1).encode())
    return evaluation, result, f"{store.url}/{prefix}"


@dataclass(frozen=True)
class StoredEvaluation:
    """The result of an evaluation, where its answers are, and whether an earlier run had made it."""

    result: dict[str, Any]
    place: str
    kept: bool


def stored_or_run(respondent: Respondent, asked: Asked, wearer: str) -> StoredEvaluation:
    """An evaluation from the store, or run now.

    Equal questions, memory, method, settings and code give equal answers, so what an earlier run stored is taken as it
    is; a result that cannot be read is made again.
    """
    prefix = _prefix(respondent, asked, wearer)
    try:
        result = json.loads(respondent.store.read(f"{prefix}/result.json"))
        if result["config"]["memory_id"] == respondent.manifest.memory_id and not has_errors(result):
            return StoredEvaluation(result, f"{respondent.store.url}/{prefix}", True)
    except (MissingObjectError, ValueError, KeyError, TypeError):
        pass  # not there or damaged: the questions are asked
    _, result, place = run_evaluation(respondent, asked, wearer)
    return StoredEvaluation(result, place, False)


def _config(respondent: Respondent, asked: Asked) -> dict[str, Any]:
    """All that decides the answers; its hash is the evaluation's id."""
    return {
        "benchmark": asked.benchmark,
        "questions": asked.file.path.name,
        "questions_sha256": asked.digest,
        "memory_id": respondent.manifest.memory_id,
        "encoder": respondent.manifest.encoder,
        "method": respondent.method.name,
        "settings": asdict(respondent.settings),
        "code": code_digest(),
    }


def _prefix(respondent: Respondent, asked: Asked, wearer: str) -> str:
    decisive = {name: value for name, value in _config(respondent, asked).items() if name != "questions"}
    return f"evaluations/{asked.benchmark}-{wearer}-{respondent.method.name}-{content_key(decisive)[:16]}"


def hits(result: dict[str, Any]) -> dict[str, bool | None]:
    """Hit by question id, None where a question has no target."""
    return {str(answer["id"]): answer["hit"] for answer in result["answers"]}


def has_errors(result: dict[str, Any]) -> bool:
    """Whether any question ended in an error."""
    return any(answer["error"] for answer in result["answers"])

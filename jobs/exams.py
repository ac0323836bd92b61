"""Evaluations by their id: what decides the answers, and where they are kept."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from ray_tasks.errors import UsageError
from ray_tasks.evaluation import egomem, egor1
from ray_tasks.evaluation.answers import ScoredAnswer
from ray_tasks.evaluation.egolifeqa import BENCHMARK, read_egolifeqa
from ray_tasks.evaluation.kept import KeptAnswers
from ray_tasks.evaluation.question_files import QuestionFile, sources_digest
from ray_tasks.evaluation.questions import BenchmarkQuestion
from ray_tasks.evaluation.result import build_result
from ray_tasks.evaluation.runner import Evaluation
from ray_tasks.provenance import code_digest
from ray_tasks.retrieval.registry import method_identity
from ray_tasks.scheduling.asking_actor import MethodChoice, Order
from ray_tasks.storage.manifests import Manifest
from ray_tasks.storage.shards import content_key
from ray_tasks.storage.store import MissingObjectError, ObjectStore

BENCHMARKS: Final = {BENCHMARK: read_egolifeqa, egor1.BENCHMARK: egor1.read_egor1, egomem.BENCHMARK: egomem.read_egomem}


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
        file = BENCHMARKS[benchmark](path, wearer)
        return cls(file, sources_digest(file), benchmark)


@dataclass(frozen=True)
class Exam:
    """One evaluation: the questions of a file, for one wearer's memory and one method."""

    store: ObjectStore
    manifest: Manifest
    choice: MethodChoice
    asked: Asked
    wearer: str

    @property
    def config(self) -> dict[str, Any]:
        """All that decides the answers; but for the name of the file, its hash is the evaluation's id."""
        return {
            "benchmark": self.asked.benchmark,
            "questions": self.asked.file.path.name,
            "questions_sha256": self.asked.digest,
            "memory_id": self.manifest.memory_id,
            "encoder": self.manifest.encoder,
            "method": self.choice.name,
            "identity": method_identity(self.choice.name, self.choice.settings, self.choice.model),
            "settings": self.choice.settings.to_json(),
            "code": code_digest(),
        }

    @cached_property
    def prefix(self) -> str:
        """Where everything of this evaluation is kept."""
        decisive = {name: value for name, value in self.config.items() if name != "questions"}
        return f"evaluations/{self.asked.benchmark}-{self.wearer}-{self.choice.name}-{content_key(decisive)[:16]}"

    @property
    def place(self) -> str:
        """The same for people."""
        return f"{self.store.url}/{self.prefix}"

    @property
    def title(self) -> str:
        """What is asked of whom and with which settings, in a few words."""
        changes = [
            f"{name}={','.join(value) if isinstance(value, tuple) else value}"
            for name, value in self.choice.settings.changes().items()
        ]
        return " ".join([self.asked.benchmark, self.wearer, self.choice.name, *changes])

    @property
    def questions(self) -> tuple[BenchmarkQuestion, ...]:
        """All questions, in the order of the file."""
        return self.asked.file.questions

    @property
    def answers(self) -> KeptAnswers:
        """The answers in the store."""
        return KeptAnswers(self.store, self.prefix)

    def order(self, kept: dict[str, ScoredAnswer]) -> Order:
        """What is left to ask."""
        left = tuple(entry for entry in self.questions if entry.question.question_id not in kept)
        return Order(self.prefix, self.asked.benchmark, self.wearer, self.choice, left)

    def stored_result(self) -> dict[str, Any] | None:
        """The result of an earlier run; None where there is none that is whole and free of errors."""
        try:
            result: dict[str, Any] = json.loads(self.store.read(f"{self.prefix}/result.json"))
            whole = result["config"]["memory_id"] == self.manifest.memory_id and not has_errors(result)
        except (MissingObjectError, ValueError, KeyError, TypeError):  # not there or damaged
            return None
        return result if whole else None

    def close(self, evaluation: Evaluation) -> dict[str, Any]:
        """Stores the answers in one table, and the result, which is returned."""
        result = build_result(evaluation, self.config, self.asked.file.ledger)
        self.answers.finish(evaluation.answers)
        self.store.write(f"{self.prefix}/result.json", json.dumps(result, ensure_ascii=False, indent=1).encode())
        return result

    def forget(self) -> None:
        """Takes away what earlier runs have left."""
        self.store.delete(f"{self.prefix}/result.json")
        self.answers.forget()


def hits(result: dict[str, Any]) -> dict[str, bool | None]:
    """Hit by question id, None where a question has no target."""
    return {str(answer["id"]): answer["hit"] for answer in result["answers"]}


def has_errors(result: dict[str, Any]) -> bool:
    """Whether any question ended in an error."""
    return any(answer["error"] for answer in result["answers"])

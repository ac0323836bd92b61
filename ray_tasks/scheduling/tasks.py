"""What is sent to a worker and what comes back: one task for one shard of one stage."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal, Protocol

from ray_tasks.config import BuildConfig
from ray_tasks.engines.counts import CallCounts
from ray_tasks.ledger import Ledger
from ray_tasks.storage.shards import DoneRecord, Shard

Outcome = Literal["done", "cached", "failed"]

STAGE_ORDER: Final = (
    *("observe", "describe", "translate", "caption", "narrate"),
    *("extract", "segment", "join", "records", "embed"),
    *("part", "train", "fill", "index"),
    *("phrases", "compress", "interactions"),
)
"""The stages of a build, in the order in which they run."""

ENCODER_STAGES: Final = frozenset({"embed", "phrases"})
"""Stages that embed texts."""

PLANNED_EXTRA: Final[Mapping[str, str]] = {
    "observe": "touches",
    "describe": "touches",
    "translate": "touches",
    "caption": "tail",
    "narrate": "tail",
    "records": "ends",
    "part": "counts",
}
"""The part of a record's `extra` from which the next stage is planned, by stage."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What planning needs of a finished shard.

    Small, because a build holds one for every shard of every stage: hundreds of thousands for thousands of wearers.
    """

    stage: str
    key: str
    digest: str
    extra: Mapping[str, Any]

    @classmethod
    def of(cls, record: DoneRecord) -> Finished:
        """The part of a record that planning needs."""
        name = PLANNED_EXTRA.get(record.stage)
        extra = {name: record.extra[name]} if name else {}
        return cls(sys.intern(record.stage), record.key, record.digest, extra)


@dataclass(frozen=True)
class ShardTask:
    """A shard to make. `key` says all that decides its content; `inputs` (JSON) say where its inputs are."""

    stage: str
    shard: Shard
    key: str
    inputs: Mapping[str, Any]

    def dump(self) -> str:
        """One line of JSON."""
        return json.dumps({**asdict(self), "shard": str(self.shard)}, ensure_ascii=False)

    @classmethod
    def load(cls, text: str) -> ShardTask:
        """The inverse of dump."""
        data = json.loads(text)
        return cls(data["stage"], Shard.parse(data["shard"]), data["key"], data["inputs"])


@dataclass(frozen=True)
class ShardFailure:
    """Why a shard failed: error class, message and the end of the traceback."""

    error: str
    message: str
    traceback: str


@dataclass(frozen=True)
class ShardResult:
    """What became of a task; `record` where it is done (now or earlier), `failure` where it failed."""

    stage: str
    shard: Shard
    key: str
    outcome: Outcome
    record: DoneRecord | None = None
    failure: ShardFailure | None = None

    def dump(self) -> str:
        """One line of JSON."""
        data = {
            "stage": self.stage,
            "shard": str(self.shard),
            "key": self.key,
            "outcome": self.outcome,
            "record": self.record.to_json() if self.record else None,
            "failure": asdict(self.failure) if self.failure else None,
        }
        return json.dumps(data, ensure_ascii=False)

    @classmethod
    def load(cls, text: str) -> ShardResult:
        """The inverse of dump."""
        data = json.loads(text)
        return cls(
            data["stage"],
            Shard.parse(data["shard"]),
            data["key"],
            data["outcome"],
            DoneRecord.from_json(data["record"]) if data["record"] else None,
            ShardFailure(**data["failure"]) if data["failure"] else None,
        )


@dataclass
class StageOutput:
    """Files of a finished shard, its rows and books, and what later stages need to plan.

    `calls` are the books of the language model that was asked. `scratch` is the folder of files that are handed over as
    paths; it goes when they have been committed.
    """

    files: Mapping[str, bytes | Path]
    rows: int
    ledger: Ledger
    extra: Mapping[str, Any] = field(default_factory=dict)
    tokens: int = 0
    calls: CallCounts = field(default_factory=CallCounts)
    scratch: TemporaryDirectory[str] | None = None


@dataclass(frozen=True)
class WorkerSettings:
    """What every worker of a run needs to know; small, since it travels to each of them.

    `config` says where language models answer, also where the run has started them itself; `workers` share the calls
    that may be under way at once.
    """

    root: str
    run_id: str
    config: BuildConfig
    threads: int
    workers: int = 1


class Executor(Protocol):
    """Runs tasks somewhere and yields each result as it comes, in any order; every task gives exactly one result."""

    def run(self, tasks: Sequence[ShardTask], settings: WorkerSettings) -> Iterator[ShardResult]:
        """Runs tasks of one wave: none of them reads another's output."""
        ...


def failure_lines(failures: Iterable[ShardResult]) -> list[str]:
    """One line for each failed shard: stage, shard, error class and message."""
    lines = []
    for result in failures:
        assert result.failure is not None
        lines.append(f"{result.stage} {result.shard}: {result.failure.error}: {result.failure.message}")
    return lines

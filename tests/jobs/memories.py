"""Memories built in this process, without Ray and without a model, for the tests of evaluations and gates."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jobs.answering import Respondent
from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import discover
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.registry import make_method
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.types import Answer, Method, Question
from ray_tasks.scheduling.assembly import assemble_manifest
from ray_tasks.scheduling.build import Build, BuildOutcome
from ray_tasks.storage.manifests import Manifest
from ray_tasks.storage.store import LocalStore, ObjectStore
from tests.index.builder import MemoryBuilder
from tests.scheduling.corpus import write_hour
from tests.scheduling.inline import InlineExecutor, SilentReporter

embed = MemoryBuilder(dimension=16).embed
THINGS = ("kettle", "rope", "ladder", "basket", "lantern", "saw", "drum", "scarf", "whistle", "map", "tent", "flask")
PLACES = ("shed", "attic", "yard", "cellar", "porch", "loft", "garage", "stable", "hall", "barn", "jetty", "mill")
WEARERS = ("B1_MARA", "B2_TOBI")


def write_corpus(folder: Path, *, shift: int = 0, things: tuple[str, ...] = THINGS) -> Path:
    """Two wearers, one hour: each thing is put somewhere, at a minute of its own; `shift` turns the places round."""
    for wearer, friend in (("B1_MARA", "Tobi"), ("B2_TOBI", "Mara")):
        cues = [
            (
                f"{4 * n + 1:02d}:05",
                f"{4 * n + 1:02d}:09",
                f"{friend}: I put the {thing} in the {PLACES[(n + shift) % 12]}.",
            )
            for n, thing in enumerate(things)
        ]
        write_hour(folder, wearer, 1, 9, cues)
    return folder


def write_questions(path: Path) -> Path:
    """A question for each thing of write_corpus, whose target is the moment it was put away."""
    entries: list[dict[str, Any]] = [
        {
            "ID": n,
            "type": "EntityLog",
            "query_time": {"date": "DAY1", "time": "10300000"},
            "target_time": {"date": "DAY1", "time": f"09{4 * n + 1:02d}0600"},
            "question": f"Where did I put the {thing}?",
            **{f"choice_{letter}": f"In the {PLACES[(n + k) % 12]}" for k, letter in enumerate("abcd")},
            "answer": "A",
        }
        for n, thing in enumerate(THINGS)
    ]
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


def build_memory(corpus: Path, root: Path, before: Manifest | None = None) -> tuple[LocalStore, BuildOutcome, Manifest]:
    """A finished memory that is not published."""
    store = LocalStore(root)
    outcome = Build(store, BuildConfig(), InlineExecutor(), SilentReporter(), 1, "run-1").run(discover(corpus))
    manifest, _ = assemble_manifest(outcome, BuildConfig(), before, str(corpus))
    return store, outcome, manifest


@dataclass
class CountingMethod:
    """A method that counts the batches it answers, and may do something before each."""

    method: Method = field(default_factory=lambda: make_method("egocite", embed, RetrievalSettings()))
    batches: int = 0
    before_each: Any = None

    @property
    def name(self) -> str:
        """See Method."""
        return self.method.name

    def answer(self, question: Question, memory: WearerMemory) -> Answer:
        """See Method."""
        return self.method.answer(question, memory)

    def answer_many(self, questions: list[Question], memory: WearerMemory) -> list[Answer]:
        """See Method."""
        self.batches += 1
        if self.before_each:
            self.before_each()
        return self.method.answer_many(questions, memory)


def respondent(store: ObjectStore, manifest: Manifest, method: Method | None = None) -> Respondent:
    """What asks a memory, with the hashing encoder."""
    return Respondent(store, manifest, method or CountingMethod(), RetrievalSettings())

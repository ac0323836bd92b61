"""Measuring the gates of a finished memory, before the pointer moves to it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from jobs.answering import Respondent, load_encoder
from jobs.evaluating import Asked, hits, stored_or_run
from ray_tasks.config import BuildConfig, GateBounds
from ray_tasks.errors import DaybookError
from ray_tasks.evaluation.canary import Found, HitChange, find_own_texts, hit_change, spread_rows
from ray_tasks.evaluation.metrics import EvidenceError
from ray_tasks.index.memory import MemoryMismatchError
from ray_tasks.index.opening import open_wearer
from ray_tasks.index.recall import ivf_recall
from ray_tasks.scheduling.build import BuildOutcome
from ray_tasks.scheduling.gates import GateResult, gates_of_build
from ray_tasks.scheduling.gates_before import coverage, density
from ray_tasks.scheduling.gates_canary import index_recall, known_questions, own_texts
from ray_tasks.storage.manifests import Manifest
from ray_tasks.storage.store import ObjectStore

CANARY_WEARERS = 20
"""Wearers whose memories the canary opens: enough to find what is wrong everywhere, few enough for any driver."""

FAULTS = (DaybookError, MemoryMismatchError, EvidenceError)
"""What a memory that is damaged, or a method on it, may end in."""


def measure_gates(
    store: ObjectStore,
    outcome: BuildOutcome,
    manifest: Manifest,
    before: Manifest | None,
    config: BuildConfig,
    *,
    days: Collection[str] = (),
    known: Mapping[str, Asked] | None = None,
    method: str = "egocite",
) -> list[GateResult]:
    """All gates of a memory that is finished and not yet published; the canary opens it through its manifest."""
    bounds = config.gates
    fresh = [wearer for wearer in sorted(manifest.wearers) if not _same(before, manifest, wearer)]
    return [
        *gates_of_build(outcome, config),
        coverage(before, manifest, days),
        density(before, manifest, bounds.atoms_per_hour),
        *_look_into(store, manifest, fresh, bounds),
        _ask_known(store, manifest, before, known or {}, method, bounds.max_hit_drop),
    ]


def _same(before: Manifest | None, manifest: Manifest, wearer: str) -> bool:
    """Whether a wearer's files are those of the memory before, which has passed these gates."""
    was = before.wearers.get(wearer) if before else None
    return was is not None and was.files == manifest.wearers[wearer].files


def _look_into(store: ObjectStore, manifest: Manifest, fresh: list[str], bounds: GateBounds) -> list[GateResult]:
    """Opens the memories of wearers that were made anew: are their rows found, and does a fast index miss little."""
    found: list[Found] = []
    recalls: dict[str, float] = {}
    faults: dict[str, str] = {}
    for wearer in (fresh[row] for row in spread_rows(len(fresh), CANARY_WEARERS)):
        try:
            memory = open_wearer(store, manifest, wearer)
            found += find_own_texts(memory, load_encoder(manifest.embedding_model).queries)
            recall = ivf_recall(memory)
        except FAULTS as error:
            faults[wearer] = str(error)
            continue
        if recall is not None:
            recalls[wearer] = 100.0 * recall
    return [own_texts(found, faults, bounds.min_found, len(fresh)), index_recall(recalls, bounds.min_recall)]


def _ask_known(
    store: ObjectStore,
    manifest: Manifest,
    before: Manifest | None,
    known: Mapping[str, Asked],
    method: str,
    most_points: float,
) -> GateResult:
    changes: list[HitChange] = []
    apart: dict[str, str] = {}
    faults: dict[str, str] = {}
    for wearer, asked in sorted(known.items()):
        if before is None or wearer not in before.wearers:
            apart[wearer] = "not in the memory before"
            continue
        if _same(before, manifest, wearer):
            apart[wearer] = "the memory has not changed"
            continue
        try:
            was = hits(stored_or_run(Respondent.of(store, before, method, keep_queries=True), asked, wearer).result)
        except FAULTS as error:
            apart[wearer] = f"the memory before cannot be asked: {error}"
            continue
        try:
            now = hits(stored_or_run(Respondent.of(store, manifest, method, keep_queries=True), asked, wearer).result)
        except FAULTS as error:
            faults[wearer] = str(error)
            continue
        change = hit_change(wearer, was, now)
        if change is None:
            apart[wearer] = f"{asked.file.path.name} has no question with a target"
        else:
            changes.append(change)
    return known_questions(changes, apart, faults, most_points)

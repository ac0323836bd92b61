"""From a build's records to the manifest of its memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ray_tasks.config import BuildConfig
from ray_tasks.ledger import merge_ledgers
from ray_tasks.scheduling.build import BuildOutcome
from ray_tasks.scheduling.gates import GateResult
from ray_tasks.scheduling.tasks import failure_lines
from ray_tasks.storage.manifests import Manifest, WearerEntry, timestamp
from ray_tasks.storage.shards import DoneRecord, Shard


def assemble_manifest(
    outcome: BuildOutcome, config: BuildConfig, before: Manifest | None, corpus: str
) -> tuple[Manifest, tuple[str, ...]]:
    """The manifest, and the wearers that it keeps from the memory before.

    Kept are those that this build did not make, if their vectors are of the same encoder: a build of one wearer does
    not make the memory forget the others.
    """
    keys = _keys_by_wearer(outcome)
    entries = {
        shard.wearer: WearerEntry.from_index(record, keys[shard.wearer], _interactions(shard, outcome))
        for shard, record in outcome.indexes.items()
    }
    kept: tuple[str, ...] = ()
    if before and before.encoder == outcome.encoder:
        kept = tuple(sorted(set(before.wearers) - set(entries)))
        entries.update({wearer: before.wearers[wearer] for wearer in kept})
    books = dict(sorted(outcome.ledgers.items()))
    build = {
        "corpus": corpus,
        "config": config.model_dump(),
        "sources": {kind: ledger.to_json() for kind, ledger in books.items()},
        "sources_in": merge_ledgers(books.values()).taken,
        "stages": {stage: totals.to_json() for stage, totals in outcome.totals.items()},
        "wave_seconds": {wave: round(seconds, 2) for wave, seconds in outcome.wave_seconds.items()},
        "atoms": outcome.report.to_json(),
        "problems": outcome.source_problems(),
        "failures": failure_lines(outcome.failures),
    }
    return Manifest(entries, outcome.encoder, config.embedding_model, timestamp(), build), kept


def _interactions(wearer: Shard, outcome: BuildOutcome) -> tuple[DoneRecord, ...]:
    record = outcome.interactions.get(wearer)
    return (record,) if record else ()


def with_gates(manifest: Manifest, gates: Iterable[GateResult]) -> Manifest:
    """The manifest with what its gates found."""
    return replace(manifest, build={**manifest.build, "gates": [gate.to_json() for gate in gates]})


def _keys_by_wearer(outcome: BuildOutcome) -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """Cache keys by wearer, stage and shard; every wearer has every stage."""
    keys: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: {stage: {} for stage in outcome.records})
    for stage, records in outcome.records.items():
        for shard, record in records.items():
            keys[shard.wearer][stage][str(shard)] = record.key
    return keys

"""The gates of a finished memory, measured on real files through a manifest that is not published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jobs import gating
from jobs.answering import Respondent
from jobs.evaluating import Asked
from ray_tasks.config import BuildConfig, GateBounds
from ray_tasks.scheduling.build import BuildOutcome
from ray_tasks.scheduling.gates import GateResult
from ray_tasks.storage.manifests import Manifest, publish
from ray_tasks.storage.store import LocalStore
from tests.jobs.memories import (
    THINGS,
    CountingMethod,
    build_memory,
    embed,
    respondent,
    write_corpus,
    write_questions,
)

Built = tuple[LocalStore, BuildOutcome, Manifest]


class HashingEncoder:
    """Stands in for the sentence encoder."""

    queries = staticmethod(embed)


class StrangeEncoder:
    """Another model: of the same dimension, and with another idea of every text."""

    @staticmethod
    def queries(texts: list[str]) -> object:
        """Vectors of other words."""
        return embed([f"{text[::-1]} {len(text)}" for text in texts])


@pytest.fixture
def method(monkeypatch: pytest.MonkeyPatch) -> CountingMethod:
    counting = CountingMethod()
    monkeypatch.setattr(gating, "load_encoder", lambda _: HashingEncoder)
    monkeypatch.setattr(Respondent, "of", lambda store, manifest, *_, **__: respondent(store, manifest, counting))
    return counting


@pytest.fixture
def first(tmp_path: Path, method: CountingMethod) -> Built:
    """A published memory."""
    store, outcome, manifest = build_memory(write_corpus(tmp_path / "corpus"), tmp_path / "root")
    publish(store, manifest, None)
    return store, outcome, manifest


def measure(built: Built, before: Manifest | None, **options: Any) -> dict[str, GateResult]:
    store, outcome, manifest = built
    config = BuildConfig(gates=options.pop("bounds", GateBounds()))
    gates = gating.measure_gates(store, outcome, manifest, before, config, **options)
    return {gate.name: gate for gate in gates}


def known(tmp_path: Path) -> dict[str, Asked]:
    path = write_questions(tmp_path / "questions.json")
    return {wearer: Asked.read(path, wearer) for wearer in ("B1_MARA", "B2_TOBI")}


def test_a_first_memory_passes_all_gates_and_its_canary_is_measured(first: Built, tmp_path: Path) -> None:
    gates = measure(first, None, known=known(tmp_path))
    assert all(gate.passed for gate in gates.values()), gates
    assert list(gates) == [
        "shards", "books", "content", "errors", "coverage", "atoms per hour", "canary", "index recall",
        "known questions",
    ]  # fmt: skip
    assert gates["canary"].measured == 100.0
    assert "not in the memory before" in gates["known questions"].words


def test_an_unchanged_memory_is_not_looked_into_again(first: Built, tmp_path: Path, method: CountingMethod) -> None:
    gates = measure(first, first[2], known=known(tmp_path))
    assert all(gate.passed for gate in gates.values())
    assert gates["canary"].measured is gates["known questions"].measured is None
    assert method.batches == 0


def test_an_encoder_that_did_not_make_the_vectors_is_caught(first: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gating, "load_encoder", lambda _: StrangeEncoder)
    gate = measure(first, None)["canary"]
    assert not gate.passed
    assert "B1_MARA, utterance" in gate.words


def test_index_files_that_are_damaged_are_caught(first: Built) -> None:
    store, _, manifest = first
    key, _ = manifest.wearers["B2_TOBI"].files["utterance.faiss"]
    path = store.root / key
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-8])
    gate = measure(first, None)["canary"]
    assert (gate.passed, gate.measured) == (False, 0.0)
    assert "B2_TOBI" in gate.words and "build it again" in gate.words


def test_known_questions_that_lose_their_evidence_are_listed(
    first: Built, tmp_path: Path, method: CountingMethod
) -> None:
    corpus = write_corpus(tmp_path / "corpus2", things=THINGS[:6])
    second = build_memory(corpus, first[0].root, first[2])
    gate = measure(second, first[2], known=known(tmp_path))["known questions"]
    assert not gate.passed and gate.measured is not None and gate.measured > 5
    lost = gate.words.split("B1_MARA", 1)[1].split("lost: ", 1)[1].split("\n", 1)[0].split(", ")
    assert lost == [str(number) for number in range(6, 12)]
    assert method.batches == 4
    again = measure(second, first[2], known=known(tmp_path))["known questions"]
    assert again == gate and method.batches == 4  # both evaluations come from the store
    assert measure(second, first[2], known=known(tmp_path), bounds=GateBounds(max_hit_drop=100))[
        "known questions"
    ].passed


def test_a_memory_before_that_cannot_be_asked_is_no_fault_of_the_new_one(first: Built, tmp_path: Path) -> None:
    store, _, before = first
    for entry in before.wearers.values():
        store.delete(entry.files["utterance.faiss"][0])
    second = build_memory(write_corpus(tmp_path / "corpus2", shift=1), store.root, before)
    gate = measure(second, before, known=known(tmp_path))["known questions"]
    assert gate.passed and gate.measured is None
    assert "the memory before cannot be asked" in gate.words

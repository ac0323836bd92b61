"""Vectors of queries in the store: the same bits, and no text embedded twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ray_tasks.embedding.encoder import Float32
from ray_tasks.embedding.kept_queries import KeptQueries
from ray_tasks.storage.store import LocalStore


class CountingEmbed:
    """Random unit vectors by text; counts the texts."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, texts: list[str]) -> Float32:
        self.texts += texts
        rows = [np.random.default_rng(list(text.encode())).standard_normal(8) for text in texts]
        vectors = np.array(rows, np.float32).reshape(len(texts), 8)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def test_a_text_is_embedded_once_for_all_runs(tmp_path: Path) -> None:
    embed, store = CountingEmbed(), LocalStore(tmp_path)
    first = KeptQueries(embed, store, "model-1")
    vectors = first(["a rope", "a kettle", "a rope"])
    assert np.array_equal(vectors, CountingEmbed()(["a rope", "a kettle", "a rope"]))
    assert np.array_equal(first(["a kettle"]), vectors[1:2])
    again = KeptQueries(embed, store, "model-1")(["a saw", "a kettle", "a rope"])
    assert np.array_equal(again[1:], vectors[[1, 0]])
    assert embed.texts == ["a rope", "a kettle", "a saw"]


def test_another_encoder_has_vectors_of_its_own_and_damage_costs_no_more_than_time(tmp_path: Path) -> None:
    embed, store = CountingEmbed(), LocalStore(tmp_path)
    KeptQueries(embed, store, "model-1")(["a rope"])
    KeptQueries(embed, store, "model-2")(["a rope"])
    for key in list(store.list_keys("evaluations")):
        store.write(key, b"PAR1")
    assert KeptQueries(embed, store, "model-1")(["a rope"]).shape == (1, 8)
    assert embed.texts == ["a rope"] * 3
    assert KeptQueries(embed, store, "model-1")([]).shape == (0, 8)

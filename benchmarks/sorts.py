"""Sorts of unit vectors to measure searches with, from the hardest to the usual."""

from __future__ import annotations

import numpy as np

from ray_tasks.index.opening import open_wearer
from ray_tasks.index.search import Float32
from ray_tasks.storage.manifests import current_manifest
from ray_tasks.storage.store import open_store

DIMENSION = 384
_BATCH = 50_000


def make_vectors(sort: str, rows: int, root: str | None) -> Float32:
    """Unit vectors (n, 384) in order of time.

    random: every direction alike, so that no vector has near neighbours and lists cannot help. clusters: topics of
    unequal size around a common direction, as sentence embeddings lie (mean cosine about 0.1 between topics, 0.6 within
    one), with runs of the same topic in time. real: the actions and utterances of all wearers of a root, one wearer
    after the other, at most `rows`.
    """
    if sort == "real":
        return _real(rows, root)
    rng = np.random.default_rng(7)
    vectors = np.empty((rows, DIMENSION), np.float32)
    centres = rng.standard_normal((2_000, DIMENSION), np.float32) + 0.35 * rng.standard_normal(DIMENSION, np.float32)
    weights = 1 / np.arange(1, len(centres) + 1)
    topics = np.repeat(rng.choice(len(centres), rows // 5 + 1, p=weights / weights.sum()), 5)[:rows]
    for first in range(0, rows, _BATCH):
        batch = rng.standard_normal((min(_BATCH, rows - first), DIMENSION), np.float32)
        if sort == "clusters":
            batch = 0.8 * batch + centres[topics[first : first + len(batch)]]
        vectors[first : first + len(batch)] = batch / np.linalg.norm(batch, axis=1, keepdims=True)
    return vectors


def _real(rows: int, root: str | None) -> Float32:
    if root is None:
        raise SystemExit("--vectors real needs --root")
    store = open_store(root)
    manifest = current_manifest(store)
    memories = [open_wearer(store, manifest, wearer) for wearer in sorted(manifest.wearers)]
    views = [memory.views[view].vectors for memory in memories for view in ("action", "utterance")]
    return np.concatenate(views)[:rows]

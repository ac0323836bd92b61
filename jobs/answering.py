"""Opening a memory together with a method that can ask it, as `ask`, `evaluate` and `demo` do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ray_tasks.embedding.encoder import SentenceEncoder
from ray_tasks.errors import DaybookError
from ray_tasks.index.memory import WearerMemory
from ray_tasks.index.opening import open_wearer
from ray_tasks.retrieval.registry import make_method
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.types import Method
from ray_tasks.storage.manifests import Manifest
from ray_tasks.storage.store import ObjectStore


class EncoderMismatchError(DaybookError):
    """The encoder at hand is not the one that made the memory's vectors."""


@lru_cache(maxsize=2)
def load_encoder(model: str) -> SentenceEncoder:
    """The encoder of a model, loaded once for all memories that a command asks."""
    return SentenceEncoder(model)


@dataclass(frozen=True)
class Respondent:
    """A published memory and a method over it."""

    store: ObjectStore
    manifest: Manifest
    method: Method
    settings: RetrievalSettings

    @classmethod
    def of(cls, store: ObjectStore, manifest: Manifest, method: str) -> Respondent:
        """Loads the encoder that made the memory's vectors; raises EncoderMismatchError where another is installed."""
        encoder = load_encoder(manifest.embedding_model)
        if encoder.identity != manifest.encoder:
            raise EncoderMismatchError(
                f"memory {manifest.memory_id} was made with {manifest.encoder}, but {encoder.identity} is installed; "
                f"install that version or build the memory again"
            )
        settings = RetrievalSettings()
        return cls(store, manifest, make_method(method, encoder.queries, settings), settings)

    def memory(self, wearer: str) -> WearerMemory:
        """A wearer's memory, checked and loaded."""
        return open_wearer(self.store, self.manifest, wearer)

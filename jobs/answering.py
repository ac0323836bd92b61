"""Opening a memory together with a method that can ask it, as `ask`, `evaluate` and `demo` do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ray_tasks.embedding.encoder import SentenceEncoder
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.index.memory import WearerMemory
from ray_tasks.index.opening import open_wearer
from ray_tasks.retrieval.registry import model_steps
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.types import Method
from ray_tasks.scheduling.asking_actor import MethodChoice
from ray_tasks.scheduling.asking_source import check_encoder, choose_method, query_embedder
from ray_tasks.storage.manifests import Manifest
from ray_tasks.storage.store import ObjectStore


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
    model: ChatSettings | None = None

    @classmethod
    def of(
        cls,
        store: ObjectStore,
        manifest: Manifest,
        method: str,
        settings: RetrievalSettings | None = None,
        model: ChatSettings | None = None,
        *,
        keep_queries: bool = False,
    ) -> Respondent:
        """Loads the encoder that made the memory's vectors; raises EncoderMismatchError where another is installed.

        With `keep_queries` the vectors of questions are kept in the store, for files that are asked again and again.
        """
        chosen = choose(method, settings, model)
        encoder = check_encoder(load_encoder(manifest.embedding_model), manifest)
        embed = query_embedder(chosen, encoder, store) if keep_queries else encoder.queries
        return cls(store, manifest, choose_method(chosen, embed, store), chosen.settings, chosen.model)

    @property
    def choice(self) -> MethodChoice:
        """The method by name, as it can be sent elsewhere."""
        return MethodChoice(self.method.name, self.settings, self.model)

    def memory(self, wearer: str) -> WearerMemory:
        """A wearer's memory, checked and loaded."""
        return open_wearer(self.store, self.manifest, wearer)


def choose(method: str, settings: RetrievalSettings | None = None, model: ChatSettings | None = None) -> MethodChoice:
    """A method by name; the model is left out where its settings ask none, so that it is no part of what decides."""
    chosen = settings or RetrievalSettings()
    return MethodChoice(method, chosen, model if model_steps(method, chosen) else None)

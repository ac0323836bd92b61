"""What answers questions from a published memory: encoder, memories and methods, opened where they are needed."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ray_tasks.embedding.encoder import SentenceEncoder
from ray_tasks.embedding.kept_queries import KeptQueries
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.errors import DaybookError
from ray_tasks.index.memory import WearerMemory
from ray_tasks.index.opening import open_wearer
from ray_tasks.retrieval.registry import make_method
from ray_tasks.retrieval.types import Embed, Method
from ray_tasks.scheduling.asking_actor import MethodChoice
from ray_tasks.storage.manifests import Manifest, read_manifest
from ray_tasks.storage.store import ObjectStore, open_store

if TYPE_CHECKING:
    from ray_tasks.engines.client import ChatClient


class EncoderMismatchError(DaybookError):
    """The encoder at hand is not the one that made the memory's vectors."""


def check_encoder(encoder: SentenceEncoder, manifest: Manifest) -> SentenceEncoder:
    """The encoder, if it made the memory's vectors; raises EncoderMismatchError where it did not."""
    if encoder.identity != manifest.encoder:
        raise EncoderMismatchError(
            f"memory {manifest.memory_id} was made with {manifest.encoder}, but {encoder.identity} is installed; "
            f"install that version or build the memory again"
        )
    return encoder


def chat_opener(settings: ChatSettings, store: ObjectStore, concurrency: int | None = None) -> Callable[[], ChatClient]:
    """Opens the client of a language model when it is first called, and gives the same one from then on."""
    opened: list[ChatClient] = []

    def chat() -> ChatClient:
        from ray_tasks.engines.client import open_chat

        if not opened:
            opened.append(open_chat(settings, store, transcripts="evaluations/transcripts", concurrency=concurrency))
            atexit.register(opened[0].close)  # it is needed until the command or the actor ends
        return opened[0]

    return chat


def choose_method(choice: MethodChoice, embed: Embed, store: ObjectStore, concurrency: int | None = None) -> Method:
    """The method of a choice, with a client of its language model if it asks one."""
    model = choice.model
    chat = None if model is None else chat_opener(model, store, concurrency)
    return make_method(choice.name, embed, choice.settings, model=model, chat=chat)


def query_embedder(choice: MethodChoice, encoder: SentenceEncoder, store: ObjectStore) -> Embed:
    """The encoder's queries, kept in the store; not where a model writes them, which hardly ever repeats itself."""
    return encoder.queries if choice.model else KeptQueries(encoder.queries, store, encoder.identity)


@dataclass(frozen=True)
class MemorySource:
    """A published memory by its id; small, so that it can be sent to every actor, which opens what it needs."""

    root: str
    memory_id: str
    threads: int | None = None

    @cached_property
    def store(self) -> ObjectStore:
        """The store of the root."""
        return open_store(self.root)

    @cached_property
    def manifest(self) -> Manifest:
        """The memory's manifest."""
        return read_manifest(self.store, self.memory_id)

    @cached_property
    def encoder(self) -> SentenceEncoder:
        """The encoder that made the memory's vectors."""
        return check_encoder(SentenceEncoder(self.manifest.embedding_model, threads=self.threads), self.manifest)

    def memory(self, wearer: str) -> WearerMemory:
        """A wearer's memory, checked and loaded."""
        return open_wearer(self.store, self.manifest, wearer)

    def method(self, choice: MethodChoice, in_flight: int) -> Method:
        """A method with clients of its own."""
        return choose_method(choice, query_embedder(choice, self.encoder, self.store), self.store, in_flight)

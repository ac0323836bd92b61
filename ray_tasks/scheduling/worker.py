"""What the stages of a build work with, inside a worker."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from ray_tasks.corpus.fuse import Clip
from ray_tasks.embedding.encoder import SentenceEncoder
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.extraction.engines import make_extractor
from ray_tasks.extraction.types import Extractor
from ray_tasks.rows import Observation, from_table
from ray_tasks.scheduling.tasks import WorkerSettings
from ray_tasks.storage.cache import ShardCache
from ray_tasks.storage.shards import DoneRecord
from ray_tasks.storage.store import open_store

if TYPE_CHECKING:
    from ray_tasks.engines.client import ChatClient

CLIPS_FILE: Final = "clips.json"
"""Beside the observations of an hour: the clips that were recorded in it, by the start of their window."""


@dataclass(frozen=True)
class Worker:
    """What a stage function works with; heavy parts are made on first use and live as long as the worker."""

    settings: WorkerSettings

    @cached_property
    def cache(self) -> ShardCache:
        """The shard cache of the run's root."""
        return ShardCache(open_store(self.settings.root))

    @cached_property
    def encoder(self) -> SentenceEncoder:
        """The sentence encoder."""
        return SentenceEncoder(self.settings.config.embedding_model, threads=self.settings.threads)

    @cached_property
    def extractor(self) -> Extractor:
        """The extraction engine."""
        return make_extractor(self.settings.config, lambda: self.chat)

    @cached_property
    def chat(self) -> ChatClient:
        """The client of the language model."""
        return self._client(self.settings.config.llm)

    @cached_property
    def seeing_chat(self) -> ChatClient:
        """The client of the model that sees video."""
        return self._client(self.settings.config.seeing)

    def _client(self, settings: ChatSettings) -> ChatClient:
        """A client that keeps to this worker's share of the calls that may be under way at each endpoint."""
        from ray_tasks.engines.client import open_chat

        share = ceil(settings.concurrency / self.settings.workers)
        transcripts = f"runs/{self.settings.run_id}/transcripts"
        return open_chat(settings, self.cache.store, transcripts=transcripts, concurrency=share)

    def close(self) -> None:
        """Closes the clients that were opened; a worker that ends with its process need not be told."""
        for name in ("chat", "seeing_chat"):
            if name in self.__dict__:
                self.__dict__.pop(name).close()

    def record(self, stage: str, key: str) -> DoneRecord:
        """The record of an input, which exists since its stage has run; its files are checked when read."""
        record = self.cache.find(stage, key, verify=False)
        if record is None:
            raise LookupError(f"input {stage}/{key} is gone from the cache")
        return record

    def table(self, stage: str, key: str) -> pa.Table:
        """The checked table of an input."""
        return self.cache.read_table(self.record(stage, key))

    def observations(self, inputs: Iterable[tuple[str, str]]) -> tuple[list[Observation], dict[int, Clip]]:
        """The rows and the clips of shards of observations."""
        rows: list[Observation] = []
        clips: dict[int, Clip] = {}
        for stage, key in inputs:
            record = self.record(stage, key)
            rows.extend(from_table(self.cache.read_table(record), Observation))
            windows = json.loads(self.cache.read_file(record, CLIPS_FILE))
            clips.update({int(window): Clip(*clip) for window, clip in windows.items()})
        return rows, clips

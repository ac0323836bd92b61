"""What a build is asked for, as commands, run records and retries hand it on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import Layout, discover
from ray_tasks.scheduling.selection import Selection, select


@dataclass(frozen=True)
class BuildRequest:
    """What to build: recordings, a selection of them (empty: all), and how.

    With `shards` or `limit` only some hours are made, and nothing is published (see scheduling.selection).
    """

    corpus: Path
    wearers: tuple[str, ...] = ()
    days: tuple[str, ...] = ()
    config: BuildConfig = field(default_factory=BuildConfig)
    shards: tuple[str, ...] = ()
    limit: int | None = None

    @property
    def partial(self) -> bool:
        """Whether only some hours are asked for."""
        return bool(self.shards) or self.limit is not None

    def select(self) -> tuple[Layout, Selection | None]:
        """The recordings that are asked for; raises CorpusError or UsageError where there are none such."""
        return select(discover(self.corpus, self.wearers, self.days), self.shards, self.limit)

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary; the corpus as an absolute path."""
        return {
            "corpus": str(self.corpus.absolute()),
            "wearers": list(self.wearers),
            "days": list(self.days),
            "config": self.config.model_dump(),
            "shards": list(self.shards),
            "limit": self.limit,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BuildRequest:
        """The inverse of to_json."""
        config = BuildConfig(**data["config"])
        shards, limit = tuple(data.get("shards", ())), data.get("limit")
        return cls(Path(data["corpus"]), tuple(data["wearers"]), tuple(data["days"]), config, shards, limit)

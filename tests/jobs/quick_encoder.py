"""An encoder that is there at once, in the place of the real one: words by hashes, as in the memories of the tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ray_tasks.embedding.encoder import encoder_identity
from tests.jobs.memories import embed


@dataclass(frozen=True)
class QuickEncoder:
    """Stands in for a SentenceEncoder."""

    model: str

    @property
    def identity(self) -> str:
        """As the memory's manifest has it."""
        return encoder_identity(self.model)

    def queries(self, texts: list[str]) -> Any:
        """Unit vectors."""
        return embed(texts)

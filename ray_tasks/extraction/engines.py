"""The extraction engines by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ray_tasks.config import BuildConfig
from ray_tasks.extraction.rules import RulesExtractor
from ray_tasks.extraction.types import Extractor

if TYPE_CHECKING:
    from ray_tasks.engines.client import ChatClient


def make_extractor(config: BuildConfig, chat: Callable[[], ChatClient] | None = None) -> Extractor:
    """The configured engine. `chat` opens the client on first use; who only plans needs none."""
    if config.engine == "rules":
        return RulesExtractor()
    from ray_tasks.extraction.llm.extractor import LlmExtractor

    return LlmExtractor(config.llm, chat or no_client)


def no_client() -> ChatClient:
    """In the place of a client, for whoever only plans; raises LookupError."""
    raise LookupError("this extractor was made for planning and has no client")

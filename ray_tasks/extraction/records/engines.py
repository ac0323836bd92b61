"""The extractors of interaction records by name."""

from __future__ import annotations

from collections.abc import Callable

from ray_tasks.engines.settings import ChatSettings
from ray_tasks.engines.steps import ChatRunner
from ray_tasks.errors import UsageError
from ray_tasks.extraction.records.llm import LlmRecordExtractor
from ray_tasks.extraction.records.rules import RulesRecordExtractor
from ray_tasks.extraction.records.types import RecordExtractor


def make_record_extractor(engine: str, settings: ChatSettings, chat: Callable[[], ChatRunner]) -> RecordExtractor:
    """The extractor of this name; `chat` opens the client on first use. Raises UsageError naming those there are."""
    if engine == "rules":
        return RulesRecordExtractor()
    if engine == "llm":
        return LlmRecordExtractor(settings, chat)
    raise UsageError(f"unknown extractor of records {engine!r}; known are rules, llm")

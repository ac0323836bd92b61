"""The extraction engines by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ray_tasks.errors import UsageError
from ray_tasks.extraction.rules import RulesExtractor
from ray_tasks.extraction.types import Extractor

ENGINES: Final[dict[str, Callable[[], Extractor]]] = {"rules": RulesExtractor}


def make_extractor(name: str) -> Extractor:
    """The engine of this name; raises UsageError naming those there are."""
    if name not in ENGINES:
        raise UsageError(f"unknown engine {name!r}; known are {', '.join(ENGINES)}")
    return ENGINES[name]()

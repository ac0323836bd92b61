"""The language models of a run: which stage asks which, and where they answer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Final, Protocol

from ray_tasks.config import BuildConfig
from ray_tasks.engines.settings import ChatSettings

WAITING_CPUS: Final = 0.25
"""What an actor takes that waits for a language model most of the time."""

Serving = Callable[[ChatSettings, Callable[[str], None]], AbstractContextManager[ChatSettings]]
"""Starts a model for the length of a block and gives its settings with the addresses at which it answers."""


def model_of(stage: str, config: BuildConfig) -> ChatSettings | None:
    """The model that a stage asks; None for stages that ask none."""
    if stage == "describe":
        return config.seeing
    asking = {
        "translate": config.translate,
        "narrate": config.prose,
        "extract": config.engine,
        "segment": config.engine,
        "join": config.engine,
        "records": config.records,
    }
    return config.llm if asking.get(stage) == "llm" else None


def models_of(config: BuildConfig, *, video: bool) -> list[ChatSettings]:
    """The different models that a build asks; with `video` also the one that sees."""
    stages = ("translate", "narrate", "extract", "records", *(("describe",) if video else ()))
    wanted = {model.model_dump_json(): model for stage in stages if (model := model_of(stage, config))}
    return list(wanted.values())


class ModelSource(Protocol):
    """Knows where models answer."""

    def ready(self, stage: str, config: BuildConfig) -> BuildConfig:
        """The configuration with the addresses of the model that a stage asks; that model answers from now on."""
        ...


class RunModels:
    """The models of a run, started when the first wave with work to do needs them, and stopped when the run ends.

    A night in which nothing has changed so never starts one. Use as a context manager.
    """

    def __init__(self, serving: Serving, say: Callable[[str], None]) -> None:
        self._serving, self._say = serving, say
        self._up: dict[str, ChatSettings] = {}
        self._stack = ExitStack()

    def __enter__(self) -> RunModels:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def ready(self, stage: str, config: BuildConfig) -> BuildConfig:
        """See ModelSource; raises what the start of a model raises."""
        wanted = model_of(stage, config)
        if wanted is None:
            return config
        name = wanted.model_dump_json()
        if name not in self._up:
            self._up[name] = self._stack.enter_context(self._serving(wanted, self._say))
        place = "vlm" if stage == "describe" and config.vlm else "llm"
        return config.model_copy(update={place: self._up[name]})

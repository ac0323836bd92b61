"""The language models of a run: which stage asks which, and where they answer."""

from __future__ import annotations

from collections.abc import Callable, Set
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Final, Protocol

from ray_tasks.config import BuildConfig
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.scheduling.tasks import STAGE_ORDER

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
    """The models of a run, started when the first wave with work to do needs them, and stopped when none does any more.

    A night in which nothing has changed so never starts one. Use as a context manager, whose end stops all.
    """

    def __init__(self, serving: Serving, say: Callable[[str], None]) -> None:
        self._serving, self._say = serving, say
        self._up: dict[str, tuple[ChatSettings, ExitStack]] = {}
        self._all = ExitStack()

    def __enter__(self) -> RunModels:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._all.__exit__(kind, error, trace)  # whoever serves is told of what ends the run: an interrupt hurries it

    def ready(self, stage: str, config: BuildConfig) -> BuildConfig:
        """See ModelSource; raises what the start of a model raises."""
        self._stop_all_but(_models_from(stage, config))
        wanted = model_of(stage, config)
        if wanted is None:
            return config
        name = wanted.model_dump_json()
        if name not in self._up:
            stack = self._all.enter_context(ExitStack())
            self._up[name] = stack.enter_context(self._serving(wanted, self._say)), stack
        place = "vlm" if stage == "describe" and config.vlm else "llm"
        return config.model_copy(update={place: self._up[name][0]})

    def _stop_all_but(self, names: Set[str]) -> None:
        """Stops models that no stage asks any more: the next may wait for the very GPUs that they hold."""
        for name in [*self._up]:
            if name not in names:
                self._up.pop(name)[1].close()


def _models_from(stage: str, config: BuildConfig) -> set[str]:
    """The models that a stage and those after it ask, by all their settings."""
    stages = STAGE_ORDER[STAGE_ORDER.index(stage) :]
    return {model.model_dump_json() for one in stages if (model := model_of(one, config))}

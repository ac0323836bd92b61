"""The language models of a run: which stage asks which, and from when to when each is up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from ray_tasks.config import BuildConfig
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.scheduling.models import RunModels, model_of, models_of
from ray_tasks.scheduling.tasks import STAGE_ORDER

WORDS, EYES = ChatSettings(model="words"), ChatSettings(model="eyes")
CONFIG = BuildConfig(engine="llm", llm=WORDS, vlm=EYES)


class Host:
    """Starts and stops models, and remembers it."""

    def __init__(self) -> None:
        self.told: list[str] = []

    @contextmanager
    def serving(self, settings: ChatSettings, say: Callable[[str], None]) -> Iterator[ChatSettings]:
        """See models.Serving."""
        say(settings.model)
        self.told.append(f"up {settings.model}")
        try:
            yield settings.model_copy(update={"urls": (f"http://{settings.model}/v1",)})
        except BaseException as error:
            self.told.append(type(error).__name__)
            raise
        finally:
            self.told.append(f"down {settings.model}")


def test_a_model_is_up_from_the_first_stage_that_asks_it_to_the_last() -> None:
    host = Host()
    with RunModels(host.serving, lambda _: None) as models:
        for stage in STAGE_ORDER:
            host.told.append(stage)
            models.ready(stage, CONFIG)
    assert host.told == [
        "observe",
        "describe",
        "up eyes",
        "translate",
        "down eyes",
        "caption",
        "narrate",
        "extract",
        "up words",
        "segment",
        "join",
        "records",
        "down words",
        "embed",
        "part",
        "train",
        "fill",
        "index",
        "phrases",
        "compress",
        "interactions",
    ]


def test_one_model_for_everything_is_started_once() -> None:
    host = Host()
    config = BuildConfig(engine="llm", llm=WORDS, prose="llm")
    with RunModels(host.serving, lambda _: None) as models:
        for stage in ("describe", "narrate", "extract", "join"):
            assert models.ready(stage, config).llm.urls == ("http://words/v1",)
        assert host.told == ["up words"]
    assert host.told == ["up words", "down words"]


def test_a_run_that_dies_stops_its_models_and_tells_them_of_what() -> None:
    host = Host()
    with pytest.raises(KeyboardInterrupt), RunModels(host.serving, lambda _: None) as models:
        models.ready("describe", CONFIG)
        raise KeyboardInterrupt
    assert host.told == ["up eyes", "KeyboardInterrupt", "down eyes"]


def test_the_addresses_go_to_the_model_that_the_stage_asks() -> None:
    with RunModels(Host().serving, lambda _: None) as models:
        seeing, telling = models.ready("describe", CONFIG), models.ready("extract", CONFIG)
    assert (seeing.seeing.urls, seeing.llm.urls) == (("http://eyes/v1",), ())
    assert (telling.llm.urls, telling.seeing.urls) == (("http://words/v1",), ())


def test_rules_ask_no_model() -> None:
    assert models_of(BuildConfig(), video=False) == []
    assert [stage for stage in STAGE_ORDER if model_of(stage, BuildConfig(records="rules"))] == ["describe"]
    assert models_of(CONFIG, video=True) == [WORDS, EYES]

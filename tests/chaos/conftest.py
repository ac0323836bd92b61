"""The sample week, a tiny encoder, and what undisturbed builds of it make."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from ray_tasks.storage.store import open_store
from sample_week import write_sample_week
from tests.chaos.builds import Order, Running, completed, ray_folder
from tests.chaos.memories import Content, content
from tests.chaos.tiny_model import make_tiny_model

SEED = int(os.environ.get("DAYBOOK_CHAOS_SEED", "7"))
"""Decides every moment and victim."""
AT_ONCE = int(os.environ.get("DAYBOOK_CHAOS_AT_ONCE", "2"))
"""Builds side by side."""

ONE_DAY = ("--wearer", "B1_MARA", "--day", "1")
WHOLE_WEEK: tuple[str, ...] = ()
ANY_ENCODER = "gates:\n  min_found: 0\n"
_told: list[str] = []


@dataclass(frozen=True)
class Undisturbed:
    """What a build that nobody disturbs takes, beside another one, and what it makes."""

    order: Order
    seconds: float
    content: Content

    def elsewhere(self, root: Path | str, **environment: str) -> Order:
        """The same build on another root."""
        return replace(self.order, root=str(root), environment=environment)


@pytest.fixture(scope="session")
def week(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus of the sample week."""
    return write_sample_week(tmp_path_factory.mktemp("week")).corpus


@pytest.fixture(scope="session")
def config(week: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A configuration with a tiny encoder, and without the gate that asks for a good one."""
    folder = tmp_path_factory.mktemp("config")
    path = folder / "tiny.yaml"
    model = make_tiny_model(folder / "encoder", week / "EgoLifeCap")
    path.write_text(f"embedding_model: {model}\n{ANY_ENCODER}", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def light_day(week: Path, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """One wearer's day with an encoder that needs no model's libraries, built twice side by side to the same result."""
    path = tmp_path_factory.mktemp("config") / "light.yaml"
    path.write_text(ANY_ENCODER, encoding="utf-8")
    order = Order(week, "", ONE_DAY, path, module="tests.chaos.light_build")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        first, *others = pool.map(lambda _: _undisturbed(order, tmp_path_factory.mktemp("day")), range(AT_ONCE))
    assert [other.content.differences(first.content) for other in others] == [[]] * (AT_ONCE - 1)
    return first


@pytest.fixture(scope="session")
def one_day(week: Path, config: Path, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """One wearer's day with the tiny encoder."""
    return _undisturbed(Order(week, "", ONE_DAY, config), tmp_path_factory.mktemp("day"))


@pytest.fixture(scope="session")
def whole_week(week: Path, config: Path, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """Both wearers' three days with the tiny encoder."""
    return _undisturbed(Order(week, "", WHOLE_WEEK, config), tmp_path_factory.mktemp("whole"))


def _undisturbed(order: Order, folder: Path) -> Undisturbed:
    placed = replace(order, root=str(folder / "root"))
    with ray_folder() as temporary:
        starts: list[float] = []

        def start() -> Running:
            starts.append(time.monotonic())
            return placed.start({"RAY_TMPDIR": temporary}, folder / "build.log")

        completed(start)
    return Undisturbed(placed, time.monotonic() - starts[-1], content(open_store(placed.root)))


@pytest.fixture
def tell() -> Iterator[Any]:
    """Adds a line to what is shown when all tests are over."""
    yield _told.append


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Shows what was killed when, with the seed that does it again."""
    if _told:
        terminalreporter.section(f"chaos (DAYBOOK_CHAOS_SEED={SEED})")
        for line in _told:
            terminalreporter.write_line(line)

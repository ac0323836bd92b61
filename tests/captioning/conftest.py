"""Fixtures of captioning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def write_clip(tmp_path: Path) -> Callable[..., Path]:
    """Writes a clip of so many seconds below the test's folder; options as of `clips.make_clip`."""
    from tests.captioning.clips import RATE, make_clip

    def write(name: str, seconds: float = 4, **options: object) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        times = [index / RATE for index in range(int(seconds * RATE))]
        return make_clip(path, **{"times": times, **options})  # type: ignore[arg-type]

    return write

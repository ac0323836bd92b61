"""The language of a line, by script."""

from __future__ import annotations

import pytest

from ray_tasks.corpus.language import has_han, language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("the water is boiling", "en"),
        ("水开了", "zh"),
        ("我们用 USB 充电", "zh"),
        ("We call it 火锅 at home", "en"),
        ("Le café est prêt", "en"),
        ("40", "und"),
        ("... ?!", "und"),
        ("", "und"),
        ("お湯が沸いた", "und"),
        ("вода кипит", "und"),
        ("물이 끓는다", "und"),
        ("5点半", "zh"),
    ],
)
def test_a_line_has_the_language_of_its_script(text: str, language: str) -> None:
    assert language_of(text) == language


def test_han_characters_are_found_beside_letters() -> None:
    assert has_han("Tobi的姐姐")
    assert not has_han("Tobi")

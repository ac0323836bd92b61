"""A comparison as a person reads it."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from ray_tasks.evaluation.side_by_side import compare_results
from ray_tasks.evaluation.side_by_side_table import render_comparison
from tests.evaluation.results import result


def shown(*results: Any, width: int = 240, **options: Any) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    console.print(render_comparison(compare_results(list(results)), **options))
    printed = console.file
    assert isinstance(printed, io.StringIO)
    return printed.getvalue()


def line(text: str, *parts: str) -> str:
    """The first line that holds all parts."""
    return next(one for one in text.splitlines() if all(part in one for part in parts))


def test_what_is_published_is_marked_with_its_source() -> None:
    text = shown(result([True, False] * 4))
    assert "50.0 (12–88)" in line(text, "egocite", "│")
    published = line(text, "EgoCITE-GPT [published, EgoCITE]")
    assert "63.8" in published and "49.6" in published and "44,108" in published
    assert "EgoCITE Table 2 (Avg., Input Token)" in text
    assert "67.4" in line(text, "EgoCITE-GPT [published, EgoCITE Table 2]")
    assert "62.6" in line(text, "EgoCITE-GPT [published, EgoCITE Table 5]")
    assert "37.0" in line(text, "Imprint [published, Imprint Table 5]")
    assert "published, Imprint: one wearer" in text
    unmarked = [one for one in text.splitlines() if "EgoCITE-" in one and "published" not in one]
    assert unmarked == []


def test_without_published_figures_only_what_was_measured_is_shown() -> None:
    text = shown(result([True] * 4), published=False)
    assert "published" not in text
    assert "egolifeqa · by time from evidence to question" in text


def test_ablations_of_the_papers_are_shown_on_demand() -> None:
    assert "EgoCITE Table 4]" not in shown(result([True] * 4))
    text = shown(result([True] * 4), ablations=True)
    assert "retrieval rounds [published, EgoCITE Table 4]" in text
    assert "56.2 / 32.4" in line(text, "Interaction Consolidation only", "64.5 / 30.4")
    assert "EgoCITE Table 11]" not in text, "that table is of another benchmark"


def test_paired_tests_and_different_questions_are_told() -> None:
    text = shown(
        result([False] * 8, method="caption-rag"),
        result([True] * 8, name="two"),
        result([True] * 8, name="three", method="other", questions="else"),
    )
    assert "question by question, against caption-rag" in text
    assert "0.0078" in line(text, "egocite", "accuracy", "better")
    assert "no question in common" in line(text, "other", "no question")
    assert "the methods were asked different questions" in text


@pytest.mark.parametrize("width", [40, 80, 400])
def test_any_width_is_enough(width: int) -> None:
    assert "egolifeqa" in shown(result([True] * 4), result([None] * 4, name="two", method="x"), width=width)

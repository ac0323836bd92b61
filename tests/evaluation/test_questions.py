"""Options of any type, spellings of categories, texts for comparison."""

from __future__ import annotations

import pytest

from ray_tasks.evaluation.questions import CATEGORIES, normalise_category, normalise_text, option_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2, "2"),
        (None, ""),
        ("4", "4"),
        (3.5, "3.5"),
        (0, "0"),
        (True, "true"),
        ("  the basil ", "the basil"),
        (["basil", 2], "basil, 2"),
        ({"plant": "ivy"}, '{"plant": "ivy"}'),
        ("", ""),
    ],
)
def test_an_option_of_any_type_is_shown_as_text(value: object, text: str) -> None:
    assert option_text(value) == text


@pytest.mark.parametrize(
    "raw", ["EntityLog", "Entity Log", "实体日志", "entitylog ", "ENTITY_LOG", "entity-log", "ＥｎｔｉｔｙＬｏｇ"]
)
def test_many_spellings_of_a_category_are_one(raw: str) -> None:
    assert normalise_category(raw) == "EntityLog"


@pytest.mark.parametrize(
    ("raw", "category"),
    [
        ("事件回忆", "EventRecall"),
        ("习惯洞察", "HabitInsight"),
        ("人际关系", "RelationMap"),
        ("任务大师", "TaskMaster"),
        ("task master", "TaskMaster"),
    ],
)
def test_every_category_has_its_aliases(raw: str, category: str) -> None:
    assert normalise_category(raw) == category


@pytest.mark.parametrize("raw", ["EntltyLog", "", "Entity", "Weather"])
def test_a_near_miss_is_unknown_and_not_mended(raw: str) -> None:
    assert normalise_category(raw) == "Unknown"
    assert "Unknown" not in CATEGORIES


def test_texts_compare_without_case_width_and_punctuation() -> None:
    assert normalise_text("What do I  water first?") == normalise_text("what do I water: FIRST")
    assert normalise_text("Ｂａｓｉｌ") == "basil"
    assert normalise_text("1") != normalise_text("2")
    assert normalise_text("+") != normalise_text("-")

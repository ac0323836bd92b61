"""Benchmark questions: what a method may know (Question) and, apart from it, what only the evaluation knows."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from ray_tasks.retrieval.types import Question

CATEGORIES: Final = ("EntityLog", "EventRecall", "HabitInsight", "RelationMap", "TaskMaster")
UNKNOWN_CATEGORY: Final = "Unknown"

_CATEGORY_ALIASES: Final = {
    **{name.casefold(): name for name in CATEGORIES},
    **dict.fromkeys(("实体日志", "实体记录"), "EntityLog"),
    **dict.fromkeys(("事件回忆", "事件回顾"), "EventRecall"),
    **dict.fromkeys(("习惯洞察", "习惯洞见"), "HabitInsight"),
    **dict.fromkeys(("人际关系", "关系图谱", "关系地图"), "RelationMap"),
    **dict.fromkeys(("任务大师", "任务管理", "任务达人"), "TaskMaster"),
}


@dataclass(frozen=True, slots=True)
class BenchmarkQuestion:
    """A question with its key, its target points and what was odd about its entry in the file.

    answer: the key's label, None where the file gives none that is offered. targets: week time in ms, in the order of
    the file, empty where there is none to use. original_id: the identifier as the file has it (number or text).
    target_ends: where each target ends, for benchmarks whose targets are intervals; empty where they are points.
    """

    question: Question
    answer: str | None
    targets: tuple[int, ...]
    category: str
    raw_category: str
    flags: tuple[str, ...] = ()
    original_id: int | str | None = None
    target_ends: tuple[int, ...] = ()

    @property
    def target_spans(self) -> tuple[tuple[int, int], ...]:
        """The targets as intervals (start, end) of week time in ms; a point is an interval of no length."""
        ends = self.target_ends or self.targets
        return tuple(zip(self.targets, ends, strict=True))

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels offered, in the order shown."""
        return tuple(label for label, _ in self.question.choices)


def option_text(value: object) -> str:
    """The text of an option of any JSON type, used by every stage: null is empty, numbers are shown as written."""
    if value is None:
        return ""
    if isinstance(value, str):
        return whole_text(value.strip())
    if isinstance(value, list):
        return ", ".join(option_text(item) for item in value)
    return json.dumps(value, ensure_ascii=False)


def whole_text(text: str) -> str:
    """A text that can be printed and stored: half a character (an unpaired surrogate) becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


def normalise_text(text: str) -> str:
    """A text for comparison: full width, case, punctuation and spacing make no difference.

    Where nothing but punctuation is left, the text itself is compared.
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\W_]+", " ", plain).strip() or plain.strip()


def normalise_category(raw: str) -> str:
    """One of CATEGORIES for its many spellings, UNKNOWN_CATEGORY for any other; a near miss is not mended."""
    folded = re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", raw).casefold())
    return _CATEGORY_ALIASES.get(folded, UNKNOWN_CATEGORY)

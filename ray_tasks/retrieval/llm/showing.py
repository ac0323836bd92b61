"""Questions, items and captions as the data of a request: one JSON object on each line, none of which ends its section.

The same rows are shown in round after round and to question after question, so their lines are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from ray_tasks.corpus.week_time import format_for_people
from ray_tasks.engines.steps import as_data
from ray_tasks.retrieval.trace import interval
from ray_tasks.retrieval.types import Evidence, Question

LONGEST_ITEM: Final = 500
"""Characters of an item's text that are shown; atoms are a sentence."""
LONGEST_CAPTION: Final = 6000
_REMEMBERED: Final = 16_384


def question_json(question: Question, *, choices: Iterable[tuple[str, str]] = ()) -> str:
    """A question with its time and some choices."""
    asked: dict[str, Any] = {"asked_at": format_for_people(question.at_ms), "question": question.text}
    options = dict(choices)
    return as_data({**asked, "choices": options} if options else asked)


def item_json(item: Evidence, number: int, *, new: bool = False) -> str:
    """An item with its number, whether it is new, its interval, view and text."""
    told = _item(item.start_ms, item.end_ms, item.view, item.text)
    mark = '"new": true, ' if new else ""
    return f'{{"id": {number}, {mark}{told[1:]}'


def caption_json(caption: Evidence) -> str:
    """A caption with its interval; one that is endless is cut."""
    return _caption(caption.start_ms, caption.end_ms, caption.text)


@lru_cache(maxsize=_REMEMBERED)
def _item(start_ms: int, end_ms: int, view: str, text: str) -> str:
    return as_data({"time": interval(start_ms, end_ms), "view": view, "text": _cut(text, LONGEST_ITEM)})


@lru_cache(maxsize=_REMEMBERED)
def _caption(start_ms: int, end_ms: int, text: str) -> str:
    return as_data({"time": interval(start_ms, end_ms), "caption": _cut(text, LONGEST_CAPTION)})


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"

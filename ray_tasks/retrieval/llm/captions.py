"""Curated evidence mapped back to its captions (EgoCITE Appendix B.5), within a bound of tokens.

Only captions that end by the question's time are taken, whatever an item covers. Captions of the items that score best
come first when not all fit; they are shown in order of time.
"""

from __future__ import annotations

from collections.abc import Sequence

from ray_tasks.index.memory import CAPTION_VIEW, WearerMemory
from ray_tasks.retrieval.evidence import captions_of
from ray_tasks.retrieval.llm.asking import tokens_of
from ray_tasks.retrieval.llm.showing import caption_json
from ray_tasks.retrieval.types import Evidence


def shown_captions(
    memory: WearerMemory, evidence: Sequence[Evidence], at_ms: int, room_tokens: int
) -> tuple[tuple[Evidence, ...], int]:
    """The captions behind some evidence, in order of time, and how many of them had no room.

    An item without any caption is shown itself.
    """
    wanted: dict[str, Evidence] = {}
    for item in sorted(evidence, key=lambda one: (-one.score, one.start_ms, one.item_id)):
        if item.end_ms > at_ms:
            continue
        behind = [one for row in captions_of(memory.captions, item) if (one := _caption(memory, row)).end_ms <= at_ms]
        for one in behind or [item]:
            wanted.setdefault(one.item_id, one)
    shown: list[Evidence] = []
    for one in wanted.values():
        room_tokens -= tokens_of(caption_json(one))
        if room_tokens < 0 and shown:
            break
        shown.append(one)
    shown.sort(key=lambda one: (one.start_ms, one.end_ms, one.item_id))
    return tuple(shown), len(wanted) - len(shown)


def _caption(memory: WearerMemory, row: int) -> Evidence:
    captions = memory.captions
    start, end = int(captions.start_ms[row]), int(captions.end_ms[row])
    return Evidence(captions.row_id(row), CAPTION_VIEW, start, end, captions.text(row), 0.0)

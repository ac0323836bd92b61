"""The temporal constraint of a question, applied to what was found (ApplyTemporal of Imprint's Algorithm 2).

An entry holds moments of several days, so a constraint is one on its members: those that break it are left out, and an
entry goes with its last one. "The first time" and "the last time" then choose among what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ray_tasks.compression.interactions import InteractionMemory
from ray_tasks.embedding.whole_vectors import Float64, Int64
from ray_tasks.retrieval.imprint.day_parts import is_in_part
from ray_tasks.retrieval.imprint.decompose import Cues
from ray_tasks.retrieval.imprint.ranking import Found
from ray_tasks.retrieval.imprint.settings import ImprintSettings

Anchor = Callable[[], tuple[int, int] | None]
"""Finds the event that a question is placed by, as an interval of week time."""


def apply_temporal(
    found: Sequence[Found],
    fits: Float64,
    cues: Cues,
    memory: InteractionMemory,
    settings: ImprintSettings,
    anchor: Anchor,
) -> list[Found]:
    """What satisfies the constraint, in the order of `found` but for first and last times.

    fits: how well the object and action of each visible record fit. `anchor` is only asked where the question is
    placed by another event; where that is not found, nothing is excluded by it.
    """
    span = anchor() if cues.placing is not None else None
    left = []
    for one in found:
        members = one.members[_satisfying(one.members, cues, memory, span)]
        if len(members):
            left.append(replace(one, members=members))
    if cues.occasion is None or not left:
        return left
    matching = _matching(left, fits, settings.matching)
    return _of_occasion(matching, cues.occasion == "last", memory, settings)


def _matching(found: Sequence[Found], fits: Float64, share: float) -> list[Found]:
    """What was found, with those members alone that fit nearly as well as the best of all."""
    least = share * max(float(fits[one.members].max()) for one in found)
    near = [replace(one, members=one.members[fits[one.members] >= least]) for one in found]
    return [one for one in near if len(one.members)]


def _satisfying(
    members: Int64, cues: Cues, memory: InteractionMemory, anchor: tuple[int, int] | None
) -> npt.NDArray[np.bool_]:
    """(members,) whether each lies in the windows and parts of a day, and on the right side of the anchor."""
    starts, ends = memory.start_ms[members], memory.end_ms[members]
    keep = np.ones(len(members), np.bool_)
    if cues.windows:
        keep &= np.any([(starts <= last) & (ends >= first) for first, last in cues.windows], axis=0)
    if cues.day_parts:
        keep &= np.array([any(is_in_part(int(start), part) for part in cues.day_parts) for start in starts], np.bool_)
    if anchor is not None and cues.placing is not None:
        if cues.placing.relation == "before":
            keep &= ends <= anchor[0]
        elif cues.placing.relation == "after":
            keep &= starts >= anchor[1]
    return keep


def _of_occasion(
    found: Sequence[Found], last: bool, memory: InteractionMemory, settings: ImprintSettings
) -> list[Found]:
    """The entry with the earliest or latest member, alone or first.

    Of entries that are equal in this, the one with the better score comes first.
    """
    key: Callable[[Found], tuple[int, float]] = (
        (lambda one: (-int(memory.start_ms[one.members].max()), -one.score))
        if last
        else (lambda one: (int(memory.start_ms[one.members].min()), -one.score))
    )
    ordered = sorted(found, key=key)
    return ordered[:1] if settings.occasion == "one" else ordered

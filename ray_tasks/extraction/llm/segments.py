"""Blocks of a window as the model cuts it: what can be wrong with them, and how they are put right without it.

A block is a pair of positions among the captions of the window, both included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil
from typing import Final

from ray_tasks.extraction.llm.schemas import Group
from ray_tasks.extraction.types import LONGEST_MS, SHORTEST_MS, window_end
from ray_tasks.rows import Caption, View

Block = tuple[int, int]

GAP_MS: Final = 60_000
"""A pause in recording, or in talk, that no block spans (appendix G: at least a minute without conversation)."""


def faults_of(view: View, groups: Sequence[Group], captions: Sequence[Caption]) -> list[str]:
    """What is wrong with the groups of a window, in words for the model; each begins with its rule and a colon."""
    end = len(captions) - 1
    inside = [group for group in groups if group.first <= group.last <= end]
    faults = [
        f"out_of_range: {_named(group)} is no run of captions between 0 and {end}"
        for group in groups
        if group not in inside
    ]
    ordered = sorted(inside, key=lambda group: group.first)
    faults += [
        f"overlap: {_named(first)} and {_named(second)} share captions"
        for first, second in pairwise(ordered)
        if second.first <= first.last
    ]
    for group in inside:
        block = (group.first, group.last)
        if nominal_ms(block, captions) > LONGEST_MS and group.last > group.first:
            faults.append(
                f"too_long: {_named(group)} lasts more than 10 minutes; cut it where the goal or topic changes"
            )
        if view == "activity" and _is_needlessly_short(block, captions):
            faults.append(
                f"too_short: {_named(group)} lasts less than a minute; put it to the block before or after it"
            )
        if view == "conversation" and not any(has_talk(captions[i]) for i in range(group.first, group.last + 1)):
            faults.append(f"no_talk: nobody speaks in {_named(group)}")
    if view == "activity":
        left_out = sorted(set(range(len(captions))) - {i for one in inside for i in range(one.first, one.last + 1)})
        if left_out:
            faults.append(f"left_out: captions {', '.join(map(str, left_out[:20]))} are in no group")
    return faults


def repaired(view: View, groups: Iterable[Group], captions: Sequence[Caption], notes: Counter[str]) -> list[Block]:
    """Blocks that keep every rule that the captions allow, in order of time; repairs are counted in `notes`.

    Activities cover all captions; conversations only those between a group's first and last talk. A block spans no
    recording gap of more than a minute and lasts at most ten minutes, unless one caption alone lasts longer; an
    activity lasts at least a minute unless gaps or its neighbours' lengths leave no room.
    """
    blocks = _disjoint(groups, len(captions), notes)
    if view == "conversation":
        blocks = [part for block in blocks for part in _talking(block, captions, notes)]
        blocks = [part for block in blocks for part in _within_bounds(block, captions, notes)]
        return [_trimmed(block, captions) for block in blocks if _talks(block, captions)]
    blocks = _covering(blocks, len(captions), notes)
    blocks = [part for block in blocks for part in _at_gaps(block, captions, notes)]
    blocks = [part for block in blocks for part in _within_bounds(block, captions, notes)]
    return _without_short(blocks, captions, notes)


def has_talk(caption: Caption) -> bool:
    """Whether somebody speaks in a caption."""
    return any(line.modality == "speech" and line.text.strip() for line in caption.lines)


def nominal_ms(block: Block, captions: Sequence[Caption]) -> int:
    """How long a block lasts by the clock's half minutes."""
    return window_end(captions[block[1]]) - captions[block[0]].start_ms


def _named(group: Group) -> str:
    return f"group {group.first} to {group.last}"


def _is_needlessly_short(block: Block, captions: Sequence[Caption]) -> bool:
    """Whether a block is shorter than a minute though another caption adjoins it."""
    if nominal_ms(block, captions) >= SHORTEST_MS:
        return False
    before = block[0] > 0 and not _gap(captions, block[0])
    after = block[1] + 1 < len(captions) and not _gap(captions, block[1] + 1)
    return before or after


def _gap(captions: Sequence[Caption], position: int) -> bool:
    """Whether more than a minute passed unrecorded before a caption."""
    return captions[position].start_ms - window_end(captions[position - 1]) > GAP_MS


def _disjoint(groups: Iterable[Group], count: int, notes: Counter[str]) -> list[Block]:
    """Runs of captions by the first group that claims them."""
    owner: list[int | None] = [None] * count
    for number, group in enumerate(groups):
        if group.first > group.last or group.last >= count:
            notes["repaired_out_of_range"] += 1
        claimed = range(group.first, min(group.last, count - 1) + 1)
        if any(owner[i] is not None for i in claimed):
            notes["repaired_overlap"] += 1
        for i in claimed:
            owner[i] = number if owner[i] is None else owner[i]
    return _runs(owner)


def _runs(owner: Sequence[int | None]) -> list[Block]:
    blocks: list[Block] = []
    for i, number in enumerate(owner):
        if number is None:
            continue
        if blocks and blocks[-1][1] == i - 1 and owner[i - 1] == number:
            blocks[-1] = (blocks[-1][0], i)
        else:
            blocks.append((i, i))
    return blocks


def _covering(blocks: Sequence[Block], count: int, notes: Counter[str]) -> list[Block]:
    """Blocks in which captions that were left out go to the block before them, the first ones to the first block."""
    if not blocks:
        notes["repaired_left_out"] += count
        return [(0, count - 1)]
    starts = [0, *(first for first, _ in blocks[1:])]
    ends = [*(start - 1 for start in starts[1:]), count - 1]
    notes["repaired_left_out"] += count - sum(last - first + 1 for first, last in blocks)
    return list(zip(starts, ends, strict=True))


def _talking(block: Block, captions: Sequence[Caption], notes: Counter[str]) -> list[Block]:
    """The parts of a block that hold talk, parted by a minute without any."""
    talking = _talks(block, captions)
    parts: list[Block] = []
    for i in talking:
        silent = parts and captions[i].start_ms - window_end(captions[parts[-1][1]]) >= GAP_MS
        if parts and not silent:
            parts[-1] = (parts[-1][0], i)
        else:
            parts.append((i, i))
    if parts != [block]:
        notes["repaired_without_talk"] += 1
    return parts


def _trimmed(block: Block, captions: Sequence[Caption]) -> Block:
    """A block from its first to its last caption with talk."""
    talking = _talks(block, captions)
    return talking[0], talking[-1]


def _talks(block: Block, captions: Sequence[Caption]) -> list[int]:
    return [i for i in range(block[0], block[1] + 1) if has_talk(captions[i])]


def _at_gaps(block: Block, captions: Sequence[Caption], notes: Counter[str]) -> list[Block]:
    cuts = [i for i in range(block[0] + 1, block[1] + 1) if _gap(captions, i)]
    notes["repaired_recording_gap"] += len(cuts)
    return list(zip([block[0], *cuts], [*(cut - 1 for cut in cuts), block[1]], strict=True))


def _within_bounds(block: Block, captions: Sequence[Caption], notes: Counter[str]) -> list[Block]:
    """A block in as few even parts as last ten minutes by the clock, halved where a line runs on for longer still."""
    first, last = block
    count = last - first + 1
    parts = min(count, ceil(nominal_ms(block, captions) / LONGEST_MS))
    bounds = [first + count * part // parts for part in range(parts + 1)]
    cut = [half for start, end in pairwise(bounds) for half in _halved((start, end - 1), captions)]
    notes["repaired_too_long"] += len(cut) > 1
    return cut


def _halved(block: Block, captions: Sequence[Caption]) -> list[Block]:
    first, last = block
    if first == last or _length_ms(block, captions) <= LONGEST_MS:
        return [block]
    middle = (first + last) // 2
    return [*_halved((first, middle), captions), *_halved((middle + 1, last), captions)]


def _length_ms(block: Block, captions: Sequence[Caption]) -> int:
    """How long a block lasts by the ends of its lines."""
    return max(caption.end_ms for caption in captions[block[0] : block[1] + 1]) - captions[block[0]].start_ms


def _without_short(blocks: Sequence[Block], captions: Sequence[Caption], notes: Counter[str]) -> list[Block]:
    """Blocks in which those shorter than a minute are put to a neighbour that has room for them."""
    kept: list[Block] = []
    for block in blocks:
        joined = (kept[-1][0], block[1]) if kept and not _gap(captions, block[0]) else None
        short = joined and (_is_short(block, captions) or (kept and _is_short(kept[-1], captions)))
        if joined and short and _length_ms(joined, captions) <= LONGEST_MS:
            kept[-1] = joined
            notes["repaired_too_short"] += 1
        else:
            kept.append(block)
    return kept


def _is_short(block: Block, captions: Sequence[Caption]) -> bool:
    return nominal_ms(block, captions) < SHORTEST_MS

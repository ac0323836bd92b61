"""Activities and conversations by a language model (EgoCITE section 4.1, appendices B.2 and G).

The paper lets one call cut a window of thirty minutes and write the summaries of its blocks. There, the words of an
early block are written by a model that has read the whole window, and may hold what happened after the block had
ended; a question asked in between would be answered from its own future. Here, one call cuts the window and returns
nothing but positions, and the sentence of each block is written by a call that sees the block and the five minutes
before it, and no line that ends after the block.

What this holds, and what not. For every atom: no word of it, nor of any request for it, depends on a line that ends
after the atom. Where a block begins and ends is another matter: the call that cuts sees the window as a whole, so what
comes later in the same half hour (never after it) may move the bounds of an earlier block, or decide whether it is
one. Bounds are times between half minutes; they can tell that something changed, not what. The rules engine, whose
cuts are made online, is free of this too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from ray_tasks.engines.messages import ChatError, Message, UnreachableError
from ray_tasks.engines.prompts import Prompt
from ray_tasks.engines.steps import as_data, check_taken, gather
from ray_tasks.extraction.llm.asking import PACKAGE, Asker
from ray_tasks.extraction.llm.fallback import Fallback
from ray_tasks.extraction.llm.material import numbered_json
from ray_tasks.extraction.llm.schemas import Group, Groups
from ray_tasks.extraction.llm.segments import Block, faults_of, has_talk, repaired
from ray_tasks.extraction.llm.sources import Shard
from ray_tasks.extraction.llm.summarise import BlockWriter, Told, participants
from ray_tasks.extraction.speech import analyse
from ray_tasks.extraction.types import WINDOW_MS, Extraction
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Atom, Caption, View, make_atom_id

_PLAIN_TALK: Final = 6
COARSE: Final[tuple[View, ...]] = ("activity", "conversation")


async def extract_coarse(shard: Shard, asker: Asker, *, engine: str, version: str) -> Extraction:
    """Activity and conversation atoms of one shard; see Extractor.extract_coarse for the contract.

    The ledger's notes count, beside corrections: `fallback_<kind>`, windows and blocks whose call failed so (the rules
    cut or summarise them); `fallback_no_groups`, windows of plain talk in which the model finds none; `fallback_rule_<rule>`, summaries that broke this rule to the last; `kept_coupled_<why>`,
    those that could not be taken apart; `repaired_<rule>`, blocks put right. Raises as extract_fine does.
    """
    fallback = Fallback(shard)
    windows = [
        [position for position, _ in inside]
        for _, inside in groupby(enumerate(shard.captions), key=lambda pair: pair[1].start_ms // WINDOW_MS)
    ]
    jobs = [_window_atoms(shard, positions, view, asker, fallback) for positions in windows for view in COARSE]
    made = await gather(jobs)
    check_taken(asker.calls, f"extract {shard.wearer}")
    blocks = [(view, positions, told) for found in made for view, positions, told in found]
    atoms = [
        _atom(shard, view, positions, told, engine, version) for view, positions, tolds in blocks for told in tolds
    ]
    covered = {caption_id for atom in atoms for caption_id in atom.caption_ids}
    done = sum(caption.caption_id in covered for caption in shard.captions)
    ledger = Ledger(taken=len(shard.captions), done=done, notes=+asker.notes)
    if ledger.missing:
        ledger.filtered["no_activity_or_conversation"] = ledger.missing
    return Extraction(tuple(sorted(atoms, key=lambda atom: (atom.start_ms, atom.end_ms))), ledger, asker.calls)


async def _window_atoms(
    shard: Shard, positions: Sequence[int], view: View, asker: Asker, fallback: Fallback
) -> list[tuple[View, list[int], list[Told]]]:
    """The blocks of one window in one view, with their sentences."""
    blocks = [
        [positions[i] for i in range(first, last + 1)]
        for first, last in await _cut(shard, positions, view, asker, fallback)
    ]
    told = await gather(BlockWriter(shard, block, view, asker, fallback).write() for block in blocks)
    return [(view, block, one) for block, one in zip(blocks, told, strict=True)]


async def _cut(shard: Shard, positions: Sequence[int], view: View, asker: Asker, fallback: Fallback) -> list[Block]:
    """The blocks of a window: the model's, asked again while they break rules, then put right."""
    captions = [shard.captions[position] for position in positions]
    if view == "conversation" and not any(has_talk(caption) for caption in captions):
        return []
    if len(captions) == 1:
        return [(0, 0)]
    data = numbered_json(captions, asker.parameters.window_chars)
    filled = Prompt.load(PACKAGE, "window_data").fill(wearer=as_data(shard.me), captions=data, last=len(captions) - 1)
    talk = [Message("system", Prompt.load(PACKAGE, f"cut_{view}").text), Message("user", filled)]
    groups: list[Group] = []
    for again in range(asker.parameters.reasks + 1):
        try:
            found, reply = await asker.ask(talk, Groups, f"extract-cut-{view}", asker.parameters.block_tokens)
        except UnreachableError:
            raise
        except ChatError as error:
            if again:
                asker.notes[f"reask_{error.kind}"] += 1
                break
            asker.notes[f"fallback_{error.kind}"] += 1
            groups = [Group(first=first, last=last) for first, last in fallback.blocks(view, positions)]
            break
        groups = found.groups
        faults = faults_of(view, groups, captions)
        if not groups and view == "conversation" and _is_plain_talk(captions):
            faults = ["no_groups: people talk with each other in these captions, but there is no group"]
            if again == asker.parameters.reasks:
                asker.notes["fallback_no_groups"] += 1
                groups = [Group(first=first, last=last) for first, last in fallback.blocks(view, positions)]
        asker.notes.update(f"wrong_block_{fault.split(':')[0]}" for fault in faults)
        if not faults or again == asker.parameters.reasks:
            break
        asker.notes["reasked"] += 1
        wrong = "\n".join(as_data(fault.split(": ", 1)[1]) for fault in faults)
        again_text = Prompt.load(PACKAGE, "cut_again").fill(wrong=wrong)
        talk += [Message("assistant", reply.text), Message("user", again_text)]
    return repaired(view, groups, captions, asker.notes)


def _is_plain_talk(captions: Sequence[Caption]) -> bool:
    """Whether two people say so much in a window that there must be a conversation in it."""
    lines = [line for caption in captions for line in caption.lines if line.modality == "speech"]
    telling = sum(analyse(line.text).has_content for line in lines)
    return telling >= _PLAIN_TALK and len(participants(lines)) > 1


def _atom(shard: Shard, view: View, positions: Sequence[int], told: Told, engine: str, version: str) -> Atom:
    captions = [shard.captions[position] for position in positions]
    first = captions[0]
    return Atom(
        atom_id=make_atom_id(first.wearer, view, first.start_ms, told.text),
        wearer=first.wearer,
        view=view,
        start_ms=first.start_ms,
        end_ms=max(caption.end_ms for caption in captions),
        text=told.text,
        people=told.people,
        caption_ids=tuple(caption.caption_id for caption in captions),
        engine=engine,
        prompt_version=version,
    )

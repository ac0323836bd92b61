"""Activities and conversations by a language model (EgoCITE section 4.1, appendices B.2 and G).

The paper lets one call cut a window of thirty minutes and write the summaries of its blocks. There, the words of an
early block are written by a model that has read the whole window, and may hold what happened after the block had
ended; a question asked in between would be answered from its own future. Here, one call cuts the window and returns
nothing but positions, and the sentence of each block is written by a call that sees the block and the five minutes
before it, and no line that ends after the block.

What this holds, and what not. Given where a block begins and ends, no word of its atom, nor of any request for it,
depends on a line that ends after the atom. Where it begins and ends is another matter: the call that cuts sees the
window as a whole, so what comes later in the same half hour (never after it) may move the bounds of an earlier block,
and with them which of its own lines its sentence is about. Bounds lie between half minutes; they can tell that
something changed, not what. The rules engine, whose cuts are made online, is free of this too.

The paper counts as conversation only talk in which the wearer takes part. Here, as with the rules, talk of others that
the wearer hears counts too, since it is asked about as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from ray_tasks.engines.steps import check_taken, gather
from ray_tasks.extraction.atoms import COARSE, atom_of
from ray_tasks.extraction.llm.asking import Asker
from ray_tasks.extraction.llm.cut import WindowCutter
from ray_tasks.extraction.llm.fallback import Fallback
from ray_tasks.extraction.llm.sources import Shard
from ray_tasks.extraction.llm.summarise import BlockWriter, Told
from ray_tasks.extraction.types import WINDOW_MS, Extraction
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Atom, View


async def extract_coarse(shard: Shard, asker: Asker, *, engine: str, version: str) -> Extraction:
    """Activity and conversation atoms of one shard; see Extractor.extract_coarse for the contract.

    The ledger's notes count, beside corrections:
    `fallback_<kind>`: captions of windows and blocks whose call failed so, cut or summarised by the rules;
    `fallback_no_groups`: those of windows of plain talk in which the model finds no conversation, cut by the rules;
    `fallback_rule_<rule>`: those of blocks whose summary broke this rule to the last;
    `kept_coupled_<why>`: summaries that could not be taken apart; `repaired_<rule>`: blocks that were put right.
    Raises as extract_fine does.
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
        for first, last in await WindowCutter(shard, positions, view, asker, fallback).cut()
    ]
    told = await gather(BlockWriter(shard, block, view, asker, fallback).write() for block in blocks)
    return [(view, block, one) for block, one in zip(blocks, told, strict=True)]


def _atom(shard: Shard, view: View, positions: Sequence[int], told: Told, engine: str, version: str) -> Atom:
    captions = [shard.captions[position] for position in positions]
    return atom_of(captions, view, told.text, told.people, engine=engine, version=version)

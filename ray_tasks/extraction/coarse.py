"""Activities and conversations: the coarse views of a shard (EgoCITE section 4.1 and appendix B.2).

Guarantee: take any time T, and from the captions keep those whose window is over by T, with their lines that end by T.
Every atom of the full run that ends by T comes out of what was kept, the same in every field. (What was kept may yield
one more atom of either view: the part of a block that was still open at T.) The exception is a line that runs on past
the end of the window after its own; it may move where a later block starts, never put a word into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from ray_tasks.extraction.atoms import atom_of
from ray_tasks.extraction.blocks import activity_blocks, talk_runs
from ray_tasks.extraction.fine import ENGINE, RULES_VERSION
from ray_tasks.extraction.notes import Note, Rarity, take_note
from ray_tasks.extraction.reader import Fact, read_shard
from ray_tasks.extraction.sentences import clean
from ray_tasks.extraction.summaries import activity_text, conversation_text
from ray_tasks.extraction.types import Extraction
from ray_tasks.extraction.words import distinct
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Atom, Caption, View, wearer_name

_FEWEST_LINES_ALONE: Final = 2


def extract_coarse(captions: Sequence[Caption], halo: Sequence[Caption], *, wearer: str) -> Extraction:
    """Activity and conversation atoms of one shard; see Extractor.extract_coarse for the contract."""
    readings = read_shard(tuple(captions), tuple(halo), wearer)
    notes = [take_note(caption, lines) for caption, lines in zip(captions, readings, strict=True)]
    me = wearer_name(wearer)
    atoms = [*_activities(notes, me), *_conversations(notes, me)]
    covered = {caption_id for atom in atoms for caption_id in atom.caption_ids}
    ledger = Ledger(taken=len(captions), done=sum(caption.caption_id in covered for caption in captions))
    if ledger.missing:
        ledger.filtered["no_activity_or_conversation"] = ledger.missing
    return Extraction(tuple(sorted(atoms, key=lambda atom: (atom.start_ms, atom.end_ms))), ledger)


def _activities(notes: Sequence[Note], me: str) -> list[Atom]:
    rarity = Rarity([note.seen_terms for note in notes])
    atoms = []
    for block in activity_blocks(notes, rarity):
        chosen = [notes[position] for position in block]
        acts = [fact for note in chosen for fact in note.acts] or _as_written(chosen)
        seen = (name for note in chosen for fact in note.acts for name in fact.people)
        heard = (name for note in chosen for talk in note.talk for name in talk.speakers)
        present = distinct([*seen, *heard])
        text = activity_text(acts, present, me, partial(rarity.weight, up_to=block[-1]))
        atoms.append(_atom("activity", text, chosen, present))
    return atoms


def _as_written(notes: Sequence[Note]) -> list[Fact]:
    """The visual lines of a block that holds nothing but undirected motion."""
    lines = [line.text for note in notes for line in note.caption.lines if line.modality == "visual"]
    return [Fact("action", text, ()) for text in distinct(clean(line) for line in lines) if text]


def _conversations(notes: Sequence[Note], me: str) -> list[Atom]:
    rarity = Rarity([note.spoken_terms for note in notes])
    atoms = []
    for run in talk_runs(notes):
        chosen = [notes[position] for position in run]
        talk = [one for note in chosen for one in note.talk]
        speakers = distinct(name for one in talk for name in one.speakers)
        voices = len(speakers) + any(not one.speakers for one in talk)
        telling = [one for one in talk if one.speech.has_content]
        if len(telling) < (1 if voices > 1 else _FEWEST_LINES_ALONE):
            continue
        text = conversation_text(talk, me, partial(rarity.weight, up_to=run[-1]))
        named = (name for one in talk for name in one.people)
        atoms.append(_atom("conversation", text, chosen, distinct([*speakers, *named])))
    return atoms


def _atom(view: View, text: str, notes: Sequence[Note], people: tuple[str, ...]) -> Atom:
    captions = [note.caption for note in notes]
    return atom_of(captions, view, text, people, engine=ENGINE, version=RULES_VERSION)

"""What stands in where the model gives nothing usable: the lines themselves, as the rules engine reads them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

from ray_tasks.extraction.blocks import activity_blocks, talk_runs
from ray_tasks.extraction.llm.sources import Shard
from ray_tasks.extraction.notes import Note, Rarity, take_note
from ray_tasks.extraction.reader import Fact, Reading, read_shard
from ray_tasks.extraction.sentences import clean
from ray_tasks.extraction.summaries import activity_text, conversation_text
from ray_tasks.extraction.words import distinct
from ray_tasks.rows import View


class Fallback:
    """The rules' readings of a shard, made when they are first needed."""

    def __init__(self, shard: Shard) -> None:
        self._shard = shard

    @cached_property
    def readings(self) -> tuple[tuple[Reading, ...], ...]:
        """The readings of every line of every caption."""
        return read_shard(self._shard.captions, self._shard.halo, self._shard.wearer)

    @cached_property
    def _notes(self) -> list[Note]:
        pairs = zip(self._shard.captions, self.readings, strict=True)
        return [take_note(caption, readings) for caption, readings in pairs]

    @cached_property
    def _seen_rarity(self) -> Rarity:
        return Rarity([note.seen_terms for note in self._notes])

    @cached_property
    def _spoken_rarity(self) -> Rarity:
        return Rarity([note.spoken_terms for note in self._notes])

    def original(self, position: int, number: int) -> Reading:
        """A line in its own words: the rules' statements, or the reason for which they leave it out."""
        return self.readings[position][number]

    def blocks(self, view: View, positions: Sequence[int]) -> list[tuple[int, int]]:
        """Blocks of a window by rules, as first and last positions among `positions`."""
        notes = [self._notes[position] for position in positions]
        rarity = Rarity([note.seen_terms for note in notes])
        found = activity_blocks(notes, rarity) if view == "activity" else talk_runs(notes)
        return [(block[0], block[-1]) for block in found]

    def summary(self, view: View, positions: Sequence[int]) -> str:
        """A block in the rules' words; "" where its lines hold no words."""
        notes = [self._notes[position] for position in positions]
        me = self._shard.me
        talk = [one for note in notes for one in note.talk]
        acts = [fact for note in notes for fact in note.acts] if view == "activity" else []
        seen = [line.text for note in notes for line in note.caption.lines if line.modality == "visual"]
        if view == "activity" and not acts:
            acts = [Fact("action", text, ()) for text in distinct(clean(text) for text in seen) if text]
        if acts:
            named = [name for fact in acts for name in fact.people]
            present = distinct([*named, *(name for one in talk for name in one.speakers)])
            return activity_text(acts, present, me, partial(self._seen_rarity.weight, up_to=positions[-1]))
        if talk:
            return conversation_text(talk, me, partial(self._spoken_rarity.weight, up_to=positions[-1]))
        return ""

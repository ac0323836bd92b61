"""The sentence of a block: asked for, checked, taken apart where it tells two things (EgoCITE section 4.1, B.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ray_tasks.engines.messages import ChatError, Message, UnreachableError
from ray_tasks.engines.prompts import Prompt
from ray_tasks.engines.steps import as_data
from ray_tasks.extraction.llm.asking import PACKAGE, Asker
from ray_tasks.extraction.llm.fallback import Fallback
from ray_tasks.extraction.llm.faults import Fault, hard
from ray_tasks.extraction.llm.schemas import Parts, Summary
from ray_tasks.extraction.llm.sources import Shard, Source
from ray_tasks.extraction.llm.validate import check_activity, check_conversation
from ray_tasks.extraction.llm.wording import normalise
from ray_tasks.extraction.people import label_names
from ray_tasks.extraction.speech import analyse
from ray_tasks.extraction.words import distinct
from ray_tasks.rows import Caption, Line, View

MOST_PARTICIPANTS: Final = 6
"""Participants that a summary must name: more do not fit into twenty words with what they talk about."""

_COUPLED: Final = frozenset({"coupled"})


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence of a block and the people in it."""

    text: str
    people: tuple[str, ...]


class BlockWriter:
    """One block and all that is asked about it.

    Whatever is asked, only lines that end by the end of the block's last caption are shown: those of the block and
    those of the five minutes before it.
    """

    def __init__(self, shard: Shard, positions: Sequence[int], view: View, asker: Asker, fallback: Fallback) -> None:
        self._shard = shard
        self._positions = positions
        self._view = view
        self._asker = asker
        self._fallback = fallback
        self._captions: list[Caption] = [shard.captions[position] for position in positions]
        self._end_ms = max(caption.end_ms for caption in self._captions)
        self._lines = [line for caption in self._captions for line in caption.lines if line.text.strip()]
        self._context = shard.context(positions[0], self._end_ms)
        self._source: Source = shard.source((*self._context, *self._lines))
        self._participants = participants(self._lines) if view == "conversation" else ()

    async def write(self) -> list[Told]:
        """The sentences of the block: one, or several where it was taken apart; none where its lines hold no words."""
        texts = await self._texts() if self._lines else []
        return [Told(text, self._people(text)) for text in dict.fromkeys(texts)]

    async def _texts(self) -> list[str]:
        messages = self._question()
        try:
            summary, reply = await self._asker.ask(
                messages, Summary, f"extract-{self._view}", self._asker.parameters.sentence_tokens
            )
        except UnreachableError:
            raise
        except ChatError as error:
            return self._original(error.kind)
        drafts = await self._asker.correct(
            messages, reply.text, {0: self._clean(summary.summary)}, self._unless_coupled, self._clean
        )
        draft = drafts[0]
        faults = hard(self._check(0, draft.text))
        if {fault.rule for fault in faults} == _COUPLED:
            return await self._apart(draft.text)
        if faults:
            return self._original(f"rule_{faults[0].rule}")
        self._asker.notes.update(f"kept_{fault.rule}" for fault in draft.faults)
        return [draft.text]

    async def _apart(self, text: str) -> list[str]:
        """A coupled sentence as several; as it is where that fails, since it loses nothing."""
        messages = [
            Message("system", self._rules()),
            Message("user", Prompt.load(PACKAGE, "apart").fill(data=self._data(), summary=as_data(text))),
        ]
        self._asker.notes["disentangled"] += 1
        try:
            parts, reply = await self._asker.ask(
                messages, Parts, f"extract-apart-{self._view}", self._asker.parameters.sentence_tokens
            )
        except UnreachableError:
            raise
        except ChatError as error:
            self._asker.notes[f"kept_coupled_{error.kind}"] += 1
            return [text]
        texts = {number: self._clean(part) for number, part in enumerate(parts.summaries)}
        drafts = await self._asker.correct(messages, reply.text, texts, self._check_part, self._clean)
        kept = [draft.text for draft in drafts.values() if not draft.withdrawn]
        if not kept or any(hard(draft.faults) for draft in drafts.values() if not draft.withdrawn):
            self._asker.notes["kept_coupled_rule"] += 1
            return [text]
        return kept

    def _original(self, reason: str) -> list[str]:
        """The block in the rules' words."""
        self._asker.notes[f"fallback_{reason}"] += len(self._positions)
        text = self._fallback.summary(self._view, self._positions)
        return [text] if text.strip(" .") else []

    def _question(self) -> list[Message]:
        filled = Prompt.load(PACKAGE, "block_data").fill(data=self._data())
        return [Message("system", self._rules()), Message("user", filled)]

    def _rules(self) -> str:
        return Prompt.load(PACKAGE, f"{self._view}").text

    def _data(self) -> str:
        return Prompt.load(PACKAGE, "block").fill(
            wearer=as_data(self._shard.me),
            participants=as_data(["I" if name == self._shard.me else name for name in self._participants]),
            context=self._asker.context(self._context),
            captions=self._asker.numbered(self._captions),
        )

    def _clean(self, text: str) -> str:
        return normalise(text, self._shard.me)

    def _check(self, number: int, text: str) -> tuple[Fault, ...]:
        del number
        if self._view == "activity":
            return check_activity(text, self._source)
        return check_conversation(text, self._source, self._participants)

    def _check_part(self, number: int, text: str) -> tuple[Fault, ...]:
        """The faults of a part, in which not everybody need take part."""
        return tuple(fault for fault in self._check(number, text) if fault.rule != "missing_participant")

    def _unless_coupled(self, number: int, text: str) -> tuple[Fault, ...]:
        """The faults that are asked about again: coupling has a question of its own."""
        return tuple(fault for fault in self._check(number, text) if fault.rule not in _COUPLED)

    def _people(self, text: str) -> tuple[str, ...]:
        """Who is in the sentence, and who acts or speaks in the block."""
        told = self._shard.people(text, self._source, self._end_ms)
        lines = self._lines if self._view == "activity" else [one for one in self._lines if one.modality == "speech"]
        return distinct([*told, *self._shard.present(lines, self._end_ms)])


def participants(lines: Sequence[Line]) -> tuple[str, ...]:
    """Who says something with content or answers in some lines: those who say most, in order of appearance."""
    counts: Counter[str] = Counter()
    for line in lines:
        if line.modality == "speech":
            speech = analyse(line.text)
            if speech.has_content or speech.reply != "none":
                counts.update(label_names(line.speaker))
    most = {name for name, _ in counts.most_common(MOST_PARTICIPANTS)}
    return tuple(name for name in counts if name in most)

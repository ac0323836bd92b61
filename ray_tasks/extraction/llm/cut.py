"""Where the blocks of a window begin and end: a call that returns positions only, repeated while they break rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ray_tasks.engines.messages import ChatError, Message, UnreachableError
from ray_tasks.engines.prompts import Prompt
from ray_tasks.engines.steps import as_data
from ray_tasks.extraction.llm.asking import PACKAGE, Asker
from ray_tasks.extraction.llm.fallback import Fallback
from ray_tasks.extraction.llm.schemas import Group, Groups
from ray_tasks.extraction.llm.segments import Block, faults_of, has_talk, repaired
from ray_tasks.extraction.llm.sources import Shard
from ray_tasks.extraction.llm.summarise import participants
from ray_tasks.extraction.speech import analyse
from ray_tasks.rows import View

_PLAIN_TALK: Final = 6
_NO_GROUPS: Final = "no_groups: people talk with each other in these captions, but there is no group"


class WindowCutter:
    """One window in one view and all that is asked about its blocks."""

    def __init__(self, shard: Shard, positions: Sequence[int], view: View, asker: Asker, fallback: Fallback) -> None:
        self._shard = shard
        self._positions = positions
        self._view = view
        self._asker = asker
        self._fallback = fallback
        self._captions = [shard.captions[position] for position in positions]

    async def cut(self) -> list[Block]:
        """The blocks: the model's, put right; those of the rules where it fails or overlooks plain talk."""
        if self._view == "conversation" and not any(has_talk(caption) for caption in self._captions):
            return []
        if self._view == "activity" and len(self._captions) == 1:
            return [(0, 0)]
        groups = await self._groups()
        if not groups and self._holds_plain_talk():
            groups = self._by_rules("no_groups")
        return repaired(self._view, groups, self._captions, self._asker.notes)

    async def _groups(self) -> list[Group]:
        """The model's groups after the last question about them."""
        notes, parameters = self._asker.notes, self._asker.parameters
        talk = self._question()
        groups: list[Group] = []
        for again in range(parameters.reasks + 1):
            notes["reasked"] += again > 0
            try:
                found, reply = await self._asker.ask(talk, Groups, f"extract-cut-{self._view}", parameters.block_tokens)
            except UnreachableError:
                raise
            except ChatError as error:
                if not again:
                    return self._by_rules(error.kind)
                notes[f"reask_{error.kind}"] += 1
                break
            groups = found.groups
            faults = self._faults(groups)
            if not faults:
                break
            talk += [Message("assistant", reply.text), Message("user", _correction(faults))]
        return groups

    def _question(self) -> list[Message]:
        filled = Prompt.load(PACKAGE, "window_data").fill(
            wearer=as_data(self._shard.me),
            captions=self._asker.numbered(self._captions),
            last=len(self._captions) - 1,
        )
        return [Message("system", Prompt.load(PACKAGE, f"cut_{self._view}").text), Message("user", filled)]

    def _faults(self, groups: Sequence[Group]) -> list[str]:
        """What is wrong with groups, counted as `wrong_block_<rule>`."""
        faults = faults_of(self._view, groups, self._captions)
        if not groups and self._holds_plain_talk():
            faults.append(_NO_GROUPS)
        self._asker.notes.update(f"wrong_block_{fault.split(':')[0]}" for fault in faults)
        return faults

    def _holds_plain_talk(self) -> bool:
        """Whether two people say so much in the window that there must be a conversation in it."""
        if self._view == "activity":
            return False
        lines = [line for caption in self._captions for line in caption.lines if line.modality == "speech"]
        telling = sum(analyse(line.text).has_content for line in lines)
        return telling >= _PLAIN_TALK and len(participants(lines)) > 1

    def _by_rules(self, reason: str) -> list[Group]:
        self._asker.notes[f"fallback_{reason}"] += len(self._positions)
        blocks = self._fallback.blocks(self._view, self._positions)
        return [Group(first=first, last=last) for first, last in blocks]


def _correction(faults: Sequence[str]) -> str:
    wrong = "\n".join(as_data(fault.split(": ", 1)[1]) for fault in faults)
    return Prompt.load(PACKAGE, "cut_again").fill(wrong=wrong)
